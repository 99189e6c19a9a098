// The device in a build without CUDA: there is none, and what needs one throws DeviceError that says why. With CUDA, the
// files *.cu of this folder take its place. Kernels need nothing of this kind (cuda_function.h).
#if !defined(TENSORMG_HAVE_CUDA)

#include "kernels/device/device.h"
#include "kernels/device/device_reservation.h"

namespace tensormg
{
namespace
{
  [[noreturn]] void refuse() { throw DeviceError("no device: " + why_no_device()); }
} // namespace

bool built_with_cuda() { return false; }
int device_count() { return 0; }
std::string why_no_device()
{
  return "this program was built without CUDA (configure with -DTENSORMG_CUDA=ON)";
}
void use_device(int) { refuse(); }
DeviceProperties device_properties() { refuse(); }
std::int64_t free_device_bytes() { refuse(); }
void require_device_bytes(std::int64_t, const std::string &) { refuse(); }

namespace device
{
  void *allocate(std::size_t) { refuse(); }
  void release(void *) noexcept {}
  bool is_device_pointer(const void *) { refuse(); }
  void to_device(void *, const void *, std::size_t, Stream) { refuse(); }
  void to_host(void *, const void *, std::size_t, Stream) { refuse(); }
  void copy(void *, const void *, std::size_t, Stream) { refuse(); }
  void copy_rows(void *, std::size_t, const void *, std::size_t, std::size_t, std::size_t, Stream)
  {
    refuse();
  }
  void fill_bytes(void *, int, std::size_t, Stream) { refuse(); }
  void synchronize(Stream) { refuse(); }
  CUstream_st *create_stream() { refuse(); }
  void destroy_stream(CUstream_st *) noexcept {}
  Event create_event() { refuse(); }
  void destroy_event(Event) noexcept {}
  void record(Event, Stream) { refuse(); }
  void wait_for(Event, Stream) { refuse(); }
  double milliseconds(Event, Event) { refuse(); }
  void *allocate_pinned(std::size_t) { refuse(); }
  void release_pinned(void *) noexcept {}
  void begin_recording(Stream) { refuse(); }
  Graph end_recording(Stream) { refuse(); }
  void discard_recording(Stream) noexcept {}
  void launch(Graph, Stream) { refuse(); }
  void destroy_graph(Graph) noexcept {}
} // namespace device

DeviceReservation::DeviceReservation(std::int64_t) {}

void DeviceTimer::start(Stream) { refuse(); }
double DeviceTimer::stop(Stream) { refuse(); }
} // namespace tensormg

#endif
