// Messages among ranks whose numbers lie in device memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <mpi.h>

#include "kernels/device/device.h"
#include "operators/mesh/nccl_ranks.h"

namespace tensormg
{
/// How messages go among the ranks of a communicator.
struct DeviceLinks
{
  std::shared_ptr<const NcclRanks> nccl; ///< in the stream; nullptr: by MPI
  bool mpi_takes_device_memory = false;  ///< otherwise MPI's messages go through memory of the host
  double seconds = 0.;                   ///< of a message of 4 MB to a neighbour
  /// Whether it pays to compute what needs no message while messages travel, though that takes two launches more: on H200 with NVLink (34 us)
  /// solves took up to 5 % longer.
  bool are_slow() const { return seconds > 1e-4; }
};

/// NCCL where it can be had; otherwise MPI from and to device memory, if it says that it can, brings the right numbers and is faster than
/// through the host in a trial of 4 MB; otherwise through the host. `text`: which, and what the trial took or why; empty for one rank. Collective.
DeviceLinks link_ranks(MPI_Comm communicator, Stream stream, std::string &text);

/// Seconds of a message of 4 MB to the next rank by MPI, in one of the two ways; nothing if wrong numbers arrive. Collective.
std::optional<double> try_messages(MPI_Comm communicator, Stream stream, bool from_device_memory);

/// Those of NCCL are queued in the stream and can be recorded; for others calls wait. Collective. Not reentrant.
class DeviceMessages
{
public:
  DeviceMessages(MPI_Comm communicator, Stream stream, DeviceLinks links)
    : communicator_(communicator)
    , stream_(stream)
    , links_(std::move(links))
  {}
  // Requests point into the buffers.
  DeviceMessages(const DeviceMessages &) = delete;
  DeviceMessages &operator=(const DeviceMessages &) = delete;
  ~DeviceMessages();

  const DeviceLinks &links() const { return links_; }
  /// Throws std::length_error if a message may not be so large. To be asked for the largest one of all ranks.
  void require_size(std::size_t bytes) const;
  /// Sends what the work queued so far leaves. Those between two ranks are in one order on both: the n-th one sent is the n-th one
  /// received. The lists and what they point to stay until finish().
  void start(const std::vector<DeviceSend> &sends, const std::vector<DeviceReceive> &receives);
  /// Work that is queued from here on finds what has been received.
  void finish();
  void exchange(const std::vector<DeviceSend> &sends, const std::vector<DeviceReceive> &receives)
  {
    start(sends, receives);
    finish();
  }
  /// Every number becomes its sum over the ranks, with the same bits on all of them.
  void sum(double *numbers, std::int64_t count);

private:
  std::byte *on_host(std::size_t bytes);

  MPI_Comm communicator_;
  Stream stream_;
  DeviceLinks links_;
  std::unique_ptr<PinnedArray<std::byte>> host_;
  const std::vector<DeviceReceive> *receives_ = nullptr; ///< on their way
  std::byte *received_ = nullptr;                        ///< on the host
  std::vector<MPI_Request> requests_;
};
} // namespace tensormg
