// Times of all operations of a stretch of work in a stream, by events, beside the bytes that they have to move.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/device/device.h"

namespace tensormg
{
/// What was launched for one operation in one section.
struct ProfileEntry
{
  int section = 0;
  std::string operation; ///< a launch outside of operations has what it is called in error messages
  int calls = 0;
  int launches = 0;
  double seconds =
      0.; ///< from event to event, with the two or three microseconds that a launch needs
  double bytes = 0.; ///< of all calls; 0 if nobody said
};

/// While an object of this class lives, every launch in its stream is timed; nothing may be recorded as a graph meanwhile.
/// Without it a launch costs one comparison more.
class LaunchProfile
{
public:
  /// The first section. A stream with hooks (OwnedStream) that has no profile yet.
  LaunchProfile(Stream stream, int section);
  ~LaunchProfile();
  LaunchProfile(const LaunchProfile &) = delete;
  LaunchProfile &operator=(const LaunchProfile &) = delete;

  /// What follows belongs to this section, e.g. a level.
  void enter(int section) { section_ = section; }
  /// Waits for the stream; sorted by section, then in the order of the first launch. Ends the profile.
  std::vector<ProfileEntry> stop();

  /// Around a launch.
  void before();
  void after(const char *kernel);

private:
  friend class ProfiledOperation;

  /// One call of an operation.
  struct Call
  {
    const char *name, *how;
    double bytes;
  };
  struct Launch
  {
    int section;
    int call; ///< in calls_; -1 outside of operations
    const char *kernel;
    std::unique_ptr<OwnedEvent> begin, end;
  };

  std::unique_ptr<OwnedEvent> mark() const;
  std::string name_of(const Launch &launch) const;

  Stream stream_;
  std::vector<Call> calls_;
  std::vector<Launch> launches_;
  int section_;
  int call_now_ = -1;
};

/// While it lives, launches of the stream belong to this operation: to the innermost one.
class ProfiledOperation
{
public:
  /// `bytes`: what a call has to move, each vector read or written once by each launch that takes it. `how`: e.g. the
  /// backend. Both texts must live as long as the profile.
  ProfiledOperation(Stream stream, double bytes, const char *name, const char *how = "")
    : profile_(stream.profile())
  {
    if (profile_ != nullptr)
      begin(bytes, name, how);
  }
  ~ProfiledOperation()
  {
    if (profile_ != nullptr)
      profile_->call_now_ = outer_;
  }
  ProfiledOperation(const ProfiledOperation &) = delete;
  ProfiledOperation &operator=(const ProfiledOperation &) = delete;

private:
  void begin(double bytes, const char *name, const char *how);

  LaunchProfile *profile_;
  int outer_ = 0; ///< number of the operation around this one
};
} // namespace tensormg
