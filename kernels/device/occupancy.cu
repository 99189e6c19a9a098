#include "kernels/device/occupancy.h"

#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "kernels/core/capability_text.h"
#include "kernels/core/setup_times.h"
#include "kernels/device/cuda_check.h"

namespace tensormg
{
namespace
{
  int ask_blocks(const void *kernel, int device, int threads, int shared_bytes)
  {
    int multiprocessors = 0, per_multiprocessor = 0;
    check_cuda(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
        "asking for the multiprocessors");
    check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                   &per_multiprocessor, kernel, threads, shared_bytes),
        "asking for the occupancy");
    return multiprocessors * per_multiprocessor;
  }

  int ask_clusters(const void *kernel, int blocks, int threads, int shared_bytes)
  {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {static_cast<unsigned>(blocks), 1, 1};
    const cudaLaunchConfig_t config{dim3(static_cast<unsigned>(blocks)),
        dim3(static_cast<unsigned>(threads)), static_cast<std::size_t>(shared_bytes), nullptr,
        &attribute, 1};
    int clusters = 0;
    check_cuda(cudaOccupancyMaxActiveClusters(&clusters, kernel, &config),
        "asking for the occupancy of clusters");
    return clusters;
  }
} // namespace

void require_compiled_for(int min_capability, const void *kernel)
{
  cudaFuncAttributes attributes{};
  check_cuda(cudaFuncGetAttributes(&attributes, kernel), "asking for the kernel's version");
  if (attributes.ptxVersion < min_capability)
    throw DeviceError("this kernel needs a build for compute capability " +
        capability_text(min_capability) + "; it was built for " +
        capability_text(attributes.ptxVersion));
}

int clusters_with_room(
    const void *kernel, int blocks, int threads, int shared_bytes, int min_capability)
{
  static std::mutex mutex;
  static std::map<std::pair<const void *, int>, int> known;
  int device = 0;
  check_cuda(cudaGetDevice(&device), "asking for the device");
  const setup_times::Scope scope("kernels"); // to ask for its limits loads a kernel
  const std::lock_guard<std::mutex> lock(mutex);
  const std::pair<const void *, int> key(kernel, device);
  if (const auto entry = known.find(key); entry != known.end())
    return entry->second;
  require_compiled_for(min_capability, kernel);
  check_cuda(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes),
      "asking for shared memory");
  const int resident = blocks == 1 ? ask_blocks(kernel, device, threads, shared_bytes)
                                   : ask_clusters(kernel, blocks, threads, shared_bytes);
  return known[key] = resident;
}

int resident_clusters(
    const void *kernel, int blocks, int threads, int shared_bytes, int min_capability)
{
  const int resident = clusters_with_room(kernel, blocks, threads, shared_bytes, min_capability);
  if (resident == 0)
    throw DeviceError("a kernel needs " + std::to_string(shared_bytes) +
        " bytes of shared memory and " + std::to_string(threads) +
        " threads per block, which this device does not have");
  return resident;
}

int resident_blocks(const void *kernel, int threads, int shared_bytes, int min_capability)
{
  return resident_clusters(kernel, 1, threads, shared_bytes, min_capability);
}
} // namespace tensormg
