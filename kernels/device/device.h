// The GPU as the host code sees it: no CUDA header is needed to include this file.
//
// In a build without CUDA, device_count() is 0 and everything that needs a device throws DeviceError
// that says so. Errors of the runtime are exceptions; destructors only report them to stderr.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include "kernels/device/stream.h"

struct CUevent_st;
struct CUgraphExec_st;

namespace tensormg
{
/// A CUDA event: a point in a stream whose time is taken.
using Event = CUevent_st *;
/// A CUDA graph that can be launched.
using Graph = CUgraphExec_st *;

class DeviceError : public std::runtime_error
{
  using std::runtime_error::runtime_error;
};

struct DeviceProperties
{
  std::string name;
  int major = 0, minor = 0; ///< compute capability
  /// Compute capability times ten of the code that runs on it: its own, or less where the build has none for it; 0 where
  /// the build has no code that runs on it.
  int code_capability = 0;
  int multiprocessors = 0;
  double clock_ghz = 0.; ///< maximum clock of the multiprocessors
  std::int64_t memory_bytes = 0;
  /// Of memory: two transfers per clock times the width of its bus, as data sheets have it; 0: the driver does not say.
  double memory_gb_per_s = 0.;
  std::int64_t l2_bytes = 0;
  int shared_bytes_per_block = 0; ///< largest, by opt-in
  std::string driver, runtime;    ///< versions as in "13.0"
  int number = 0;                 ///< for use_device()
  int place_on_bus = 0;           ///< >= 0, of no other device of the machine
};

/// True if this program was compiled with CUDA kernels.
bool built_with_cuda();

/// GPUs that can be used; 0 without a driver, a GPU or a build with CUDA.
int device_count();

/// Why device_count() is 0, for a message; empty if it is not.
std::string why_no_device();

/// Throws DeviceError if the device is missing, older than compute capability 8.0, or if the driver is
/// older than the runtime.
void use_device(int device);
DeviceProperties device_properties();

/// Bytes of device memory that are free now.
std::int64_t free_device_bytes();

/// Throws DeviceError with both figures if `bytes` more do not fit.
void require_device_bytes(std::int64_t bytes, const std::string &what_for);

namespace device
{
  void *allocate(std::size_t bytes);
  void release(void *pointer) noexcept;
  /// Whether kernels reach what it points to without a copy: memory of the device, or managed memory.
  bool is_device_pointer(const void *pointer);
  void to_device(void *to, const void *from, std::size_t bytes, Stream stream);
  void to_host(void *to, const void *from, std::size_t bytes, Stream stream);
  void copy(void *to, const void *from, std::size_t bytes, Stream stream);
  /// `rows` times `bytes`, whose beginnings are as many bytes apart as the pitches say.
  void copy_rows(void *to, std::size_t to_pitch, const void *from, std::size_t from_pitch,
      std::size_t bytes, std::size_t rows, Stream stream);
  /// Every byte of the range becomes `value`.
  void fill_bytes(void *to, int value, std::size_t bytes, Stream stream);
  /// Waits for all work of the stream; throws what went wrong in it.
  void synchronize(Stream stream);
  /// A stream whose work does not wait for the default stream.
  CUstream_st *create_stream();
  void destroy_stream(CUstream_st *stream) noexcept;
  Event create_event();
  void destroy_event(Event event) noexcept;
  /// The event is the end of what has been queued so far.
  void record(Event event, Stream stream);
  /// What is queued from here on waits for the event.
  void wait_for(Event event, Stream stream);
  /// Between two events that have come to pass.
  double milliseconds(Event begin, Event end);
  /// Host memory that kernels may read and write.
  void *allocate_pinned(std::size_t bytes);
  void release_pinned(void *pointer) noexcept;
  /// From here on what is queued in the stream is recorded, not run.
  void begin_recording(Stream stream);
  Graph end_recording(Stream stream);
  /// After an error: forgets what has been recorded.
  void discard_recording(Stream stream) noexcept;
  void launch(Graph graph, Stream stream);
  void destroy_graph(Graph graph) noexcept;
} // namespace device

/// For arrays whose every number is written before it is read.
struct Unset
{};

/// Owning array in device memory, zero-initialised. Storage order of what it holds is that of the host.
template <typename T>
class DeviceArray
{
public:
  DeviceArray() = default;
  /// The zeros are queued in `stream`: work in other streams must wait for it.
  explicit DeviceArray(std::int64_t size, Stream stream = nullptr)
    : size_(size)
    , data_(static_cast<T *>(size > 0 ? device::allocate(size * sizeof(T)) : nullptr))
  {
    if (size > 0)
      device::fill_bytes(data_, 0, size * sizeof(T), stream);
  }
  /// Contents are undefined.
  DeviceArray(std::int64_t size, Unset)
    : size_(size)
    , data_(static_cast<T *>(size > 0 ? device::allocate(size * sizeof(T)) : nullptr))
  {}
  DeviceArray(DeviceArray &&other) noexcept { swap(other); }
  DeviceArray &operator=(DeviceArray &&other) noexcept
  {
    swap(other);
    return *this;
  }
  DeviceArray(const DeviceArray &) = delete;
  DeviceArray &operator=(const DeviceArray &) = delete;
  ~DeviceArray() { device::release(data_); }

  T *data() { return data_; }
  const T *data() const { return data_; }
  std::int64_t size() const { return size_; }

  void copy_from_host(const T *from, Stream stream = nullptr)
  {
    device::to_device(data_, from, size_ * sizeof(T), stream);
  }
  /// Waits for the stream: the numbers are there on return.
  void copy_to_host(T *to, Stream stream = nullptr) const
  {
    device::to_host(to, data_, size_ * sizeof(T), stream);
    device::synchronize(stream);
  }

private:
  void swap(DeviceArray &other) noexcept
  {
    std::swap(size_, other.size_);
    std::swap(data_, other.data_);
  }

  std::int64_t size_ = 0;
  T *data_ = nullptr;
};

/// Owning array in host memory that kernels may write: for results that the host reads after
/// device::synchronize(). Not initialised.
template <typename T>
class PinnedArray
{
public:
  explicit PinnedArray(std::int64_t size)
    : size_(size)
    , data_(static_cast<T *>(device::allocate_pinned(size * sizeof(T))))
  {}
  ~PinnedArray() { device::release_pinned(data_); }
  PinnedArray(const PinnedArray &) = delete;
  PinnedArray &operator=(const PinnedArray &) = delete;

  T *data() { return data_; }
  const T *data() const { return data_; }
  std::int64_t size() const { return size_; }
  const T &operator[](std::int64_t i) const { return data_[i]; }

private:
  std::int64_t size_;
  T *data_;
};

/// A stream of its own; work in it does not wait for the default stream.
class OwnedStream
{
public:
  OwnedStream()
    : stream_(device::create_stream())
  {}
  ~OwnedStream() { device::destroy_stream(stream_); }
  OwnedStream(const OwnedStream &) = delete;
  OwnedStream &operator=(const OwnedStream &) = delete;
  Stream get() const { return {stream_, &hooks_}; }

private:
  CUstream_st *stream_;
  mutable LaunchHooks hooks_;
};

class OwnedEvent
{
public:
  OwnedEvent()
    : event_(device::create_event())
  {}
  ~OwnedEvent() { device::destroy_event(event_); }
  OwnedEvent(const OwnedEvent &) = delete;
  OwnedEvent &operator=(const OwnedEvent &) = delete;
  Event get() const { return event_; }

private:
  Event event_;
};

/// Work of a stream that is recorded once and then started as often as wanted by one call, which saves the
/// time of its many launches. All pointers and numbers are those of the recording.
class DeviceGraph
{
public:
  DeviceGraph() = default;
  ~DeviceGraph() { clear(); }
  DeviceGraph(const DeviceGraph &) = delete;
  DeviceGraph &operator=(const DeviceGraph &) = delete;

  bool is_recorded() const { return graph_ != nullptr; }

  /// Records what f() queues in `stream` (not the default stream) and nothing else: f() must not allocate
  /// device memory nor wait. Nothing runs.
  template <typename F>
  void record(Stream stream, F &&f)
  {
    clear();
    device::begin_recording(stream);
    try
    {
      f();
    }
    catch (...)
    {
      device::discard_recording(stream);
      throw;
    }
    graph_ = device::end_recording(stream);
  }

  void replay(Stream stream) const { device::launch(graph_, stream); }

  void clear()
  {
    if (graph_ != nullptr)
      device::destroy_graph(graph_);
    graph_ = nullptr;
  }

private:
  Graph graph_ = nullptr;
};

/// Time between two points of a stream.
class DeviceTimer
{
public:
  void start(Stream stream = nullptr);
  /// Waits; milliseconds since start().
  double stop(Stream stream = nullptr);

private:
  OwnedEvent begin_, end_;
};
} // namespace tensormg
