// Exact solution on a box by global fast diagonalisation, in device memory.
#pragma once

#include <array>
#include <memory>

#include "kernels/device/blas.h"
#include "kernels/fast_diagonalisation/fast_diagonalisation.h"
#include "operators/constant/box_solver.h"
#include "operators/mesh/grid.h"
#include "operators/vectors/device_vector.h"

namespace tensormg
{
/// x = B^-1 b as BoxSolver, whose eigenvectors it takes, for vectors in device memory on one rank.
///
/// Blocks with few unknowns in every direction take three small kernels in Compute<Number>
/// (kernels/fast_diagonalisation/): the coarse solver of a multigrid hierarchy, made for latency. Others
/// take six matrix products of cuBLAS in double, without transposing a vector: with rows of x as stored,
/// x is one product, y one product per plane, z one product with long rows.
template <typename Number>
class DeviceBoxSolver
{
public:
  /// Arguments as for BoxSolver. The work is queued in `stream`, and so is that of the constructor.
  DeviceBoxSolver(
      const LevelGrid &level, const CellBasis &basis, const Problem &problem, Stream stream);

  /// x may be b.
  void solve(DeviceVector<Number> &x, const DeviceVector<Number> &b);

  /// Bytes of device memory that the solver holds, for a level of this many cells.
  static std::int64_t memory(const Block &whole);

private:
  using C = Compute<Number>;

  /// b -> x in double, by cuBLAS.
  void multiply_all(double *x, const double *b);

  Block block_;
  Stream stream_;
  fast_diagonalisation::Arguments<Number> small_; ///< tables and work of a small block
  std::array<DeviceArray<C>, 3> vectors_, transposed_, values_;
  DeviceArray<C> work_;

  // A large block.
  std::unique_ptr<DeviceBlas> blas_;
  std::array<DeviceArray<double>, 3> q_, lambda_;
  DeviceArray<double> t_, u_;
};

extern template class DeviceBoxSolver<double>;
extern template class DeviceBoxSolver<float>;
extern template class DeviceBoxSolver<Half>;
} // namespace tensormg
