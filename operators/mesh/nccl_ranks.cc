#include "operators/mesh/nccl_ranks.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <iostream>
#include <utility>

#include "kernels/device/shared_library.h"
#include "operators/mesh/agreement.h"

namespace tensormg
{
namespace
{
  // As in nccl.h of NCCL 2.
  struct UniqueId
  {
    std::array<char, 128> internal{};
  };
  constexpr int bytes_of_nccl = 0, double_of_nccl = 8,
                sum_of_nccl = 0; // ncclInt8, ncclFloat64, ncclSum

  struct NcclFunctions
  {
    int (*get_version)(int *) = nullptr;
    int (*get_unique_id)(UniqueId *) = nullptr;
    int (*init_rank)(void **, int, UniqueId, int) = nullptr;
    int (*destroy)(void *) = nullptr;
    const char *(*error_string)(int) = nullptr;
    int (*send)(const void *, std::size_t, int, int, void *, CUstream_st *) = nullptr;
    int (*receive)(void *, std::size_t, int, int, void *, CUstream_st *) = nullptr;
    int (*all_reduce)(const void *, void *, std::size_t, int, int, void *, CUstream_st *) = nullptr;
    int (*group_start)() = nullptr;
    int (*group_end)() = nullptr;
  };

  /// Throws DeviceError that says where the library was looked for.
  const NcclFunctions &nccl()
  {
    static const NcclFunctions functions = [] {
      const SharedLibrary library("NCCL", "libnccl.so.2");
      NcclFunctions found;
      library.find("ncclGetVersion", found.get_version);
      library.find("ncclGetUniqueId", found.get_unique_id);
      library.find("ncclCommInitRank", found.init_rank);
      library.find("ncclCommDestroy", found.destroy);
      library.find("ncclGetErrorString", found.error_string);
      library.find("ncclSend", found.send);
      library.find("ncclRecv", found.receive);
      library.find("ncclAllReduce", found.all_reduce);
      library.find("ncclGroupStart", found.group_start);
      library.find("ncclGroupEnd", found.group_end);
      return found;
    }();
    return functions;
  }

  void check(int result, const char *what)
  {
    if (result != 0)
      throw DeviceError(std::string("NCCL, ") + what + ": " + nccl().error_string(result));
  }

  /// Empty if all ranks can take part: what keeps this one from it.
  std::string obstacle(MPI_Comm communicator)
  {
    const int place = device_count() > 0 ? device_properties().place_on_bus : -1;
    if (!differ_on_nodes(place, communicator))
      return "ranks share a GPU";
    try
    {
      nccl();
    }
    catch (const DeviceError &error)
    {
      return error.what();
    }
    return "";
  }

  std::string version_text()
  {
    int version = 0;
    check(nccl().get_version(&version), "asking for the version");
    const int major = version / 10000, minor = version / 100 % 100;
    return "NCCL " + std::to_string(major) + '.' + std::to_string(minor) + '.' +
        std::to_string(version % 100);
  }
} // namespace

NcclRanks::NcclRanks(void *handle, MPI_Comm communicator)
  : handle_(handle)
{
  MPI_Comm_dup(communicator, &communicator_);
  MPI_Comm_rank(communicator, &rank_);
  MPI_Comm_size(communicator, &size_);
}

NcclRanks::~NcclRanks()
{
  nccl().destroy(handle_);
  int is_over = 0;
  MPI_Finalized(&is_over);
  if (is_over == 0)
    MPI_Comm_free(&communicator_);
}

void NcclRanks::end_if_alone(const std::exception &error) const
{
  constexpr double patience = 2.;
  constexpr int exit_failed = 1, exit_device_failed = 9;
  if (all_arrive(communicator_, patience))
    return;
  std::cerr << "tensormg: error: on rank " + std::to_string(rank_) + ": " + error.what() + '\n'
            << std::flush;
  MPI_Abort(communicator_,
      dynamic_cast<const DeviceError *>(&error) != nullptr ? exit_device_failed : exit_failed);
}

std::shared_ptr<NcclRanks> NcclRanks::make(MPI_Comm communicator, Stream stream, std::string &why)
{
  int rank = 0, size = 1;
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &size);
  if (size == 1)
  {
    why = "one rank";
    return nullptr;
  }
  why = obstacle(communicator);
  if (!on_all_ranks(why.empty(), communicator))
  {
    why = why.empty() ? "another rank cannot take NCCL" : why;
    return nullptr;
  }
  UniqueId id;
  const int begun = rank == 0 ? nccl().get_unique_id(&id) : 0;
  if (!on_all_ranks(begun == 0, communicator))
  {
    why = begun == 0 ? "the first rank cannot take NCCL" : nccl().error_string(begun);
    return nullptr;
  }
  MPI_Bcast(&id, sizeof(id), MPI_BYTE, 0, communicator);
  std::shared_ptr<NcclRanks> result;
  try
  {
    void *handle = nullptr;
    check(nccl().init_rank(&handle, size, id, rank), "connecting the ranks");
    result.reset(new NcclRanks(handle, communicator));
    if (!result->try_out(stream))
      why = "messages by NCCL arrive wrong";
  }
  catch (const DeviceError &error)
  {
    why = error.what();
  }
  if (on_all_ranks(why.empty(), communicator))
    return result;
  why = why.empty() ? "another rank cannot take NCCL" : why;
  return nullptr;
}

void NcclRanks::exchange(const std::vector<DeviceSend> &sends,
    const std::vector<DeviceReceive> &receives, Stream stream) const
{
  check(nccl().group_start(), "sending");
  for (const DeviceSend &send : sends)
    check(nccl().send(send.data, send.bytes, bytes_of_nccl, send.to, handle_, stream), "sending");
  for (const DeviceReceive &receive : receives)
    check(nccl().receive(receive.data, receive.bytes, bytes_of_nccl, receive.from, handle_, stream),
        "receiving");
  check(nccl().group_end(), "sending");
}

void NcclRanks::sum(double *numbers, std::int64_t count, Stream stream) const
{
  check(nccl().all_reduce(numbers, numbers, static_cast<std::size_t>(count), double_of_nccl,
            sum_of_nccl, handle_, stream),
      "summing");
}

bool NcclRanks::try_out(Stream stream)
{
  constexpr std::int64_t count = 1 << 19; // 4 MB
  constexpr int rounds = 10;
  std::vector<double> numbers(count);
  for (std::int64_t i = 0; i < count; ++i)
    numbers[i] = rank_ + 1e-6 * static_cast<double>(i);
  DeviceArray<double> from(count, stream), to(count, stream);
  from.copy_from_host(numbers.data(), stream);
  const std::vector<DeviceSend> sends{{(rank_ + 1) % size_, from.data(), count * sizeof(double)}};
  const std::vector<DeviceReceive> receives{
      {(rank_ + size_ - 1) % size_, to.data(), count * sizeof(double)}};
  exchange(sends, receives, stream); // connects
  device::synchronize(stream);
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  for (int round = 0; round < rounds; ++round)
    exchange(sends, receives, stream);
  device::synchronize(stream);
  seconds_ = std::chrono::duration<double>(Clock::now() - begin).count() / rounds;
  MPI_Allreduce(MPI_IN_PLACE, &seconds_, 1, MPI_DOUBLE, MPI_MAX, communicator_);
  text_ = version_text() + ", 4 MB to a neighbour in " +
      std::to_string(std::lround(1e6 * seconds_)) + " us";
  const double other = (rank_ + size_ - 1) % size_, own = rank_;
  std::vector<double> arrived(count);
  device::to_host(arrived.data(), to.data(), count * sizeof(double), stream);
  device::synchronize(stream);
  for (std::int64_t i = 0; i < count; ++i)
    if (std::abs(arrived[i] - numbers[i] - (other - own)) > 1e-9)
      return false;
  return true;
}
} // namespace tensormg
