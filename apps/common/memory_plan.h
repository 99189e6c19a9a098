// What a solve will hold in memory, refused where the machine has less.
#pragma once

#include "operators/mesh/grid.h"
#include "operators/solver/memory_plan.h"
#include "tensormg/options.h"

namespace tensormg
{
/// Does nothing if the plan fits; otherwise throws ParameterError that says what is needed, what is
/// there, how many refinements fit, and which parameters would help. `kept`: bytes of the plan of each rank that are in use. Collective.
void check_memory(const Grid &grid, const SolverOptions &options, double available,
    MemoryPlace place = MemoryPlace::host, double kept = 0.);
} // namespace tensormg
