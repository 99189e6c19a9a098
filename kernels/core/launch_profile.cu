#include "kernels/core/launch_profile.h"

#include <algorithm>
#include <memory>

#include <cuda_runtime.h>

#include "kernels/core/cuda_check.h"

namespace tensormg::launch_profile
{
namespace
{
  struct Launch
  {
    int section;
    const char *kernel;
    std::unique_ptr<OwnedEvent> begin, end;
  };

  std::vector<Launch> launches;
  int section_now = 0;

  std::unique_ptr<OwnedEvent> mark(Stream stream)
  {
    auto event = std::make_unique<OwnedEvent>();
    check_cuda(cudaEventRecord(event->get(), stream), "recording an event");
    return event;
  }
} // namespace

void start(int first)
{
  launches.clear();
  section_now = first;
  is_on = true;
}

void enter(int section) { section_now = section; }

void before(Stream stream) { launches.push_back({section_now, "", mark(stream), nullptr}); }

void after(const char *kernel, Stream stream)
{
  launches.back().kernel = kernel;
  launches.back().end = mark(stream);
}

std::vector<Entry> stop()
{
  if (!is_on)
    return {};
  is_on = false;
  check_cuda(cudaDeviceSynchronize(), "waiting for the device");
  std::vector<Entry> entries;
  for (const Launch &launch : launches)
  {
    if (!launch.end)
      continue; // the launch failed
    float milliseconds = 0.f;
    check_cuda(cudaEventElapsedTime(&milliseconds, launch.begin->get(), launch.end->get()),
        "reading a time");
    auto entry = std::find_if(entries.begin(), entries.end(),
        [&](const Entry &e) { return e.section == launch.section && e.kernel == launch.kernel; });
    if (entry == entries.end())
      entry = entries.insert(entries.end(), {launch.section, launch.kernel, 0, 0.});
    ++entry->launches;
    entry->seconds += 1e-3 * milliseconds;
  }
  launches.clear();
  std::stable_sort(entries.begin(), entries.end(),
      [](const Entry &a, const Entry &b) { return a.section < b.section; });
  return entries;
}
} // namespace tensormg::launch_profile
