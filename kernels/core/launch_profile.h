// Times of all kernels of a stretch of work, by events. Off unless it is asked for: then a launch costs one
// comparison more.
#pragma once

#include <string>
#include <vector>

#include "kernels/core/device.h"

namespace tensormg::launch_profile
{
/// What was launched under one name in one section.
struct Entry
{
  int section = 0;
  std::string kernel; ///< the name that launch() got
  int launches = 0;
  double seconds =
      0.; ///< from event to event, with the two or three microseconds that a launch needs
};

/// Read by launch(); of the whole process, as the work of one thread is profiled.
inline bool is_on = false;

/// From here on every launch is timed, in section `first`. Nothing may be recorded as a graph meanwhile.
void start(int first);
/// What follows belongs to this section, e.g. a level.
void enter(int section);
/// Waits for the device. Empty without start(). Sorted by section, then in the order of the first launch.
std::vector<Entry> stop();

/// Around a launch.
void before(Stream stream);
void after(const char *kernel, Stream stream);
} // namespace tensormg::launch_profile
