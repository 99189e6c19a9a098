// `tensormg compare --solve`: one problem solved in every combination of degree, backend, precision, outer
// method and smoother, side by side.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include <mpi.h>

#include "apps/common/console.h"
#include "apps/common/run_record.h"
#include "apps/parameters/parameters.h"

namespace tensormg
{
struct SolveEntry
{
  Parameters parameters;           ///< of this solve
  std::optional<RunRecord> record; ///< of the fastest repetition; nothing if there is no such solve
  std::string reason;              ///< why there is none, or what is wrong with it
  int repetitions = 0;
  double slowest_seconds = 0.;
};

/// Largest relative difference of the L2 errors of one degree, of entries that converged, apart from what the
/// end of the iteration leaves of them (RunRecord::algebraic_l2_error).
inline constexpr double l2_agreement = 1e-3;
/// How many times the L2 error of another backend may be that of a backend: both may have reached the rounding errors
/// of FP64, which are theirs.
inline constexpr double backend_agreement = 1.5;

/// Every combination in the order of the lists, on the refinement of the coarse cells whose number of unknowns
/// comes nearest to compare.dofs; each repeated compare.repetitions times or until
/// compare.max_seconds have passed. Shows each as soon as it is there. Collective.
std::vector<SolveEntry> run_solves(
    const Parameters &parameters, MPI_Comm communicator, Console &console);

/// Gives a reason to entries that did not converge or whose L2 error is not that of the first entry with
/// the same degree and cells.
void check_solves(std::vector<SolveEntry> &entries);

/// {"date", "command", "entries": [{choice, "repetitions", "run": the object of run.json or null, "reason"}]}
void write_solves_json(const std::vector<SolveEntry> &entries, const std::string &date,
    const std::string &command, std::ostream &out);

/// The program after its parameters: the comparison, compare_solve.json, and the exit code:
/// exit_check_failed if check_solves() found something, exit_unexpected if nothing could be solved.
int compare_solves(const Parameters &parameters, MPI_Comm communicator, Console &console);
} // namespace tensormg
