// What the kernels of class `stencil` work on, and how their results are checked.
#pragma once

#include <cstdint>
#include <functional>

#include "kernels/stencil/stencil.h"

namespace tensormg::diagnose
{
using stencil::Grid;
using stencil::Stencil;

struct StencilProblem
{
  Stencil stencil;
  Grid grid;
  int depth; ///< steps of one run
  bool past_caches;
};

/// Entry i of the input: random.
double stencil_input(std::int64_t i);

/// Copies entries [first, first + count) of a result to host memory.
template <typename Number>
using Fetch = std::function<void(std::int64_t first, std::int64_t count, Number *to)>;

/// The largest difference from the reference on boxes at all corners, in the middle of sides and faces and in
/// the middle; infinite if any entry at all is not finite.
template <typename Number>
double stencil_error(const StencilProblem &problem, const Fetch<Number> &fetch);
} // namespace tensormg::diagnose
