// `tensormg solve`: from parameters to a solution, its record and its files.
#pragma once

#include <functional>
#include <vector>

#include <mpi.h>

#include "apps/common/console.h"
#include "apps/common/run_record.h"
#include "apps/parameters/parameters.h"

namespace tensormg
{
/// f with the communicator of solves: that of the first rank alone where each rank has a GPU but the problem is not divided among them, and
/// otherwise `all`. `solves`: all of them, the largest first; of the others those count that GPUs would divide. Its exit code, or what it throws, on
/// all ranks. Collective.
int with_ranks_of_solves(const std::vector<Parameters> &solves, MPI_Comm all, Console &console,
    const std::function<int(MPI_Comm)> &f);

/// Solves the problem and writes what output.* asks for; also an iteration that did not converge
/// ends in a record with files, and only record.report says so. Collective.
///
/// Throws ParameterError before the solve for data that cannot be used: a directory that cannot be
/// written, too little memory, fluxes that do not balance, combinations that do not exist.
RunRecord run_solve(const Parameters &parameters, MPI_Comm communicator, Console &console);

/// What run_solve() does before the solve, with all it says and refuses, and the files that it would write, for the user.
/// Nothing is solved, and no file created, changed or removed. Collective.
void dry_run_solve(const Parameters &parameters, MPI_Comm communicator, Console &console);

/// The program after its parameters: run_solve(), and the exit code of how it ended.
int solve_program(const Parameters &parameters, MPI_Comm all, Console &console);

/// The same for dry_run_solve(): 0, if that does not throw.
int dry_run_program(const Parameters &parameters, MPI_Comm all, Console &console);
} // namespace tensormg
