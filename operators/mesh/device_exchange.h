// Messages between neighbouring ranks whose numbers lie in device memory.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/device/device.h"
#include "operators/mesh/device_messages.h"
#include "operators/mesh/grid.h"

namespace tensormg
{
/// One message per side of the block behind which another rank is; all buffers are made once. Not reentrant.
template <typename T>
class DeviceExchange
{
public:
  /// `sizes`: numbers of the message at each side that is_remote(); of the others nothing is taken.
  /// `links`: of the level's communicator. `in_background`: work that is queued between start() and finish() does not wait
  /// for the messages.
  DeviceExchange(const LevelGrid &level, const std::array<std::int64_t, 6> &sizes, Stream stream,
      const DeviceLinks &links = {}, bool in_background = false);

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
    {}
    std::size_t bytes() const { return static_cast<std::size_t>(send.size()) * sizeof(T); }

    DeviceArray<T> send, receive;
  };
  Stream stream_;
  std::array<std::unique_ptr<SideMessage>, 6> sides_;
  std::vector<DeviceSend> sends_;
  std::vector<DeviceReceive> receives_;
  DeviceMessages messages_;
  std::unique_ptr<OwnedEvent> packed_, received_; ///< of messages in the background
};

extern template class DeviceExchange<double>;
extern template class DeviceExchange<float>;
} // namespace tensormg
