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

/// x() = about A^-1 b() with A of the finest level. All work is queued in the stream and can be recorded.
class DeviceVertexMultigrid
{
public:
  DeviceVertexMultigrid(const VertexHierarchy &from, Stream stream);

  /// One number for each unknown; what lies behind is zero.
  double *b() { return levels_.front().b.data(); }
  const double *x() const
  {
    return solution_.size() > 0 ? solution_.data() : levels_.front().x.data();
  }
  /// One V-cycle or, after require_accuracy(), as many steps of conjugate gradients with it as that found; b() is lost.
  void solve();
  /// That solve() moves.
  double bytes() const;
  /// From here on solve() reduces the error to about `accuracy`, as measured here for some right-hand side.
  void require_accuracy(double accuracy);

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
  std::int64_t size() const { return levels_.front().b.size(); }

  Stream stream_;
  std::vector<Level> levels_;
  DeviceArray<double> inverse_; ///< of the coarsest level
  DeviceArray<std::int64_t> places_;
  int n_iterations_ = 0; ///< of conjugate gradients; 0: a cycle instead
  DeviceArray<double> solution_, direction_, product_, sums_, scratch_;
};
} // namespace tensormg
