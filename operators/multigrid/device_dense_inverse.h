// The coarsest level in device memory where it has few unknowns.
#pragma once

#include <cstdint>
#include <functional>

#include "kernels/basis/cell_basis.h"
#include "kernels/device/device.h"
#include "operators/mesh/grid.h"
#include "operators/vectors/vector.h"

namespace tensormg
{
/// x = B^-1 b by the inverse of the dense matrix, which is the pseudo-inverse where constants are in the kernel. Can be recorded.
class DeviceDenseInverse
{
public:
  /// y = B x in host memory
  using Product = std::function<void(Vector<double> &y, const Vector<double> &x)>;

  /// DenseLevel::suits(level). Throws std::runtime_error if the matrix is not positive definite.
  DeviceDenseInverse(const LevelGrid &level, const CellBasis &basis, const Product &product,
      bool is_singular, Stream stream);

  /// Of vectors of the level, in device memory.
  template <typename Number>
  void multiply(const Number *b, Number *x) const;

  static std::int64_t bytes(const LevelGrid &level);

private:
  DeviceArray<double> inverse_;
  DeviceArray<std::int64_t> places_;
  Stream stream_;
};
} // namespace tensormg
