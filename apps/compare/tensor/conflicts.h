// Bank conflicts of the nodal kernels as their layouts predict them.
#pragma once

#include <optional>

#include "kernels/diagnostics/nodal/nodal.h"

namespace tensormg
{
/// Wavefronts of shared memory relative to the least possible. Nothing where the tensors are in registers, where
/// a library makes the accesses (wmma), and for tensor cores in 2D, which have no count.
std::optional<double> predicted_wavefronts(const nodal::Variant &variant, int dim, int n);
} // namespace tensormg
