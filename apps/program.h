// What the programs share: their command line, MPI, and how errors become messages and exit codes.
#pragma once

#include <functional>
#include <string>

#include <mpi.h>

#include "apps/console.h"
#include "apps/parameters.h"

namespace tensormg
{
/// Exit codes that are no ending of a solve (those are in solvers/report.h).
enum ExitCode : int
{
  exit_unexpected = 1,
  exit_parameters = 2,
  exit_order_missed = 7,
  exit_check_failed = 8
};

struct Program
{
  std::string name;        ///< as the user types it
  std::string description; ///< one sentence for --help
  /// Gets checked parameters; its value is the exit code.
  std::function<int(const Parameters &, MPI_Comm, Console &)> run;
};

/// main() of a program: initialises MPI, reads the command line
///   PARAMETER_FILE --set SECTION.KEY=VALUE ... --quiet | --verbose --print-parameters --version
/// and runs. Every exception ends in one line "tensormg: error: ..." and an exit code; if only some
/// ranks fail, they end the others.
int run_program(int argc, char **argv, const Program &program);
} // namespace tensormg
