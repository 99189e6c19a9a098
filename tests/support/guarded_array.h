// Device arrays between guard zones, everything filled with NaN.
#pragma once

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/device/device.h"

namespace tensormg::test
{
/// All bits of numbers and guard zones are set.
template <typename Number>
class GuardedArray
{
public:
  explicit GuardedArray(std::int64_t size)
    : size_(size)
    , memory_(size + 2 * guard)
  {
    device::fill_bytes(memory_.data(), 0xff, (size + 2 * guard) * sizeof(Number), nullptr);
  }
  explicit GuardedArray(const std::vector<Number> &values)
    : GuardedArray(static_cast<std::int64_t>(values.size()))
  {
    device::to_device(data(), values.data(), values.size() * sizeof(Number), nullptr);
  }
  Number *data() { return memory_.data() + guard; }

  /// The numbers; fails if a guard zone was written.
  std::vector<Number> get()
  {
    std::vector<Number> all(size_ + 2 * guard);
    memory_.copy_to_host(all.data());
    const std::vector<unsigned char> untouched(guard * sizeof(Number), 0xff);
    EXPECT_EQ(std::memcmp(all.data(), untouched.data(), untouched.size()), 0);
    EXPECT_EQ(std::memcmp(all.data() + guard + size_, untouched.data(), untouched.size()), 0);
    return {all.begin() + guard, all.begin() + guard + size_};
  }

private:
  static constexpr std::int64_t guard = 1024; ///< keeps the alignment of the numbers
  std::int64_t size_;
  DeviceArray<Number> memory_;
};
} // namespace tensormg::test
