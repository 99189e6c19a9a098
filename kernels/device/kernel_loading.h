// Kernels are loaded to the device when they are launched first, which takes longer than most launches.
#pragma once

namespace tensormg
{
/// While an object of this class lives, launch() loads kernels instead of starting them in the thread that made it: what
/// a stretch of work needs is then there, and nothing was computed. Everything else is done as always: copies,
/// libraries, other launches' attributes.
class KernelLoading
{
public:
  KernelLoading() { ++depth_; }
  ~KernelLoading() { --depth_; }
  KernelLoading(const KernelLoading &) = delete;
  KernelLoading &operator=(const KernelLoading &) = delete;

  static bool is_on() { return depth_ > 0; }

private:
  static inline thread_local int depth_ = 0;
};

/// Loads a kernel, if this has not been done before; counts as the part "kernels" of the setup.
void load_kernel(const void *kernel);
} // namespace tensormg
