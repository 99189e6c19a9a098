// Times of all operations of a stretch of work on a device, by events, beside the bytes that they have to move. Off
// unless it is asked for: then a launch and an operation cost one comparison more.
#pragma once

#include <string>
#include <vector>

#include "kernels/device/device.h"

namespace tensormg::launch_profile
{
/// What was launched for one operation in one section.
struct Entry
{
  int section = 0;
  std::string operation; ///< a launch outside of operations has what it is called in error messages
  int calls = 0;
  int launches = 0;
  double seconds =
      0.; ///< from event to event, with the two or three microseconds that a launch needs
  double bytes = 0.; ///< of all calls; 0 if nobody said
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

/// While it lives, launches belong to this operation: to the innermost one.
class Operation
{
public:
  /// `bytes`: what a call has to move, each vector read or written once by each launch that takes it. `how`: e.g. the
  /// backend. Both texts must live until stop().
  explicit Operation(double bytes, const char *name, const char *how = "")
  {
    if (is_on)
      begin(bytes, name, how);
  }
  ~Operation()
  {
    if (began_)
      end();
  }
  Operation(const Operation &) = delete;
  Operation &operator=(const Operation &) = delete;

private:
  void begin(double bytes, const char *name, const char *how);
  void end();

  bool began_ = false;
  int outer_ = 0; ///< number of the operation around this one
};
} // namespace tensormg::launch_profile
