// One allocation for many arrays in device memory.
#pragma once

#include <cstdint>
#include <memory>

namespace tensormg
{
/// While an object lives, the arrays that its thread allocates are parts of one allocation, as long as there is room. An
/// allocation takes the driver 50 microseconds, and longer while another thread loads kernels; to give one back waits
/// for all work of the device. Arrays below `smallest` are never parts: they share pages of the driver, which is fast.
///
/// The memory is given back with the last of the arrays, which may outlive the object, not by parts: nobody has to know
/// which work still uses one. If so much is not to be had at once, and inside of another object that has room, it does
/// nothing.
class DeviceReservation
{
public:
  static constexpr std::int64_t smallest = std::int64_t(1) << 16;
  /// Where arrays begin.
  static constexpr std::int64_t alignment = 512;

  explicit DeviceReservation(std::int64_t bytes);
  DeviceReservation(const DeviceReservation &) = delete;
  DeviceReservation &operator=(const DeviceReservation &) = delete;

  /// What an array of so many bytes takes of it.
  static constexpr std::int64_t room_of(std::int64_t bytes)
  {
    return bytes < smallest ? 0 : (bytes + alignment - 1) / alignment * alignment;
  }

private:
  std::shared_ptr<void> open_; ///< calls what ends the reservation
};
} // namespace tensormg
