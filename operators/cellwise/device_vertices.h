// Multigrid on vertices in device memory.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/device/device.h"
#include "kernels/sparse/sparse.h"
#include "operators/cellwise/vertex_hierarchy.h"
#include "solvers/chebyshev.h"

namespace tensormg
{
/// A SparseRows in the storage order of kernels/sparse/sparse.h.
class DeviceSparseMatrix
{
public:
  DeviceSparseMatrix() = default;
  DeviceSparseMatrix(const SparseRows &from, Stream stream);
  const sparse::Matrix &view() const { return view_; }
  double bytes() const { return 12. * static_cast<double>(values_.size()); }

private:
  DeviceArray<std::int64_t> begin_;
  DeviceArray<std::int32_t> columns_;
  DeviceArray<double> values_;
  sparse::Matrix view_;
};

/// x() = A^-1 b() to vertex_accuracy, with A of the finest level, by as many steps of conjugate gradients with a V-cycle as some right-hand
/// side takes here first. All work is queued in the stream and can be recorded.
class DeviceVertexMultigrid
{
public:
  /// is_singular: constants are in the kernel of A, or nearly; x has no mean then, and that of b is of no interest.
  DeviceVertexMultigrid(const VertexHierarchy &from, bool is_singular, Stream stream);

  /// One number for each unknown; what lies behind is zero.
  double *b() { return levels_.front().b.data(); }
  const double *x() const { return solution_.data(); }
  /// b() is lost.
  void solve();
  /// That solve() moves.
  double bytes() const;
  int n_iterations() const { return n_iterations_; }

private:
  struct Level
  {
    DeviceSparseMatrix matrix, prolongation, restriction;
    DeviceArray<double> inverse_diagonal, x, b, work;
    std::vector<ThreeTermStep> steps;
  };

  void cycle(std::size_t l);
  void smooth(Level &level, bool zero_start);
  /// Step number `step` of conjugate gradients.
  void iterate(int step);
  void start();
  void count_iterations();
  void subtract_mean(double *x);
  std::int64_t size() const { return levels_.front().b.size(); }

  Stream stream_;
  std::vector<Level> levels_;
  DeviceArray<double> inverse_; ///< of the coarsest level
  DeviceArray<std::int64_t> places_;
  int n_iterations_ = 0; ///< of conjugate gradients
  bool is_singular_;
  DeviceArray<double> solution_, direction_, product_, sums_, scratch_;
  DeviceArray<double> ones_; ///< where constants are in the kernel
};
} // namespace tensormg
