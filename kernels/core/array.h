// A flat array in host memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "kernels/core/host_memory.h"

namespace tensormg
{
/// Owning, move-only, zero-initialised array of plain numbers; aligned to a cache line.
template <typename T>
class Array
{
  static_assert(std::is_trivially_copyable_v<T>);

public:
  Array() = default;
  explicit Array(std::int64_t size)
    : size_(size)
    , data_(static_cast<T *>(host_memory::allocate(bytes_of(size))), Deleter{bytes_of(size)})
  {}
  Array(Array &&other) noexcept { swap(other); }
  Array &operator=(Array &&other) noexcept
  {
    Array(std::move(other)).swap(*this);
    return *this;
  }

  std::int64_t size() const { return size_; }
  T *data() { return data_.get(); }
  const T *data() const { return data_.get(); }
  T *begin() { return data(); }
  T *end() { return data() + size_; }
  const T *begin() const { return data(); }
  const T *end() const { return data() + size_; }
  T &operator[](std::int64_t i) { return data_[static_cast<std::size_t>(i)]; }
  const T &operator[](std::int64_t i) const { return data_[static_cast<std::size_t>(i)]; }
  void swap(Array &other) noexcept
  {
    std::swap(size_, other.size_);
    std::swap(data_, other.data_);
  }

private:
  struct Deleter
  {
    std::size_t bytes = 0;
    void operator()(T *p) const { host_memory::release(p, bytes); }
  };
  static std::size_t bytes_of(std::int64_t size)
  {
    return static_cast<std::size_t>(size) * sizeof(T);
  }

  std::int64_t size_ = 0;
  std::unique_ptr<T[], Deleter> data_;
};
} // namespace tensormg
