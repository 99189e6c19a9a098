// A block vector in host memory.
#pragma once

#include <cstdint>
#include <utility>

#include "kernels/core/array.h"
#include "kernels/core/block.h"
#include "kernels/core/half.h"
#include "kernels/core/wide_float.h"

namespace tensormg
{
/// Owning, move-only array of Block::size() numbers, aligned to a cache line (large ones to
/// a huge page), in the storage order of Block. It is a container only: arithmetic is in VectorSpace.
template <typename Number>
class Vector
{
public:
  using value_type = Number;

  Vector() = default;
  /// Contents are zero.
  explicit Vector(const Block &block)
    : block_(block)
    , numbers_(block.size())
  {}

  const Block &block() const { return block_; }
  std::int64_t size() const { return numbers_.size(); }
  /// What passes over memory when the vector is read or written once; without padding.
  double bytes() const { return static_cast<double>(block_.dofs()) * sizeof(Number); }
  Number *data() { return numbers_.data(); }
  const Number *data() const { return numbers_.data(); }
  Number &operator[](std::int64_t i) { return numbers_[i]; }
  const Number &operator[](std::int64_t i) const { return numbers_[i]; }
  void swap(Vector &other) noexcept
  {
    std::swap(block_, other.block_);
    numbers_.swap(other.numbers_);
  }

private:
  Block block_{};
  Array<Number> numbers_;
};

extern template class Vector<double>;
extern template class Vector<float>;
extern template class Vector<Half>;
extern template class Vector<WideFloat>;
} // namespace tensormg
