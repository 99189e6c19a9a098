// Messages between neighbouring ranks whose numbers lie in device memory.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/device/device.h"
#include "operators/mesh/grid.h"
#include "operators/mesh/nccl_ranks.h"

namespace tensormg
{
/// One message per side of the block behind which another rank is: by NCCL in the stream, where there is such, otherwise through memory of
/// the host; all buffers are made once. Not reentrant.
template <typename T>
class DeviceExchange
{
public:
  /// `sizes`: numbers of the message at each side that is_remote(); of the others nothing is taken. `level` must outlive the object.
  /// `ranks`: of the level's communicator, or nullptr. `in_background`: work that is queued between start() and finish() does not wait
  /// for the messages.
  DeviceExchange(const LevelGrid &level, const std::array<std::int64_t, 6> &sizes, Stream stream,
      std::shared_ptr<const NcclRanks> ranks = nullptr, bool in_background = false);
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
    SideMessage(std::int64_t size, Stream stream, bool through_host)
      : send(size, stream)
      , receive(size, stream)
      , to_send(through_host ? size : 0)
      , received(through_host ? size : 0)
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
  std::shared_ptr<const NcclRanks> ranks_;
  std::array<std::unique_ptr<SideMessage>, 6> sides_;
  std::vector<DeviceMessage> sends_, receives_;   ///< of NCCL
  std::unique_ptr<OwnedEvent> packed_, received_; ///< of messages in the background
  std::array<MPI_Request, 12> requests_{};
  int n_requests_ = 0;
};

extern template class DeviceExchange<double>;
extern template class DeviceExchange<float>;
} // namespace tensormg
