// What the classes of the library share: where they run, which nodes they have, how they refuse.
#pragma once

#include <stdexcept>
#include <vector>

#include <mpi.h>

#include "operators/solver/memory_plan.h"
#include "tensormg/solver.h"

namespace tensormg
{
/// Begins MPI where nobody has, to be ended at exit.
MPI_Comm communicator_of(const Execution &execution);

/// n nodes of [0, 1], ascending.
std::vector<double> line_nodes(Nodes nodes, int n);

/// f(); what is said about functions and options are words about arguments of the library.
template <typename F>
auto with_argument_errors(const F &f)
{
  try
  {
    return f();
  }
  catch (const std::invalid_argument &error)
  {
    throw ArgumentError(error.what());
  }
}

/// Throws MemoryError if it does not fit. `needed_for`: as in "4096 unknowns need".
void require(const MemoryBudget &budget, const std::string &needed_for, const std::string &memory);
} // namespace tensormg
