// Kernels are loaded to the device when they are launched first, which takes longer than most launches.
#pragma once

#include "kernels/device/stream.h"

namespace tensormg
{
/// While an object of this class lives, launch() loads kernels instead of starting them in this stream: what a stretch of
/// work needs is then there, and nothing was computed. Everything else is done as always: copies, libraries. In the default
/// stream kernels run.
class KernelLoading
{
public:
  explicit KernelLoading(Stream stream)
    : hooks_(stream.hooks())
  {
    if (hooks_ != nullptr)
      ++hooks_->loadings;
  }
  ~KernelLoading()
  {
    if (hooks_ != nullptr)
      --hooks_->loadings;
  }
  KernelLoading(const KernelLoading &) = delete;
  KernelLoading &operator=(const KernelLoading &) = delete;

private:
  LaunchHooks *hooks_;
};

/// Loads a kernel, if this has not been done before; counts as the part "kernels" of the setup.
void load_kernel(const void *kernel);
} // namespace tensormg
