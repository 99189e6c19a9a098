// What the programs share: their command line, MPI, and how errors become messages and exit codes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <mpi.h>

#include "apps/common/console.h"
#include "apps/parameters/parameters.h"

namespace tensormg
{
/// Exit codes that are no ending of a solve (those are in solvers/report.h).
enum ExitCode : int
{
  exit_unexpected = 1,
  exit_parameters = 2,
  exit_order_missed = 7,
  exit_check_failed = 8,
  exit_device_failed = 9
};

/// An option of one program that stands for a parameter.
struct Flag
{
  std::string name;        ///< as in "--quick"
  std::string setting;     ///< as in "diagnose.quick=true"
  std::string description; ///< for --help
};

struct Program
{
  std::string name;        ///< as the user types it
  std::string description; ///< one sentence for --help
  /// Gets checked parameters; its value is the exit code.
  std::function<int(const Parameters &, MPI_Comm, Console &)> run;

  std::vector<Flag> flags = {};
  /// Words that may stand beside the parameter file; together they are the value of words_parameter.
  std::vector<std::string> words = {};
  std::string words_parameter{};
  /// What holds if no file is given. Without these a file, or --set, is needed.
  std::vector<std::string> overrides_without_file = {};
  /// For --dry-run, which without it is no option: as `run` up to where work begins. It leaves all files as they are.
  std::function<int(const Parameters &, MPI_Comm, Console &)> dry_run = {};
};

/// MPI_Init for a main(). A screen that is gone, as in `... | head -1`, no longer ends the process: a run goes on without
/// one.
void begin_mpi();

/// main() of a program: initialises MPI, reads the command line
///   [WORD ...] PARAMETER_FILE [--FLAG ...] --set SECTION.KEY=VALUE ... --quiet | --verbose --dry-run --print-parameters [--all] --version
/// and runs. Every exception ends in one line "tensormg: error: ..." and an exit code; if only some
/// ranks fail, they end the others.
int run_program(int argc, char **argv, const Program &program);
} // namespace tensormg
