#include "operators/multigrid/device_dense_inverse.h"

#include <utility>
#include <vector>

#include "kernels/vector/cuda.h"
#include "operators/cellwise/cholesky.h"
#include "operators/cellwise/dense_level.h"

namespace tensormg
{
DeviceDenseInverse::DeviceDenseInverse(const LevelGrid &level, const CellBasis &basis,
    const Product &product, bool is_singular, Stream stream)
  : stream_(stream)
{
  DenseLevel dense(level, basis, product, is_singular);
  std::vector<double> inverse =
      Cholesky(std::move(dense.matrix), "the matrix of the coarsest level").inverse();
  const std::size_t size = dense.places.size();
  for (std::size_t j = 0; j < size && !dense.constant.empty(); ++j)
    for (std::size_t i = 0; i < size; ++i)
      inverse[j * size + i] -= dense.constant[i] * dense.constant[j] / dense.shift;
  inverse_ = DeviceArray<double>(static_cast<std::int64_t>(size * size), Unset());
  places_ = DeviceArray<std::int64_t>(static_cast<std::int64_t>(size), Unset());
  inverse_.copy_from_host(inverse.data(), stream);
  places_.copy_from_host(dense.places.data(), stream);
  device::synchronize(stream); // what lies on the host goes
}

template <typename Number>
void DeviceDenseInverse::multiply(const Number *b, Number *x) const
{
  vector_kernels::cuda::dense_product(
      places_.size(), inverse_.data(), places_.data(), b, x, stream_);
}

std::int64_t DeviceDenseInverse::bytes(const LevelGrid &level)
{
  const std::int64_t dofs = level.block.dofs();
  return dofs * (dofs + 1) * std::int64_t{sizeof(double)};
}

template void DeviceDenseInverse::multiply(const double *, double *) const;
template void DeviceDenseInverse::multiply(const float *, float *) const;
template void DeviceDenseInverse::multiply(const Half *, Half *) const;
} // namespace tensormg
