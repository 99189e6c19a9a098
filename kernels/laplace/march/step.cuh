// Keeping the blocks of a marching kernel close to each other.
#pragma once

#include <cstdint>

#include "kernels/device/launch.cuh"
#include "kernels/device/multiprocessor.cuh"

namespace tensormg::laplace
{
/// Keeps the blocks within a step (a layer, or part of one) of each other, so that halos are read from the L2 cache. Only a
/// matter of speed: a wait gives up after a bounded number of looks. One thread per block uses it.
/// `progress`: two counters that are zero before and after the launch; nullptr: nobody waits.
class InStep
{
public:
  /// longest: steps of the block that has the most.
  __device__ InStep(unsigned *progress, int longest)
    : progress_(progress)
    , longest_(longest)
    , give_up_(progress == nullptr)
  {}

  __device__ void begin_step()
  {
    if (give_up_)
      return;
    constexpr int looks = 20000;
    atomicAdd(progress_, 1u);
    const long needed = long(++begun_ - 1) * gridDim.x;
    for (int look = 0; !give_up_ && long(seen_) < needed && long(read()) < needed; ++look)
      give_up_ = look == looks;
  }

  /// Begins to read how far the others are: the next begin_step() does not wait for memory if that was far enough. Worth it where
  /// there is nothing else to do meanwhile that a load would hold up.
  __device__ void look_ahead()
  {
    if (progress_ != nullptr)
      seen_ = read();
  }

  /// After the last step.
  __device__ void end()
  {
    if (progress_ == nullptr)
      return;
    atomicAdd(progress_, unsigned(longest_ - begun_));
    __threadfence();
    if ((atomicAdd(progress_ + 1, 1u) & max_blocks) == gridDim.x - 1)
      progress_[0] = progress_[1] = 0; // all others are past their last look or have given up
  }

  /// The second counter: how many blocks have ended, and above them what take_worker() counts.
  static constexpr unsigned max_blocks = 2047, max_workers = 1023;
  static constexpr int first_worker_bit = 11, bits_of_workers = 10;

private:
  __device__ unsigned read() const { return *static_cast<volatile const unsigned *>(progress_); }

  unsigned *progress_;
  int longest_;
  int begun_ = 0;
  unsigned seen_ = 0;
  bool give_up_;
};

/// Gives every block (or cluster; called once for each) another number below `workers`. Neighbouring numbers have
/// neighbouring tiles; blocks near one half of L2 (l2_halves.h) have the first numbers and those near the other half the
/// last ones, so that tiles beside each other are read into the same half.
__device__ inline int take_worker(
    unsigned *progress, const std::uint8_t *l2_halves, int worker, int workers)
{
  if (progress == nullptr || l2_halves == nullptr)
    return worker;
  const bool second = l2_halves[multiprocessor()] != 0;
  const int bit = InStep::first_worker_bit + (second ? InStep::bits_of_workers : 0);
  const unsigned taken = atomicAdd(progress + 1, 1u << bit) >> bit & InStep::max_workers;
  return second ? workers - 1 - static_cast<int>(taken) : static_cast<int>(taken);
}
} // namespace tensormg::laplace
