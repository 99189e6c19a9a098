#include "operators/constant/box_solver.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include "operators/constant/line_operator.h"

extern "C" void dgemm_(const char *transa, const char *transb, const int *m, const int *n,
    const int *k, const double *alpha, const double *a, const int *lda, const double *b,
    const int *ldb, const double *beta, double *c, const int *ldc);

namespace tensormg
{
namespace
{
  /// Row-major C (m x n) = op(A) (m x k) B (k x n); lda is the row length of A as stored.
  void multiply(bool transpose_a, std::int64_t m, std::int64_t n, std::int64_t k, const double *a,
      std::int64_t lda, const double *b, std::int64_t ldb, double *c, std::int64_t ldc)
  {
    const int mi = static_cast<int>(m), ni = static_cast<int>(n), ki = static_cast<int>(k);
    const int la = static_cast<int>(lda), lb = static_cast<int>(ldb), lc = static_cast<int>(ldc);
    const double one = 1., zero = 0.;
    // Column-major BLAS sees the transposes: C' = B' op(A)'.
    dgemm_("N", transpose_a ? "T" : "N", &ni, &mi, &ki, &one, b, &lb, a, &la, &zero, c, &lc);
  }

  std::int64_t length(const Block &block, int d)
  {
    return d == 2 && block.dim == 2 ? 1 : block.cells[d] * block.n;
  }

  /// Divides by the sum of the eigenvalues of all directions; where that is zero the result is zero.
  void divide_by_sums(const std::array<std::vector<double>, 3> &eigenvalues, double *t)
  {
    for (const double of_z : eigenvalues[2])
      for (const double of_y : eigenvalues[1])
        for (const double of_x : eigenvalues[0])
        {
          const double value = of_z + of_y + of_x;
          *t = value == 0. ? 0. : *t / value;
          ++t;
        }
  }
} // namespace

std::int64_t BoxSolver::memory(const Block &whole)
{
  std::int64_t numbers = 2 * whole.size();
  for (int d = 0; d < whole.dim; ++d)
    numbers += length(whole, d) * (d == 0 ? whole.row() : length(whole, d));
  return numbers * static_cast<std::int64_t>(sizeof(double));
}

BoxSolver::BoxSolver(const LevelGrid &level, const CellBasis &basis, const Problem &problem)
  : level_(level)
  , whole_(level.block.dim, level.block.degree(), level.global_cells)
{
  const auto factors = level.direction_factors();
  const int n = basis.n;
  std::vector<double> vectors, values; // of the direction before
  for (int d = 0; d < whole_.dim; ++d)
  {
    const std::int64_t size = length(whole_, d);
    if (size > 16384)
      throw std::length_error("direct solver: " + std::to_string(size) +
          " unknowns in one direction; at most 16384 (the dense eigenproblem would take hours)");
    const BoundaryKind lower = problem.boundary[2 * d], upper = problem.boundary[2 * d + 1];
    // Directions that are alike share the work: diagonalising takes the time, O(size^3).
    if (d == 0 || size != length(whole_, d - 1) || lower != problem.boundary[2 * d - 2] ||
        upper != problem.boundary[2 * d - 1])
    {
      vectors = line_operator(basis, whole_.cells[d], lower, upper);
      values = diagonalise(vectors, is_free(lower) && is_free(upper));
    }
    eigenvalues_[d] = values;
    for (double &value : eigenvalues_[d])
      value *= factors[d];
    const std::int64_t rows = d == 0 ? whole_.row() : size;
    q_[d].assign(rows * size, 0.);
    for (std::int64_t c = 0; c < whole_.cells[d]; ++c)
      for (int i = 0; i < n; ++i)
      {
        const std::int64_t to = d == 0 ? i * whole_.pitch + c : c * n + i;
        for (std::int64_t e = 0; e < size; ++e)
          q_[d][to * size + e] = vectors[e * size + c * n + i];
      }
  }
  if (whole_.dim == 2)
    eigenvalues_[2] = {0.};
}

template <typename Number>
void BoxSolver::solve(Vector<Number> &x, const Vector<Number> &b)
{
  using C = Compute<Number>;
  const std::int64_t nx = length(whole_, 0), ny = length(whole_, 1), nz = length(whole_, 2);
  const std::int64_t row = whole_.row(), rows = ny * nz;
  u_.assign(whole_.size(), 0.);
  t_.resize(whole_.size());
  const Block &local = level_.block;
  const std::int64_t first_row = level_.offset[1] * local.n,
                     first_plane = level_.offset[2] * local.nz();
  const auto for_each_local_row = [&](auto &&f) {
    for (std::int64_t z = 0; z < local.planes(); ++z)
      for (std::int64_t y = 0; y < local.rows_per_plane(); ++y)
        f((z * local.rows_per_plane() + y) * row, ((first_plane + z) * ny + first_row + y) * row);
  };
  for_each_local_row([&](std::int64_t from, std::int64_t to) {
    for (std::int64_t at = 0; at < row; ++at)
      u_[to + at] = static_cast<C>(b[from + at]);
  });
  if (level_.communicator != MPI_COMM_SELF)
    for (std::int64_t z = 0; z < nz; ++z) // by planes: MPI counts are 32-bit
      MPI_Allreduce(MPI_IN_PLACE, u_.data() + z * ny * row, static_cast<int>(ny * row), MPI_DOUBLE,
          MPI_SUM, level_.communicator);

  // Into the eigenbasis: x (rows become nx long), y plane by plane, z for all at once.
  for (std::int64_t z = 0; z < nz; ++z)
    multiply(false, ny, nx, row, u_.data() + z * ny * row, row, q_[0].data(), nx,
        t_.data() + z * ny * nx, nx);
  for (std::int64_t z = 0; z < nz; ++z)
    multiply(true, ny, nx, ny, q_[1].data(), ny, t_.data() + z * ny * nx, nx,
        u_.data() + z * ny * nx, nx);
  // Strips of y keep the 32-bit leading dimensions of BLAS small.
  const auto along_z = [&](bool transpose, const double *from, double *to) {
    if (whole_.dim == 2)
      std::copy(from, from + ny * nx, to);
    else
      for (std::int64_t y = 0; y < ny; ++y)
        multiply(
            transpose, nz, nx, nz, q_[2].data(), nz, from + y * nx, ny * nx, to + y * nx, ny * nx);
  };
  along_z(true, u_.data(), t_.data());
  divide_by_sums(eigenvalues_, t_.data());
  along_z(false, t_.data(), u_.data());
  for (std::int64_t z = 0; z < nz; ++z)
    multiply(false, ny, nx, ny, q_[1].data(), ny, u_.data() + z * ny * nx, nx,
        t_.data() + z * ny * nx, nx);
  // Back to padded rows: (rows x nx) (row x nx)'.
  for (std::int64_t r = 0; r < rows; r += ny)
  {
    const int m = static_cast<int>(row), n = static_cast<int>(ny), k = static_cast<int>(nx);
    const double one = 1., zero = 0.;
    dgemm_("T", "N", &m, &n, &k, &one, q_[0].data(), &k, t_.data() + r * nx, &k, &zero,
        u_.data() + r * row, &m);
  }
  for_each_local_row([&](std::int64_t to, std::int64_t from) {
    for (std::int64_t at = 0; at < row; ++at)
      x[to + at] = Number(static_cast<C>(u_[from + at]));
  });
}

template void BoxSolver::solve(Vector<double> &, const Vector<double> &);
template void BoxSolver::solve(Vector<float> &, const Vector<float> &);
template void BoxSolver::solve(Vector<Half> &, const Vector<Half> &);
} // namespace tensormg
