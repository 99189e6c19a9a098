// `tensormg solve` on curved cells.
#pragma once

#include <functional>

#include <mpi.h>

#include "apps/common/console.h"
#include "apps/common/run_record.h"
#include "apps/parameters/parameters.h"
#include "operators/data/errors.h"
#include "operators/pointwise/block_levels.h"
#include "operators/pointwise/block_problem.h"
#include "operators/vectors/vector.h"

namespace tensormg
{
/// What else is made of a solution, if it is finite. Collective.
using UseOfBlocks = std::function<void(
    const BlockProblem &problem, const BlockLevels &levels, const Vector<double> &u)>;

/// As run_solve() and dry_run_solve() (apps/solve/solve.h), for parameters with another mesh than a box.
RunRecord run_solve_on_blocks(const Parameters &parameters, MPI_Comm communicator, Console &console,
    const UseOfBlocks &use = {});
/// The errors of u = 0: the norms of the exact solution and its gradient, on the cells of these parameters.
Errors errors_of_zero_on_blocks(const Parameters &parameters);
void dry_run_on_blocks(const Parameters &parameters, MPI_Comm communicator, Console &console);
} // namespace tensormg
