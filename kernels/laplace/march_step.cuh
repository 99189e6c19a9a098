// Keeping the blocks of a marching kernel close to each other.
#pragma once

#include "kernels/core/launch.cuh"

namespace tensormg::laplace
{
/// Keeps the blocks within `lag` layers of each other, so that halos are read from the L2 cache. Only a
/// matter of speed: a wait gives up after a bounded number of looks. One thread per block uses it.
/// `progress`: two counters that are zero before and after the launch; nullptr: nobody waits.
class InStep
{
public:
  /// longest: layers of the block that has the most.
  __device__ InStep(unsigned *progress, int longest)
    : progress_(progress)
    , longest_(longest)
    , give_up_(progress == nullptr)
  {}

  __device__ void begin_layer()
  {
    if (give_up_)
      return;
    constexpr int lag = 1, looks = 20000;
    volatile unsigned *seen = progress_;
    atomicAdd(progress_, 1u);
    const long needed = long(++begun_ - lag) * gridDim.x;
    for (int look = 0; !give_up_ && needed > 0 && long(*seen) < needed; ++look)
      give_up_ = look == looks;
  }

  /// After the last layer.
  __device__ void end()
  {
    if (progress_ == nullptr)
      return;
    atomicAdd(progress_, unsigned(longest_ - begun_));
    __threadfence();
    if (atomicAdd(progress_ + 1, 1u) == gridDim.x - 1)
      progress_[0] = progress_[1] = 0; // all others are past their last look or have given up
  }

private:
  unsigned *progress_;
  int longest_;
  int begun_ = 0;
  bool give_up_;
};
} // namespace tensormg::laplace
