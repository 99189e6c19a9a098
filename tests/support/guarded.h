// Vectors in device memory between guard zones of NaN, for tests: what a kernel leaves unwritten or writes
// beyond the end shows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/device/device.h"
#include "operators/vectors/vector.h"

namespace tensormg::test
{
template <typename Number>
class Guarded
{
public:
  /// Everything NaN.
  explicit Guarded(std::int64_t size)
    : host_(static_cast<std::size_t>(size + 2 * guard))
    , device_(size + 2 * guard)
  {
    device::synchronize(nullptr);
    poison();
  }
  Guarded(const Number *from, std::int64_t size)
    : Guarded(size)
  {
    write(from);
  }
  explicit Guarded(const Vector<Number> &from)
    : Guarded(from.data(), from.size())
  {}

  Number *data() { return device_.data() + guard; }
  std::int64_t size() const { return device_.size() - 2 * guard; }

  void poison()
  {
    std::memset(static_cast<void *>(host_.data()), 0xff, host_.size() * sizeof(Number));
    upload();
  }
  void write(const Number *from)
  {
    std::copy_n(from, size(), host_.data() + guard);
    upload();
  }

  /// Waits for the stream and copies the vector; false if a guard zone has changed.
  bool read(Number *to, Stream stream)
  {
    device::synchronize(stream);
    device_.copy_to_host(host_.data());
    std::copy_n(host_.data() + guard, size(), to);
    const std::vector<unsigned char> untouched(guard * sizeof(Number), 0xff);
    return std::memcmp(untouched.data(), host_.data(), untouched.size()) == 0 &&
        std::memcmp(untouched.data(), host_.data() + guard + size(), untouched.size()) == 0;
  }

private:
  /// Numbers on either side; keeps the alignment.
  static constexpr std::int64_t guard = 512;

  void upload()
  {
    device_.copy_from_host(host_.data());
    device::synchronize(nullptr);
  }

  std::vector<Number> host_;
  DeviceArray<Number> device_;
};

/// The same numbers, bit by bit.
template <typename Number>
bool same_bits(const Vector<Number> &a, const Vector<Number> &b)
{
  return a.size() == b.size() &&
      std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(Number)) == 0;
}
} // namespace tensormg::test
