// Messages between ranks that have a GPU each, queued in streams by NCCL.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <mpi.h>

#include "kernels/device/device.h"

namespace tensormg
{
/// What one rank sends to another and takes from it, in device memory.
struct DeviceMessage
{
  int peer = 0;
  const void *send = nullptr;
  void *receive = nullptr;
  std::size_t send_bytes = 0, receive_bytes = 0;
};

/// An NCCL communicator over all ranks of an MPI communicator. The library is loaded when the first one is made; nothing is linked.
/// Calls are collective over those they name, are queued in the stream, can be recorded in graphs, and do not wait.
class NcclRanks
{
public:
  /// For the current device, in the stream. Collective; nullptr on all ranks, with the reason in `why`, where there is one rank, ranks share
  /// a GPU, one of them has no NCCL, or messages arrive wrong.
  static std::shared_ptr<NcclRanks> make(MPI_Comm communicator, Stream stream, std::string &why);
  NcclRanks(const NcclRanks &) = delete;
  NcclRanks &operator=(const NcclRanks &) = delete;
  ~NcclRanks();

  /// All messages at once; those between two ranks in one order on both: the n-th one sent is the n-th one received. `sends` and
  /// `receives` may name the same message, or those of others.
  void exchange(const std::vector<DeviceMessage> &sends, const std::vector<DeviceMessage> &receives,
      Stream stream) const;

  /// "NCCL 2.27.7, 4 MB to a neighbour in 31 us"
  const std::string &text() const { return text_; }
  /// For messages beside the work of another stream.
  Stream background() const { return background_.get(); }
  int rank() const { return rank_; }
  int size() const { return size_; }

private:
  NcclRanks(void *handle, int rank, int size);
  /// Whether numbers sent around the ring arrive; sets text().
  bool try_out(Stream stream);

  void *handle_;
  OwnedStream background_;
  int rank_, size_;
  std::string text_;
};
} // namespace tensormg
