// Messages between ranks that have a GPU each, queued in streams by NCCL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include <mpi.h>

#include "kernels/device/device.h"

namespace tensormg
{
/// What goes to another rank, and what comes from one, in device memory.
struct DeviceSend
{
  int to = 0;
  const void *data = nullptr;
  std::size_t bytes = 0;
};
struct DeviceReceive
{
  int from = 0;
  void *data = nullptr;
  std::size_t bytes = 0;
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

  /// All messages at once; those between two ranks in one order on both: the n-th one sent is the n-th one received.
  void exchange(const std::vector<DeviceSend> &sends, const std::vector<DeviceReceive> &receives,
      Stream stream) const;
  /// Every number becomes its sum over the ranks, with the same bits on all of them.
  void sum(double *numbers, std::int64_t count, Stream stream) const;

  /// After an exception in a solve: ends all ranks, with this one line, unless all of them have failed and come here within seconds. Where a
  /// rank fails alone, work on devices waits for its messages for ever, and who frees memory waits for that work.
  void end_if_alone(const std::exception &error) const;

  /// "NCCL 2.27.7, 4 MB to a neighbour in 31 us"
  const std::string &text() const { return text_; }
  /// Of that message.
  double seconds() const { return seconds_; }
  /// For messages beside the work of another stream.
  Stream background() const { return background_.get(); }

private:
  NcclRanks(void *handle, MPI_Comm communicator);
  /// Whether numbers sent around the ring arrive; sets text().
  bool try_out(Stream stream);

  void *handle_;
  MPI_Comm communicator_ =
      MPI_COMM_NULL; ///< its own: messages of failing ranks must not meet others
  OwnedStream background_;
  int rank_, size_;
  std::string text_;
  double seconds_ = 0.;
};
} // namespace tensormg
