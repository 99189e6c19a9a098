#include "kernels/device/meters/launch_profile.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace tensormg
{
LaunchProfile::LaunchProfile(Stream stream, int section)
  : stream_(stream)
  , section_(section)
{
  if (stream.hooks() == nullptr || stream.profile() != nullptr)
    throw std::logic_error("a profile is of a stream with hooks that has none yet");
  stream.hooks()->profile = this;
}

LaunchProfile::~LaunchProfile()
{
  if (stream_.profile() == this)
    stream_.hooks()->profile = nullptr;
}

std::unique_ptr<OwnedEvent> LaunchProfile::mark() const
{
  auto event = std::make_unique<OwnedEvent>();
  device::record(event->get(), stream_);
  return event;
}

std::string LaunchProfile::name_of(const Launch &launch) const
{
  if (launch.call < 0)
    return launch.kernel;
  const Call &call = calls_[static_cast<std::size_t>(launch.call)];
  return *call.how == '\0' ? call.name : std::string(call.name) + " (" + call.how + ')';
}

void LaunchProfile::before() { launches_.push_back({section_, call_now_, "", mark(), nullptr}); }

void LaunchProfile::after(const char *kernel)
{
  launches_.back().kernel = kernel;
  launches_.back().end = mark();
}

std::vector<ProfileEntry> LaunchProfile::stop()
{
  if (stream_.profile() == this)
    stream_.hooks()->profile = nullptr;
  device::synchronize(stream_);
  std::vector<ProfileEntry> entries;
  std::vector<int> last_calls; // by entry
  for (const Launch &launch : launches_)
  {
    if (!launch.end)
      continue; // the launch failed
    const std::string name = name_of(launch);
    const auto found = std::find_if(entries.begin(), entries.end(),
        [&](const ProfileEntry &e) { return e.section == launch.section && e.operation == name; });
    const auto at = static_cast<std::size_t>(found - entries.begin());
    if (found == entries.end())
    {
      entries.push_back({launch.section, name});
      last_calls.push_back(-1);
    }
    ProfileEntry &entry = entries[at];
    ++entry.launches;
    entry.seconds += 1e-3 * device::milliseconds(launch.begin->get(), launch.end->get());
    if (launch.call < 0 || launch.call != last_calls[at])
    {
      ++entry.calls;
      entry.bytes += launch.call < 0 ? 0. : calls_[static_cast<std::size_t>(launch.call)].bytes;
    }
    last_calls[at] = launch.call;
  }
  launches_.clear();
  calls_.clear();
  std::stable_sort(entries.begin(), entries.end(),
      [](const ProfileEntry &a, const ProfileEntry &b) { return a.section < b.section; });
  return entries;
}

void ProfiledOperation::begin(double bytes, const char *name, const char *how)
{
  outer_ = profile_->call_now_;
  profile_->call_now_ = static_cast<int>(profile_->calls_.size());
  profile_->calls_.push_back({name, how, bytes});
}
} // namespace tensormg
