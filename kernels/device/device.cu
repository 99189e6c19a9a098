#include "kernels/device/device.h"

#include <map>
#include <mutex>

#include <cuda_runtime.h>

#include "kernels/core/setup_times.h"
#include "kernels/device/cuda_check.h"

namespace tensormg
{
namespace
{
  constexpr int oldest_major = 8;

  std::string version_string(int version)
  {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
  }
} // namespace

bool built_with_cuda() { return true; }

int device_count()
{
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess)
  {
    cudaGetLastError();
    return 0;
  }
  return count;
}

std::string why_no_device()
{
  int count = 0, driver = 0, runtime = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess && count > 0)
    return "";
  cudaGetLastError();
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  if (driver == 0)
    return "no NVIDIA driver is loaded";
  if (error == cudaErrorInsufficientDriver)
    return "the driver supports CUDA " + version_string(driver) +
        ", this program was built for CUDA " + version_string(runtime) +
        ": install a newer driver or build with an older toolkit";
  return error == cudaSuccess ? "no NVIDIA GPU is visible" : describe(error, "looking for a GPU");
}

void use_device(int device)
{
  const int count = device_count();
  if (count == 0)
    throw DeviceError("no device: " + why_no_device());
  if (device < 0 || device >= count)
    throw DeviceError("device " + std::to_string(device) + " does not exist; there are " +
        std::to_string(count) + ", numbered from 0");
  check_cuda(cudaSetDevice(device), "choosing the device");
  const DeviceProperties properties = device_properties();
  if (properties.major < oldest_major)
    throw DeviceError(properties.name + " has compute capability " +
        std::to_string(properties.major) + "." + std::to_string(properties.minor) +
        "; the kernels need " + std::to_string(oldest_major) + ".0 or newer");
}

namespace
{
  /// Tells which of the build's codes the driver takes.
  __global__ void nothing() {}

  int code_capability()
  {
    cudaFuncAttributes attributes{};
    const cudaError_t error =
        cudaFuncGetAttributes(&attributes, reinterpret_cast<const void *>(&nothing));
    if (error == cudaErrorNoKernelImageForDevice || error == cudaErrorUnsupportedPtxVersion ||
        error == cudaErrorInvalidDeviceFunction)
    {
      cudaGetLastError();
      return 0;
    }
    check_cuda(error, "asking which code runs on the device");
    return attributes.ptxVersion;
  }

  DeviceProperties ask_properties(int device)
  {
    int driver = 0, runtime = 0, clock_khz = 0;
    cudaDeviceProp found{};
    check_cuda(cudaGetDeviceProperties(&found, device), "asking for the properties of the device");
    check_cuda(cudaDriverGetVersion(&driver), "asking for the driver's version");
    check_cuda(cudaRuntimeGetVersion(&runtime), "asking for the runtime's version");
    check_cuda(
        cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, device), "asking for the clock");
    int memory_khz = 0, bus_bits = 0;
    check_cuda(cudaDeviceGetAttribute(&memory_khz, cudaDevAttrMemoryClockRate, device),
        "asking for the clock of memory");
    check_cuda(cudaDeviceGetAttribute(&bus_bits, cudaDevAttrGlobalMemoryBusWidth, device),
        "asking for the bus of memory");
    DeviceProperties result;
    result.number = device;
    result.name = found.name;
    result.major = found.major;
    result.minor = found.minor;
    result.code_capability = code_capability();
    result.multiprocessors = found.multiProcessorCount;
    result.clock_ghz = clock_khz * 1e-6;
    result.memory_gb_per_s = 2e-6 * memory_khz * bus_bits / 8.;
    result.memory_bytes = static_cast<std::int64_t>(found.totalGlobalMem);
    result.l2_bytes = found.l2CacheSize;
    result.shared_bytes_per_block = static_cast<int>(found.sharedMemPerBlockOptin);
    result.driver = version_string(driver);
    result.runtime = version_string(runtime);
    result.place_on_bus =
        ((found.pciDomainID & 0x7fff) << 16) | (found.pciBusID << 8) | found.pciDeviceID;
    return result;
  }
} // namespace

DeviceProperties device_properties()
{
  // To ask takes half a millisecond.
  static std::mutex mutex;
  static std::map<int, DeviceProperties> known;
  int device = 0;
  check_cuda(cudaGetDevice(&device), "asking for the device");
  const std::lock_guard<std::mutex> lock(mutex);
  const auto entry = known.find(device);
  return entry != known.end() ? entry->second : known[device] = ask_properties(device);
}

std::int64_t free_device_bytes()
{
  std::size_t free = 0, total = 0;
  check_cuda(cudaMemGetInfo(&free, &total), "asking for free device memory");
  return static_cast<std::int64_t>(free);
}

void require_device_bytes(std::int64_t bytes, const std::string &what_for)
{
  const std::int64_t free = free_device_bytes();
  if (bytes > free)
    throw DeviceError(what_for + " needs " + std::to_string(bytes >> 20) +
        " MiB of device memory, but only " + std::to_string(free >> 20) + " MiB are free");
}

namespace device
{
  bool is_device_pointer(const void *pointer)
  {
    cudaPointerAttributes attributes{};
    check_cuda(cudaPointerGetAttributes(&attributes, pointer), "asking where memory lies");
    return attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
  }

  void to_device(void *to, const void *from, std::size_t bytes, Stream stream)
  {
    check_cuda(
        cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream), "copying to the device");
  }

  void to_host(void *to, const void *from, std::size_t bytes, Stream stream)
  {
    check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream),
        "copying from the device");
  }

  void copy(void *to, const void *from, std::size_t bytes, Stream stream)
  {
    check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream),
        "copying on the device");
  }

  void copy_rows(void *to, std::size_t to_pitch, const void *from, std::size_t from_pitch,
      std::size_t bytes, std::size_t rows, Stream stream)
  {
    check_cuda(cudaMemcpy2DAsync(
                   to, to_pitch, from, from_pitch, bytes, rows, cudaMemcpyDeviceToDevice, stream),
        "copying rows on the device");
  }

  void fill_bytes(void *to, int value, std::size_t bytes, Stream stream)
  {
    check_cuda(cudaMemsetAsync(to, value, bytes, stream), "filling device memory");
  }

  void synchronize(Stream stream)
  {
    check_cuda(cudaStreamSynchronize(stream), "waiting for the device");
  }

  CUstream_st *create_stream()
  {
    cudaStream_t stream = nullptr;
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream");
    return stream;
  }

  void destroy_stream(CUstream_st *stream) noexcept
  {
    report_cuda(cudaStreamDestroy(stream), "destroying a stream");
  }

  Event create_event()
  {
    Event event = nullptr;
    check_cuda(cudaEventCreate(&event), "creating an event");
    return event;
  }

  void destroy_event(Event event) noexcept
  {
    report_cuda(cudaEventDestroy(event), "destroying an event");
  }

  void record(Event event, Stream stream)
  {
    check_cuda(cudaEventRecord(event, stream), "recording an event");
  }

  void wait_for(Event event, Stream stream)
  {
    check_cuda(cudaStreamWaitEvent(stream, event, 0), "waiting for an event");
  }

  double milliseconds(Event begin, Event end)
  {
    float result = 0.f;
    check_cuda(cudaEventElapsedTime(&result, begin, end), "reading a time");
    return result;
  }

  void *allocate_pinned(std::size_t bytes)
  {
    const setup_times::Scope scope("pinned memory");
    void *pointer = nullptr;
    check_cuda(cudaHostAlloc(&pointer, bytes, cudaHostAllocDefault), "taking pinned host memory");
    return pointer;
  }

  void release_pinned(void *pointer) noexcept
  {
    if (pointer != nullptr)
      report_cuda(cudaFreeHost(pointer), "giving pinned host memory back");
  }

  void begin_recording(Stream stream)
  {
    // Of this thread only: other threads may use the device meanwhile.
    check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal),
        "starting to record a graph");
  }

  Graph end_recording(Stream stream)
  {
    const setup_times::Scope scope("instantiating graphs");
    cudaGraph_t recorded = nullptr;
    check_cuda(cudaStreamEndCapture(stream, &recorded), "recording a graph");
    Graph graph = nullptr;
    const cudaError_t error = cudaGraphInstantiate(&graph, recorded, 0);
    report_cuda(cudaGraphDestroy(recorded), "giving a recorded graph back");
    check_cuda(error, "preparing a graph");
    return graph;
  }

  void discard_recording(Stream stream) noexcept
  {
    cudaGraph_t recorded = nullptr;
    // An error here is that of the work that failed, which is thrown already.
    if (cudaStreamEndCapture(stream, &recorded) == cudaSuccess && recorded != nullptr)
      report_cuda(cudaGraphDestroy(recorded), "giving a recorded graph back");
    cudaGetLastError();
  }

  void launch(Graph graph, Stream stream)
  {
    check_cuda(cudaGraphLaunch(graph, stream), "launching a graph");
  }

  void destroy_graph(Graph graph) noexcept
  {
    report_cuda(cudaGraphExecDestroy(graph), "destroying a graph");
  }
} // namespace device

void DeviceTimer::start(Stream stream) { device::record(begin_.get(), stream); }

double DeviceTimer::stop(Stream stream)
{
  device::record(end_.get(), stream);
  check_cuda(cudaEventSynchronize(end_.get()), "waiting for an event");
  return device::milliseconds(begin_.get(), end_.get());
}
} // namespace tensormg
