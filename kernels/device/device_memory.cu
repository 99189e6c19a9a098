#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <cuda_runtime.h>

#include "kernels/core/setup_times.h"
#include "kernels/device/cuda_check.h"
#include "kernels/device/device.h"
#include "kernels/device/device_reservation.h"

namespace tensormg
{
namespace
{
  /// An allocation of which arrays are parts, one behind the other.
  struct Slab
  {
    std::int64_t size = 0;
    std::int64_t begun = 0; ///< bytes that have been part of an array
    int arrays = 0;         ///< that have not been given back
    bool is_open = true;    ///< its DeviceReservation lives

    std::int64_t room() const { return size - begun; }
  };

  using Slabs = std::map<char *, Slab>; ///< by their first bytes
  std::mutex mutex;
  /// From which a thread takes its arrays.
  thread_local Slabs::value_type *open_slab = nullptr;

  /// Never destroyed, as arrays may be given back when the program ends.
  Slabs &slabs()
  {
    static auto *const all = new Slabs;
    return *all;
  }

  cudaError_t take(void **pointer, std::size_t bytes)
  {
    const setup_times::Scope scope("device memory");
    return cudaMalloc(pointer, bytes);
  }

  void give_back(void *pointer) noexcept
  {
    const setup_times::Scope scope("giving device memory back");
    report_cuda(cudaFree(pointer), "giving device memory back");
  }

  /// Leaves the lock to others while the driver works.
  void give_back_if_unused(Slabs::iterator slab, std::unique_lock<std::mutex> &lock) noexcept
  {
    if (slab->second.is_open || slab->second.arrays > 0)
      return;
    char *const begin = slab->first;
    slabs().erase(slab);
    lock.unlock();
    give_back(begin);
  }

  /// Ends the reservation of this thread; the one before it goes on, or none.
  void close(void *before) noexcept
  {
    std::unique_lock<std::mutex> lock(mutex);
    const auto slab = slabs().find(open_slab->first);
    open_slab = static_cast<Slabs::value_type *>(before);
    slab->second.is_open = false;
    give_back_if_unused(slab, lock);
  }

  /// The slab of which `address` is a part; the end if there is none.
  Slabs::iterator slab_of(char *address) noexcept
  {
    const auto after = slabs().upper_bound(address);
    if (after == slabs().begin())
      return slabs().end();
    const auto slab = std::prev(after);
    return address < slab->first + slab->second.size ? slab : slabs().end();
  }
} // namespace

DeviceReservation::DeviceReservation(std::int64_t bytes)
{
  if (bytes <= 0 || (open_slab != nullptr && open_slab->second.room() >= bytes))
    return;
  void *begin = nullptr;
  if (take(&begin, static_cast<std::size_t>(bytes)) != cudaSuccess)
  {
    cudaGetLastError(); // the arrays find out what is wrong
    return;
  }
  Slab slab;
  slab.size = bytes;
  Slabs::value_type *before = open_slab;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    open_slab = &*slabs().emplace(static_cast<char *>(begin), slab).first;
  }
  open_ = std::shared_ptr<void>(before, close);
}

namespace device
{
  void *allocate(std::size_t bytes)
  {
    const std::int64_t room = DeviceReservation::room_of(static_cast<std::int64_t>(bytes));
    if (room > 0 && open_slab != nullptr && open_slab->second.room() >= room)
    {
      const std::lock_guard<std::mutex> lock(mutex); // others may give arrays of it back
      auto &[begin, slab] = *open_slab;
      ++slab.arrays;
      return begin + std::exchange(slab.begun, slab.begun + room);
    }
    void *pointer = nullptr;
    const cudaError_t error = take(&pointer, bytes);
    if (error == cudaErrorMemoryAllocation)
    {
      cudaGetLastError();
      throw DeviceError("cannot take " + std::to_string(bytes >> 20) + " MiB of device memory; " +
          std::to_string(free_device_bytes() >> 20) + " MiB are free");
    }
    check_cuda(error, "taking device memory");
    return pointer;
  }

  void release(void *pointer) noexcept
  {
    if (pointer == nullptr)
      return;
    {
      std::unique_lock<std::mutex> lock(mutex);
      if (const auto slab = slab_of(static_cast<char *>(pointer)); slab != slabs().end())
      {
        --slab->second.arrays;
        give_back_if_unused(slab, lock);
        return;
      }
    }
    give_back(pointer);
  }
} // namespace device
} // namespace tensormg
