// The functions of the CUDA runtime that the project calls, on the CPU: one device of compute capability
// 9.0 with 3 multiprocessors, 1 block each, and 1 GiB of memory. TENSORMG_EMULATED_CAPABILITY=80 is a device that says
// it is older.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/device/device.h"
#include "tests/emulation/stream.h"

struct CUstream_st
{
  bool captures = false;
  std::vector<std::function<void()>> recorded;
};
struct CUgraph_st
{
  std::vector<std::function<void()>> work;
};
struct CUgraphExec_st
{
  std::vector<std::function<void()>> work;
};
struct CUevent_st
{
  std::chrono::steady_clock::time_point at;
};

namespace tensormg::emulation
{
namespace
{
  constexpr std::size_t memory_bytes = std::size_t(1) << 30;
  /// Compute capability times ten.
  int capability()
  {
    const char *const text = std::getenv("TENSORMG_EMULATED_CAPABILITY");
    return text == nullptr ? 90 : std::atoi(text);
  }

  std::mutex memory_mutex;
  std::size_t used_bytes = 0;
  std::map<void *, std::size_t> allocations;
  bool is_lost = false; ///< by a trap, until the process ends
} // namespace

void queue(cudaStream_t stream, std::function<void()> work)
{
  if (stream != nullptr && stream->captures)
    stream->recorded.push_back(std::move(work));
  else
    work();
}

void launch(const char *name, const std::function<void()> &body, dim3 grid, dim3 block,
    std::size_t shared_bytes, bool cooperative)
{
  if (is_lost)
    throw DeviceError(std::string(name) + ": the device is lost");
  try
  {
    run(body, grid, block, shared_bytes, cooperative);
  }
  catch (const Trap &)
  {
    is_lost = true; // a device tells of it later
  }
  catch (const std::exception &error)
  {
    throw DeviceError(std::string(name) + ": " + error.what());
  }
}
} // namespace tensormg::emulation

using tensormg::emulation::queue;

namespace
{
cudaError_t state() { return tensormg::emulation::is_lost ? cudaErrorLaunchFailure : cudaSuccess; }
} // namespace

extern "C"
{
  cudaError_t cudaGetDeviceCount(int *count)
  {
    *count = 1;
    return cudaSuccess;
  }
  cudaError_t cudaGetDevice(int *device)
  {
    *device = 0;
    return cudaSuccess;
  }
  cudaError_t cudaSetDevice(int) { return cudaSuccess; }
  cudaError_t cudaDriverGetVersion(int *version)
  {
    *version = CUDART_VERSION;
    return cudaSuccess;
  }
  cudaError_t cudaRuntimeGetVersion(int *version)
  {
    *version = CUDART_VERSION;
    return cudaSuccess;
  }
  cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int)
  {
    *properties = {};
    std::strcpy(properties->name, "emulated device");
    properties->major = tensormg::emulation::capability() / 10;
    properties->minor = tensormg::emulation::capability() % 10;
    properties->multiProcessorCount = 3;
    properties->totalGlobalMem = tensormg::emulation::memory_bytes;
    properties->l2CacheSize = 1 << 20;
    properties->sharedMemPerBlockOptin = 232448;
    return cudaSuccess;
  }
  cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int)
  {
    *value = attribute == cudaDevAttrMultiProcessorCount      ? 3
        : attribute == cudaDevAttrMaxThreadsPerMultiProcessor ? 2048
        : attribute == cudaDevAttrCooperativeLaunch           ? 1
        : attribute == cudaDevAttrClockRate                   ? 1000000
        : attribute == cudaDevAttrMemoryClockRate             ? 500000
        : attribute == cudaDevAttrGlobalMemoryBusWidth        ? 64
                                                              : 0;
    return cudaSuccess;
  }
  cudaError_t cudaGetLastError() { return cudaSuccess; }
  cudaError_t cudaPeekAtLastError() { return cudaSuccess; }
  const char *cudaGetErrorName(cudaError_t error)
  {
    return error == cudaErrorMemoryAllocation ? "cudaErrorMemoryAllocation" : "an error";
  }
  const char *cudaGetErrorString(cudaError_t error)
  {
    return error == cudaErrorMemoryAllocation ? "out of memory" : "an error of the emulation";
  }

  cudaError_t cudaMalloc(void **pointer, std::size_t bytes)
  {
    using namespace tensormg::emulation;
    if (is_lost)
      return state();
    const std::lock_guard<std::mutex> lock(memory_mutex);
    if (used_bytes + bytes > memory_bytes)
      return cudaErrorMemoryAllocation;
    *pointer = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    std::memset(*pointer, 0xff, bytes);
    allocations[*pointer] = bytes;
    used_bytes += bytes;
    return cudaSuccess;
  }
  cudaError_t cudaFree(void *pointer)
  {
    using namespace tensormg::emulation;
    if (pointer == nullptr)
      return cudaSuccess;
    const std::lock_guard<std::mutex> lock(memory_mutex);
    const auto found = allocations.find(pointer);
    if (found == allocations.end())
      return cudaErrorInvalidValue;
    used_bytes -= found->second;
    allocations.erase(found);
    std::free(pointer);
    return cudaSuccess;
  }
  cudaError_t cudaMallocHost(void **pointer, std::size_t bytes)
  {
    *pointer = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    return cudaSuccess;
  }
  cudaError_t cudaHostAlloc(void **pointer, std::size_t bytes, unsigned)
  {
    return cudaMallocHost(pointer, bytes);
  }
  cudaError_t cudaFreeHost(void *pointer)
  {
    std::free(pointer);
    return cudaSuccess;
  }
  cudaError_t cudaMemGetInfo(std::size_t *free, std::size_t *total)
  {
    const std::lock_guard<std::mutex> lock(tensormg::emulation::memory_mutex);
    *total = tensormg::emulation::memory_bytes;
    *free = *total - tensormg::emulation::used_bytes;
    return cudaSuccess;
  }
  cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *)
  {
    *attributes = {};
    attributes->type =
        cudaMemoryTypeUnregistered; // all is memory of the host here, and may be copied
    return cudaSuccess;
  }
  cudaError_t cudaMemcpy2DAsync(void *to, std::size_t to_pitch, const void *from,
      std::size_t from_pitch, std::size_t bytes, std::size_t rows, cudaMemcpyKind,
      cudaStream_t stream)
  {
    queue(stream, [=] {
      for (std::size_t row = 0; row < rows; ++row)
        std::memcpy(static_cast<char *>(to) + row * to_pitch,
            static_cast<const char *>(from) + row * from_pitch, bytes);
    });
    return state();
  }
  cudaError_t cudaMemcpyAsync(
      void *to, const void *from, std::size_t bytes, cudaMemcpyKind, cudaStream_t stream)
  {
    queue(stream, [=] { std::memcpy(to, from, bytes); });
    return state();
  }
  cudaError_t cudaMemcpy(void *to, const void *from, std::size_t bytes, cudaMemcpyKind)
  {
    std::memcpy(to, from, bytes);
    return state();
  }
  cudaError_t cudaMemsetAsync(void *to, int value, std::size_t bytes, cudaStream_t stream)
  {
    queue(stream, [=] { std::memset(to, value, bytes); });
    return state();
  }
  cudaError_t cudaMemset(void *to, int value, std::size_t bytes)
  {
    std::memset(to, value, bytes);
    return cudaSuccess;
  }

  cudaError_t cudaStreamCreate(cudaStream_t *stream)
  {
    *stream = new CUstream_st;
    return cudaSuccess;
  }
  cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
  {
    return cudaStreamCreate(stream);
  }
  cudaError_t cudaStreamDestroy(cudaStream_t stream)
  {
    delete stream;
    return cudaSuccess;
  }
  cudaError_t cudaStreamSynchronize(cudaStream_t stream)
  {
    return stream != nullptr && stream->captures ? cudaErrorStreamCaptureUnsupported : state();
  }
  cudaError_t cudaDeviceSynchronize() { return state(); }
  cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode)
  {
    stream->captures = true;
    stream->recorded.clear();
    return cudaSuccess;
  }
  cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
  {
    stream->captures = false;
    *graph = new CUgraph_st{std::move(stream->recorded)};
    stream->recorded.clear();
    return cudaSuccess;
  }
  cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status)
  {
    *status = stream != nullptr && stream->captures ? cudaStreamCaptureStatusActive
                                                    : cudaStreamCaptureStatusNone;
    return cudaSuccess;
  }
  cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long)
  {
    *exec = new CUgraphExec_st{graph->work};
    return cudaSuccess;
  }
  cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t)
  {
    if (tensormg::emulation::is_lost)
      return state();
    for (const auto &work : exec->work)
      work();
    return state();
  }
  cudaError_t cudaGraphDestroy(cudaGraph_t graph)
  {
    delete graph;
    return cudaSuccess;
  }
  cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
  {
    delete exec;
    return cudaSuccess;
  }

  cudaError_t cudaEventCreate(cudaEvent_t *event)
  {
    *event = new CUevent_st;
    return cudaSuccess;
  }
  cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned)
  {
    return cudaEventCreate(event);
  }
  cudaError_t cudaEventDestroy(cudaEvent_t event)
  {
    delete event;
    return cudaSuccess;
  }
  cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
  {
    queue(stream, [=] { event->at = std::chrono::steady_clock::now(); });
    return cudaSuccess;
  }
  cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
  cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }
  cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end)
  {
    *milliseconds = std::chrono::duration<float, std::milli>(end->at - begin->at).count();
    return cudaSuccess;
  }

  cudaError_t cudaFuncSetAttribute(const void *, cudaFuncAttribute, int) { return cudaSuccess; }
  cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *)
  {
    *attributes = {};
    attributes->ptxVersion = attributes->binaryVersion = tensormg::emulation::capability();
    return cudaSuccess;
  }
  cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      int *blocks, const void *, int, std::size_t)
  {
    *blocks = 1;
    return cudaSuccess;
  }
  cudaError_t cudaOccupancyMaxActiveClusters(
      int *clusters, const void *, const cudaLaunchConfig_t *config)
  {
    // Whole grids run at once, so that a cluster has room that is larger than the device.
    *clusters = std::max(1, 3 / static_cast<int>(config->attrs[0].val.clusterDim.x));
    return cudaSuccess;
  }
}
