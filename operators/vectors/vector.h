// A block vector in host memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "kernels/core/block.h"
#include "kernels/core/half.h"
#include "kernels/core/wide_float.h"

namespace tensormg
{
namespace detail
{
  /// Zeroed memory, aligned to a cache line; large arrays in huge pages, all of them present.
  void *allocate(std::size_t bytes);
  void release(void *memory, std::size_t bytes);
} // namespace detail

/// Owning, move-only array of Block::size() numbers, aligned to a cache line (large ones to
/// a huge page), in the storage order of Block. It is a container only: arithmetic is in VectorSpace.
template <typename Number>
class Vector
{
public:
  using value_type = Number;

  Vector() = default;
  /// Contents are zero.
  explicit Vector(const Block &block);

  const Block &block() const { return block_; }
  std::int64_t size() const { return size_; }
  Number *data() { return data_.get(); }
  const Number *data() const { return data_.get(); }
  Number &operator[](std::int64_t i) { return data_[static_cast<std::size_t>(i)]; }
  const Number &operator[](std::int64_t i) const { return data_[static_cast<std::size_t>(i)]; }
  void swap(Vector &other) noexcept
  {
    std::swap(block_, other.block_);
    std::swap(size_, other.size_);
    std::swap(data_, other.data_);
  }

private:
  struct Deleter
  {
    std::size_t bytes = 0;
    void operator()(Number *p) const { detail::release(p, bytes); }
  };

  Block block_{};
  std::int64_t size_ = 0;
  std::unique_ptr<Number[], Deleter> data_;
};

extern template class Vector<double>;
extern template class Vector<float>;
extern template class Vector<Half>;
extern template class Vector<WideFloat>;
} // namespace tensormg
