// `tensormg solve` on curved cells, in host memory.
#pragma once

#include <mpi.h>

#include "apps/common/console.h"
#include "apps/common/run_record.h"
#include "apps/parameters/parameters.h"
#include "operators/data/errors.h"

namespace tensormg
{
/// As run_solve() and dry_run_solve() (apps/solve/solve.h), for parameters with another mesh than a box.
RunRecord run_solve_on_blocks(
    const Parameters &parameters, MPI_Comm communicator, Console &console);
/// The errors of u = 0: the norms of the exact solution and its gradient, on the cells of these parameters.
Errors errors_of_zero_on_blocks(const Parameters &parameters);
void dry_run_on_blocks(const Parameters &parameters, MPI_Comm communicator, Console &console);
} // namespace tensormg
