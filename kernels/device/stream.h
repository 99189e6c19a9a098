// A queue of work on a device, and what happens around its launches.
#pragma once

#include <cstddef>

struct CUstream_st;

namespace tensormg
{
class LaunchProfile;

/// Belongs to who made the stream; read by launch().
struct LaunchHooks
{
  int loadings = 0;                 ///< objects of KernelLoading that live
  LaunchProfile *profile = nullptr; ///< that times every launch, if there is one
};

/// A CUDA stream; nullptr is the default stream, around whose launches nothing happens.
class Stream
{
public:
  constexpr Stream(std::nullptr_t = nullptr) {}
  constexpr Stream(CUstream_st *handle, LaunchHooks *hooks = nullptr)
    : handle_(handle)
    , hooks_(hooks)
  {}
  constexpr operator CUstream_st *() const { return handle_; }

  constexpr LaunchHooks *hooks() const { return hooks_; }
  /// Whether launch() loads kernels instead of starting them (KernelLoading).
  constexpr bool only_loads_kernels() const { return hooks_ != nullptr && hooks_->loadings > 0; }
  /// nullptr: launches are not timed.
  constexpr LaunchProfile *profile() const { return hooks_ != nullptr ? hooks_->profile : nullptr; }

private:
  CUstream_st *handle_ = nullptr;
  LaunchHooks *hooks_ = nullptr;
};
} // namespace tensormg
