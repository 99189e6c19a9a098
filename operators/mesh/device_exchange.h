// Messages between neighbouring ranks whose numbers lie in device memory.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "kernels/device/device.h"
#include "operators/mesh/grid.h"

namespace tensormg
{
/// One message per side of the block behind which another rank is, through memory of the host; all buffers are made once. Not reentrant.
template <typename T>
class DeviceExchange
{
public:
  /// `sizes`: numbers of the message at each side that is_remote(); of the others nothing is taken. `level` must outlive the object.
  DeviceExchange(const LevelGrid &level, const std::array<std::int64_t, 6> &sizes, Stream stream);
  // Requests point into the buffers.
  DeviceExchange(const DeviceExchange &) = delete;
  DeviceExchange &operator=(const DeviceExchange &) = delete;

  bool is_remote(int side) const { return sides_[static_cast<std::size_t>(side)] != nullptr; }
  bool has_neighbours() const;
  /// Of remote sides, in device memory.
  T *send(int side) { return sides_[static_cast<std::size_t>(side)]->send.data(); }
  T *receive(int side) { return sides_[static_cast<std::size_t>(side)]->receive.data(); }

  /// Sends what the work queued so far leaves in send(). Collective over the neighbours, as finish().
  void start();
  /// Work that is queued from here on finds in receive() what the neighbours have sent.
  void finish();

private:
  struct SideMessage
  {
    SideMessage(std::int64_t size, Stream stream)
      : send(size, stream)
      , receive(size, stream)
      , to_send(size)
      , received(size)
    {}
    std::size_t bytes() const { return static_cast<std::size_t>(send.size()) * sizeof(T); }

    DeviceArray<T> send, receive;
    PinnedArray<T> to_send, received;
  };
  /// use(side, its message) for the remote sides
  template <typename Use>
  void for_remote_sides(const Use &use)
  {
    for (int s = 0; s < 6; ++s)
      if (is_remote(s))
        use(s, *sides_[static_cast<std::size_t>(s)]);
  }

  const LevelGrid &level_;
  Stream stream_;
  std::array<std::unique_ptr<SideMessage>, 6> sides_;
  std::array<MPI_Request, 12> requests_{};
  int n_requests_ = 0;
};

extern template class DeviceExchange<double>;
extern template class DeviceExchange<float>;
} // namespace tensormg
