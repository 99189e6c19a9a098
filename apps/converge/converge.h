// `tensormg converge`: errors on a sequence of grids, the observed orders, and whether they are right.
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
/// The solves of one degree, coarsest grid first.
struct DegreeStudy
{
  int degree = 1;
  std::vector<RunRecord> runs;
};

/// An observed order that is too low.
struct MissedOrder
{
  int degree = 1;
  std::string norm; ///< "L2" or "gradient"
  double measured = 0.;
  double expected = 0.;
  std::vector<double> orders{}; ///< all that are known, coarsest pair of grids first

  /// As on grids that are too coarse to show the order: from each pair to the next it is higher.
  bool is_rising() const;
};

/// Errors relative to the size of the solution below which rounding, not the mesh, determines them.
inline constexpr double rounding_floor = 1e-11;
/// An error of the mesh is larger by this factor than what the end of the iteration contributes.
inline constexpr double algebraic_margin = 10.;

struct Study
{
  Parameters parameters;
  std::vector<DegreeStudy> degrees;
  double solution_norm = 1.; ///< L2 norm of the exact solution
  double gradient_norm = 1.; ///< L2 norm of its gradient, if the gradient is given

  /// Without an exact solution errors are differences to the solution of the same degree on cells of half the size, and norms are those of the finest solution.
  bool has_exact_solution() const { return !parameters.problem.exact_solution.empty(); }
};

/// log2 of the ratio of the errors, for refinements that differ by `refinements`.
double observed_order(double coarse_error, double fine_error, int refinements);

/// The first degree whose order on the finest pair of grids, of those whose errors are due to the
/// mesh (and not to rounding or to the tolerance of the solver), is lower than degree + 1 (L2) or degree (gradient) by more than the tolerance.
/// A degree without such a pair is not judged, see unjudged_degrees().
std::optional<MissedOrder> find_missed_order(const Study &study);

/// What was missed, what may be the reason, and how to go on.
std::string missed_order_text(
    const MissedOrder &missed, const ConvergeOptions &options, bool has_exact_solution = true);

/// The degrees of which no L2 order is known.
std::vector<int> unjudged_degrees(const Study &study);

/// The tables for the screen, one per degree.
std::string study_text(const Study &study);
/// One line per solve.
void write_study_csv(const Study &study, std::ostream &out);
void write_study_json(const Study &study, std::ostream &out);

/// Solves for all pairs of degrees and refinements, and without an exact solution, which curved cells permit, also for one refinement more than each; each solve leaves its record in a directory of
/// its own below output.directory/runs. Stops at the first that does not converge. Collective.
Study run_study(const Parameters &parameters, MPI_Comm communicator, Console &console);

/// The program after its parameters: the study, converge.csv and converge.json, and the exit code:
/// that of a failed solve, exit_order_missed, or 0.
int converge_program(const Parameters &parameters, MPI_Comm all, Console &console);
} // namespace tensormg
