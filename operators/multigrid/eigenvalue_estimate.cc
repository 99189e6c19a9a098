#include "operators/multigrid/eigenvalue_estimate.h"

#include <cmath>
#include <vector>

#include "kernels/vector/vector.h"
#include "operators/vectors/vector_space.h"

extern "C" void dsterf_(const int *n, double *d, double *e, int *info);

namespace tensormg
{
Vector<double> pseudo_random_vector(const LevelGrid &level)
{
  const Block &block = level.block;
  Vector<double> v(block);
  const std::int64_t rows = level.global_cells[1] * block.n;
  for (std::int64_t z = 0; z < block.planes(); ++z)
    for (std::int64_t y = 0; y < block.rows_per_plane(); ++y)
      for (int i = 0; i < block.n; ++i)
        for (std::int64_t cx = 0; cx < block.cells[0]; ++cx)
        {
          const std::int64_t line =
              (level.offset[2] * block.nz() + z) * rows + level.offset[1] * block.n + y;
          v[z * block.plane() + y * block.row() + i * block.pitch + cx] =
              vector_kernels::pseudo_random(
                  static_cast<std::uint64_t>((line * block.n + i) * block.cells[0] + cx));
        }
  return v;
}

double largest_eigenvalue(std::vector<double> diagonal, std::vector<double> off_diagonal)
{
  const int n = static_cast<int>(diagonal.size());
  off_diagonal.resize(diagonal.size());
  int info = 0;
  dsterf_(&n, diagonal.data(), off_diagonal.data(), &info);
  if (info != 0 || !std::isfinite(diagonal.back()))
    throw EigenvalueError("the eigenvalue estimate of the smoother failed");
  return diagonal.back();
}

double estimate_lambda_max(LaplaceOperator<double> &op, int steps)
{
  const LevelGrid &level = op.level();
  return lanczos_lambda_max(op, VectorSpace(level), pseudo_random_vector(level), steps);
}
} // namespace tensormg
