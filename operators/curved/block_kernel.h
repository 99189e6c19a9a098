// The operator of a level of curved cells in one number type, in host or in device memory.
#pragma once

#include "kernels/core/wide_float.h"

namespace tensormg
{
/// dst = A src; with b: b - A src; with inverse_diagonal, too: the step of kernels/laplace/pointwise/pointwise.h. nullptr: none.
template <typename Number>
struct BlockStep
{
  const Number *src = nullptr;
  Number *dst = nullptr;
  const Number *b = nullptr;
  const Compute<Number> *inverse_diagonal = nullptr;
  const Number *old = nullptr;
  Compute<Number> theta{}, alpha{};
};

/// The arguments of a kernel for a step; all else in `fixed` stays.
template <typename Arguments, typename Number>
Arguments with_step(Arguments fixed, const BlockStep<Number> &step)
{
  fixed.src = step.src;
  fixed.dst = step.dst;
  fixed.b = step.b;
  fixed.inverse_diagonal = step.inverse_diagonal;
  fixed.old = step.old;
  fixed.theta = step.theta;
  fixed.alpha = step.alpha;
  return fixed;
}

/// A of a level, with the memory that it needs. run() is collective over the ranks of the level; in device memory it is queued in a stream.
template <typename Number>
class BlockKernel
{
public:
  BlockKernel() = default;
  BlockKernel(const BlockKernel &) = delete;
  BlockKernel &operator=(const BlockKernel &) = delete;
  virtual ~BlockKernel() = default;
  virtual void run(const BlockStep<Number> &step) = 0;
};
} // namespace tensormg
