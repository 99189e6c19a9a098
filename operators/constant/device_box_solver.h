// Exact solution on a box by global fast diagonalisation, in device memory.
#pragma once

#include <array>
#include <memory>

#include "kernels/device/blas.h"
#include "kernels/fast_diagonalisation/fast_diagonalisation.h"
#include "operators/constant/box_solver.h"
#include "operators/constant/device_transposition.h"
#include "operators/mesh/grid.h"
#include "operators/vectors/context.h"
#include "operators/vectors/device_vector.h"

namespace tensormg
{
/// x = B^-1 b as BoxSolver, whose eigenvectors it takes, for vectors in device memory, on one rank or on several among which the level is
/// divided in z alone: each makes the products in x and y of its planes and those in z of its share of the rows.
///
/// Blocks of one rank with few unknowns in every direction take three small kernels in Compute<Number>
/// (kernels/fast_diagonalisation/): the coarse solver of a multigrid hierarchy, made for latency. Others
/// take six matrix products of cuBLAS in double, without transposing a vector: with rows of x as stored,
/// x is one product, y one product per plane, z one product with long rows.
template <typename Number>
class DeviceBoxSolver
{
public:
  /// Arguments as for BoxSolver. The work is queued in the stream of the context, and so is that of the constructor.
  DeviceBoxSolver(const LevelGrid &level, const CellBasis &basis, const Problem &problem,
      const DeviceContext &context);

  /// x may be b.
  void solve(DeviceVector<Number> &x, const DeviceVector<Number> &b);

  /// Bytes of device memory that the solver holds on this rank.
  static std::int64_t memory(const LevelGrid &level);

private:
  using C = Compute<Number>;

  /// b -> x in double, by cuBLAS.
  void multiply_all(double *x, const double *b);
  void multiply_x(bool back, const double *from, double *to) const;
  void multiply_y(bool back, const double *from, double *to) const;
  /// Of so many rows.
  void multiply_z(bool back, std::int64_t rows, const double *from, double *to) const;
  /// By the sums of eigenvalues, of rows `first` and on.
  void divide(std::int64_t first, std::int64_t rows, double *u) const;
  std::int64_t planes() const { return fast_diagonalisation::length(block_, 2); }

  Block block_;
  std::int64_t all_planes_; ///< of all ranks
  Stream stream_;
  fast_diagonalisation::Arguments<Number> small_; ///< tables and work of a small block
  std::array<DeviceArray<C>, 3> vectors_, transposed_, values_;
  DeviceArray<C> work_;

  // A large block.
  std::unique_ptr<DeviceBlas> blas_;
  std::array<DeviceArray<double>, 3> q_, lambda_;
  DeviceArray<double> t_, u_;
  // Over ranks.
  std::unique_ptr<DeviceTransposition> transposition_;
  DeviceArray<double> rows_, products_;
};

extern template class DeviceBoxSolver<double>;
extern template class DeviceBoxSolver<float>;
extern template class DeviceBoxSolver<Half>;
} // namespace tensormg
