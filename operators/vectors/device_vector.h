// A block vector in device memory.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "kernels/core/block.h"
#include "kernels/device/device.h"
#include "kernels/device/device_reservation.h"
#include "operators/vectors/vector.h"

namespace tensormg
{
/// Owning, move-only array of Block::size() numbers in device memory, in the storage order of Block. As
/// Vector a container only: arithmetic is in DeviceVectorSpace. There is room for the largest magnitude beside
/// the numbers, where those who form it in passing leave it.
template <typename Number>
class DeviceVector
{
  /// Numbers behind the block, the bytes of a double, for vectors of the outer method.
  template <typename T>
  static constexpr std::int64_t room = std::is_same_v<T, double> ? 1
      : std::is_same_v<T, WideFloat>                             ? 2
                                                                 : 0;

public:
  using value_type = Number;

  DeviceVector() = default;
  /// Contents are zero, written in `stream`.
  DeviceVector(const Block &block, Stream stream)
    : block_(block)
    , data_(block.size() + room<Number>, stream)
  {}

  /// Padding is zero, all else undefined.
  DeviceVector(const Block &block, Stream stream, Unset unset)
    : block_(block)
    , data_(block.size() == block.dofs() ? DeviceArray<Number>(block.size() + room<Number>, unset)
                                         : DeviceArray<Number>(block.size() + room<Number>, stream))
  {}

  /// What a vector takes of a DeviceReservation.
  static std::int64_t reserved_bytes(const Block &block)
  {
    return DeviceReservation::room_of((block.size() + room<Number>)*sizeof(Number));
  }

  const Block &block() const { return block_; }
  std::int64_t size() const { return data_.size() > 0 ? data_.size() - room<Number> : 0; }
  /// What passes over memory when the vector is read or written once; without padding.
  double bytes() const { return static_cast<double>(block_.dofs()) * sizeof(Number); }
  /// Whoever takes this may write: the largest magnitude is unknown then.
  Number *data()
  {
    knows_largest_ = false;
    return data_.data();
  }
  const Number *data() const { return data_.data(); }

  /// max |x_i| in device memory, or nullptr if it is not known.
  const double *largest() const requires(room<Number> > 0)
  {
    return knows_largest_ ? reinterpret_cast<const double *>(data_.data() + size()) : nullptr;
  }
  /// Where the work that is queued leaves it; to be called after data().
  double *largest_to_come() requires(room<Number> > 0)
  {
    knows_largest_ = true;
    return reinterpret_cast<double *>(data_.data() + size());
  }
  void swap(DeviceVector &other) noexcept
  {
    std::swap(block_, other.block_);
    std::swap(knows_largest_, other.knows_largest_);
    std::swap(data_, other.data_);
  }

private:
  Block block_{};
  DeviceArray<Number> data_;
  bool knows_largest_ = false;
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

/// copy(position in the part, position in the whole, count) for what is contiguous in both, where the part begins with the given cells in y
/// and z and has all cells in x.
template <typename Copy>
void for_pieces_of_part(const Block &whole, const std::array<std::int64_t, 3> &begin,
    const Block &part, const Copy &copy)
{
  const std::int64_t first = whole.index(0, begin[1], begin[2], 0, 0, 0);
  const bool is_contiguous = part.plane() == whole.plane();
  const std::int64_t copies = is_contiguous ? 1 : part.planes(), size = part.size() / copies;
  for (std::int64_t i = 0; i < copies; ++i)
    copy(i * size, first + i * whole.plane(), size);
}

/// to = the part of `from` that begins with the given cells in y and z; in x both have the same cells. Waits.
template <typename Number>
void copy_part_to_host(const DeviceVector<Number> &from, const std::array<std::int64_t, 3> &begin,
    Vector<Number> &to, Stream stream)
{
  for_pieces_of_part(from.block(), begin, to.block(),
      [&](std::int64_t part, std::int64_t whole, std::int64_t count) {
        device::to_host(to.data() + part, from.data() + whole,
            static_cast<std::size_t>(count) * sizeof(Number), stream);
      });
  device::synchronize(stream);
}
} // namespace tensormg
