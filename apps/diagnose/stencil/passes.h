// How many steps of a stencil each pass through memory takes.
#pragma once

#include <vector>

#include "kernels/diagnostics/stencil/stencil.h"

namespace tensormg::diagnose
{
/// `depth` steps in as few passes as possible, of about the same number of steps, none of more than `most`.
std::vector<int> even_passes(int depth, int most);
/// The largest number of steps that fits, of those that halving `most`, a power of two, leads to, until `depth` are done.
std::vector<int> halved_passes(int depth, int most);
/// Steps that some kernel of the device does in one pass at most.
int largest_device_pass(const stencil::Shape &shape);
} // namespace tensormg::diagnose
