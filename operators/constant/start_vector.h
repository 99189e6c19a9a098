// Fixed vectors without a structure, for estimates of eigenvalues.
#pragma once

#include "operators/mesh/grid.h"
#include "operators/vectors/context.h"

namespace tensormg
{
/// Entries of [-1, 1] that depend on the global position alone, so that every partition starts alike.
Vector<double> pseudo_random_vector(const LevelGrid &level, const HostContext &context = {});
/// Its numbers in device memory.
DeviceVector<double> pseudo_random_vector(const LevelGrid &level, const DeviceContext &context);
} // namespace tensormg
