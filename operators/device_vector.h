// A block vector in device memory.
#pragma once

#include <cstdint>
#include <utility>

#include "kernels/core/block.h"
#include "kernels/core/device.h"
#include "operators/vector.h"

namespace tensormg
{
/// Owning, move-only array of Block::size() numbers in device memory, in the storage order of Block. As
/// Vector a container only: arithmetic is in DeviceVectorSpace.
template <typename Number>
class DeviceVector
{
public:
  using value_type = Number;

  DeviceVector() = default;
  /// Contents are zero, written in `stream`.
  DeviceVector(const Block &block, Stream stream)
    : block_(block)
    , data_(block.size(), stream)
  {}

  const Block &block() const { return block_; }
  std::int64_t size() const { return data_.size(); }
  Number *data() { return data_.data(); }
  const Number *data() const { return data_.data(); }
  void swap(DeviceVector &other) noexcept
  {
    std::swap(block_, other.block_);
    std::swap(data_, other.data_);
  }

private:
  Block block_{};
  DeviceArray<Number> data_;
};

/// Both wait until the numbers are there.
template <typename Number>
void copy_to_device(const Vector<Number> &from, DeviceVector<Number> &to, Stream stream)
{
  device::to_device(
      to.data(), from.data(), static_cast<std::size_t>(from.size()) * sizeof(Number), stream);
  device::synchronize(stream);
}
template <typename Number>
void copy_to_host(const DeviceVector<Number> &from, Vector<Number> &to, Stream stream)
{
  device::to_host(
      to.data(), from.data(), static_cast<std::size_t>(from.size()) * sizeof(Number), stream);
  device::synchronize(stream);
}
} // namespace tensormg
