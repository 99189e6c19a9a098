#include "kernels/device/launch_profile.h"

#include <algorithm>
#include <memory>

#include <cuda_runtime.h>

#include "kernels/device/cuda_check.h"

namespace tensormg::launch_profile
{
namespace
{
  /// One call of an operation.
  struct Call
  {
    const char *name, *how;
    double bytes;
  };

  struct Launch
  {
    int section;
    int call; ///< in `calls`; -1 outside of operations
    const char *kernel;
    std::unique_ptr<OwnedEvent> begin, end;
  };

  std::vector<Call> calls;
  std::vector<Launch> launches;
  int section_now = 0;
  int call_now = -1;

  std::unique_ptr<OwnedEvent> mark(Stream stream)
  {
    auto event = std::make_unique<OwnedEvent>();
    check_cuda(cudaEventRecord(event->get(), stream), "recording an event");
    return event;
  }

  std::string name_of(const Launch &launch)
  {
    if (launch.call < 0)
      return launch.kernel;
    const Call &call = calls[static_cast<std::size_t>(launch.call)];
    return *call.how == '\0' ? call.name : std::string(call.name) + " (" + call.how + ')';
  }

  /// An entry in the making.
  struct Row
  {
    Entry entry;
    int last_call = -1;
  };
} // namespace

void start(int first)
{
  launches.clear();
  calls.clear();
  section_now = first;
  call_now = -1;
  is_on = true;
}

void enter(int section) { section_now = section; }

void before(Stream stream)
{
  launches.push_back({section_now, call_now, "", mark(stream), nullptr});
}

void after(const char *kernel, Stream stream)
{
  launches.back().kernel = kernel;
  launches.back().end = mark(stream);
}

void Operation::begin(double bytes, const char *name, const char *how)
{
  outer_ = call_now;
  call_now = static_cast<int>(calls.size());
  calls.push_back({name, how, bytes});
  began_ = true;
}

void Operation::end() { call_now = outer_; }

std::vector<Entry> stop()
{
  if (!is_on)
    return {};
  is_on = false;
  check_cuda(cudaDeviceSynchronize(), "waiting for the device");
  std::vector<Row> rows;
  for (const Launch &launch : launches)
  {
    if (!launch.end)
      continue; // the launch failed
    float milliseconds = 0.f;
    check_cuda(cudaEventElapsedTime(&milliseconds, launch.begin->get(), launch.end->get()),
        "reading a time");
    const std::string name = name_of(launch);
    auto row = std::find_if(rows.begin(), rows.end(), [&](const Row &r) {
      return r.entry.section == launch.section && r.entry.operation == name;
    });
    if (row == rows.end())
      row = rows.insert(rows.end(), {{launch.section, name}});
    ++row->entry.launches;
    row->entry.seconds += 1e-3 * milliseconds;
    if (launch.call < 0 || launch.call != row->last_call)
    {
      ++row->entry.calls;
      row->entry.bytes += launch.call < 0 ? 0. : calls[static_cast<std::size_t>(launch.call)].bytes;
    }
    row->last_call = launch.call;
  }
  launches.clear();
  calls.clear();
  std::stable_sort(rows.begin(), rows.end(),
      [](const Row &a, const Row &b) { return a.entry.section < b.entry.section; });
  std::vector<Entry> entries;
  for (Row &row : rows)
    entries.push_back(std::move(row.entry));
  return entries;
}
} // namespace tensormg::launch_profile
