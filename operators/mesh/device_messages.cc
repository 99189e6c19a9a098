#include "operators/mesh/device_messages.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "kernels/device/shared_library.h"
#include "operators/mesh/agreement.h"

namespace tensormg
{
namespace
{
  /// MPI counts in 32 bits.
  int count_of(std::size_t bytes)
  {
    if (bytes > std::numeric_limits<int>::max())
      throw std::length_error("one rank has more numbers for another than one message can carry; "
                              "use more ranks");
    return static_cast<int>(bytes);
  }

  template <typename Message>
  std::size_t bytes_of(const std::vector<Message> &messages)
  {
    return std::accumulate(messages.begin(), messages.end(), std::size_t{0},
        [](std::size_t sum, const Message &message) { return sum + message.bytes; });
  }
  /// Whether MPI says that it takes pointers to device memory.
  bool claims_device_memory()
  {
    if (auto *const query = function_of_program<int()>("MPIX_Query_cuda_support")) // Open MPI's
      return query() == 1;
    const char *const of_mpich = std::getenv("MPICH_GPU_SUPPORT_ENABLED");
    return of_mpich != nullptr && std::string(of_mpich) == "1";
  }

  std::string time_text(double seconds)
  {
    return "4 MB to a neighbour in " + std::to_string(std::lround(1e6 * seconds)) + " us";
  }
} // namespace

std::optional<double> try_messages(MPI_Comm communicator, Stream stream, bool from_device_memory)
{
  constexpr std::int64_t count = 1 << 19;
  constexpr int rounds = 5;
  int rank = 0, ranks = 1;
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &ranks);
  const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  const auto number = [](int of, std::int64_t i) { return of + 1e-6 * static_cast<double>(i); };
  std::vector<double> numbers(count);
  for (std::int64_t i = 0; i < count; ++i)
    numbers[static_cast<std::size_t>(i)] = number(rank, i);
  DeviceArray<double> from(count, stream), to(count, stream);
  from.copy_from_host(numbers.data(), stream);
  DeviceMessages messages(communicator, stream, {nullptr, from_device_memory});
  const std::vector<DeviceSend> sends{{next, from.data(), count * sizeof(double)}};
  const std::vector<DeviceReceive> receives{{before, to.data(), count * sizeof(double)}};
  messages.exchange(sends, receives); // connects
  const double begin = MPI_Wtime();
  for (int round = 0; round < rounds; ++round)
    messages.exchange(sends, receives);
  to.copy_to_host(numbers.data(), stream);
  double seconds = (MPI_Wtime() - begin) / rounds;
  bool is_right = true;
  for (std::int64_t i = 0; i < count; ++i)
    is_right = is_right && numbers[static_cast<std::size_t>(i)] == number(before, i);
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, communicator);
  return on_all_ranks(is_right, communicator) ? std::optional(seconds) : std::nullopt;
}

DeviceLinks link_ranks(MPI_Comm communicator, Stream stream, std::string &text)
{
  text.clear();
  if (communicator == MPI_COMM_SELF)
    return {};
  std::string why;
  if (auto nccl = NcclRanks::make(communicator, stream, why))
  {
    text = nccl->text();
    const double seconds = nccl->seconds();
    return {std::move(nccl), false, seconds};
  }
  const auto through_host = try_messages(communicator, stream, false);
  if (!through_host)
    throw DeviceError("messages of MPI bring wrong numbers");
  const double of_host = *through_host;
  if (on_all_ranks(claims_device_memory(), communicator))
  {
    const auto direct = try_messages(communicator, stream, true);
    if (direct && *direct < of_host)
    {
      text = "MPI from device memory, " + time_text(*direct) + "; no NCCL: " + why;
      return {nullptr, true, *direct};
    }
    why += direct ? "; MPI from device memory is slower"
                  : "; MPI from device memory brings wrong numbers";
  }
  text = "through memory of the host, " + time_text(of_host) + ": " + why;
  return {nullptr, false, of_host};
}

DeviceMessages::~DeviceMessages()
{
  for (MPI_Request &request : requests_) // after an exception
  {
    MPI_Cancel(&request);
    MPI_Request_free(&request);
  }
}

void DeviceMessages::require_size(std::size_t bytes) const
{
  if (links_.nccl == nullptr)
    count_of(bytes);
}

/// At least so many; the same as long as they suffice, since pinned memory takes the driver a millisecond.
std::byte *DeviceMessages::on_host(std::size_t bytes)
{
  if (host_ == nullptr || static_cast<std::size_t>(host_->size()) < bytes)
  {
    device::synchronize(stream_); // what the last exchange has brought is on its way to the device
    host_.reset();
    host_ = std::make_unique<PinnedArray<std::byte>>(static_cast<std::int64_t>(bytes));
  }
  return host_->data();
}

void DeviceMessages::start(
    const std::vector<DeviceSend> &sends, const std::vector<DeviceReceive> &receives)
{
  if (links_.nccl != nullptr)
    return links_.nccl->exchange(sends, receives, stream_);
  const bool direct = links_.mpi_takes_device_memory;
  const std::size_t sent = bytes_of(sends);
  std::byte *at = direct ? nullptr : on_host(sent + bytes_of(receives));
  received_ = direct ? nullptr : at + sent;
  std::vector<const void *> from;
  for (const DeviceSend &send : sends)
  {
    from.push_back(direct ? send.data : at);
    if (direct)
      continue;
    device::to_host(at, send.data, send.bytes, stream_);
    at += send.bytes;
  }
  // Also before anything is received: what the last exchange has brought is on its way to the device until then.
  device::synchronize(stream_);
  receives_ = &receives;
  at = received_;
  for (const DeviceReceive &receive : receives)
  {
    MPI_Irecv(direct ? receive.data : at, count_of(receive.bytes), MPI_BYTE, receive.from, 0,
        communicator_, &requests_.emplace_back());
    at += direct ? 0 : receive.bytes;
  }
  for (std::size_t i = 0; i < sends.size(); ++i)
    MPI_Isend(from[i], count_of(sends[i].bytes), MPI_BYTE, sends[i].to, 0, communicator_,
        &requests_.emplace_back());
}

void DeviceMessages::finish()
{
  if (requests_.empty())
    return;
  MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  requests_.clear();
  if (received_ == nullptr)
    return;
  const std::byte *at = received_;
  for (const DeviceReceive &receive : *receives_)
  {
    device::to_device(receive.data, at, receive.bytes, stream_);
    at += receive.bytes;
  }
}

void DeviceMessages::sum(double *numbers, std::int64_t count)
{
  if (links_.nccl != nullptr)
    return links_.nccl->sum(numbers, count, stream_);
  const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(double);
  auto *const host = reinterpret_cast<double *>(on_host(bytes));
  device::to_host(host, numbers, bytes, stream_);
  device::synchronize(stream_);
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  for (std::int64_t at = 0; at < count; at += most)
    MPI_Allreduce(MPI_IN_PLACE, host + at, static_cast<int>(std::min(most, count - at)), MPI_DOUBLE,
        MPI_SUM, communicator_);
  device::to_device(numbers, host, bytes, stream_);
}
} // namespace tensormg
