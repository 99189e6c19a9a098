#include "apps/converge/converge.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <iomanip>
#include <limits>
#include <ostream>
#include <set>
#include <sstream>

#include <deal.II/base/convergence_table.h>
#include <nlohmann/json.hpp>

#include "apps/common/json_text.h"
#include "apps/common/output.h"
#include "apps/common/program.h"
#include "apps/common/report.h"
#include "apps/parameters/checks.h"
#include "apps/parameters/mesh.h"
#include "apps/parameters/text.h"
#include "apps/solve/blocks.h"
#include "apps/solve/solve.h"
#include "kernels/basis/make_cell_basis.h"
#include "operators/analysis/nested_difference.h"
#include "operators/data/errors.h"
#include "version.h"

namespace tensormg
{
namespace
{
  using Json = nlohmann::ordered_json;

  /// The size of the exact solution, if there is one, measured as the error of zero on a grid of the study.
  void measure_solution(Study &study, MPI_Comm communicator)
  {
    if (!study.has_exact_solution())
      return;
    Problem problem = study.parameters.problem;
    problem.degree = study.parameters.converge.degrees.back();
    problem.refinements = study.parameters.converge.refinements.front();
    const Errors errors = [&] {
      if (has_blocks(study.parameters))
      {
        Parameters parameters = study.parameters;
        parameters.problem = problem;
        return errors_of_zero_on_blocks(parameters);
      }
      const Grid grid = make_grid(problem, communicator);
      return compute_errors(problem, grid.finest(), make_cell_basis(problem.degree),
          Vector<double>(grid.finest().block));
    }();
    for (const auto &[norm, key] : {std::pair{errors.l2, "problem.exact_solution"},
             std::pair{errors.h1_seminorm, "problem.exact_gradient"}})
      if (!std::isfinite(norm))
        throw ParameterError(std::string(key) +
            " is infinite or not a number somewhere in the box: a convergence study needs errors");
    study.solution_norm = errors.l2;
    study.gradient_norm = errors.h1_seminorm;
  }

  /// One of the two errors of a run, and what it is compared with.
  struct Norm
  {
    const char *name;
    std::optional<double> RunRecord::*error;
    std::optional<double> RunRecord::*algebraic;
    double Study::*of_solution;
    int order_above_degree;
  };
  constexpr Norm l2{
      "L2", &RunRecord::l2_error, &RunRecord::algebraic_l2_error, &Study::solution_norm, 1};
  constexpr Norm gradient{
      "gradient", &RunRecord::h1_error, &RunRecord::algebraic_h1_error, &Study::gradient_norm, 0};

  bool is_rounding(const Study &study, const RunRecord &run, const Norm &norm)
  {
    return run.*norm.error && *(run.*norm.error) <= rounding_floor * study.*norm.of_solution;
  }

  bool is_tolerance(const RunRecord &run, const Norm &norm)
  {
    return run.*norm.error &&
        *(run.*norm.error) <= algebraic_margin * (run.*norm.algebraic).value_or(0.);
  }

  bool is_of_mesh(const Study &study, const RunRecord &run, const Norm &norm)
  {
    return run.*norm.error && !is_rounding(study, run, norm) && !is_tolerance(run, norm);
  }

  /// The order from run i - 1 to run i; nothing if an error is unknown or not due to the mesh.
  std::optional<double> order(
      const Study &study, const DegreeStudy &degree, std::size_t i, const Norm &norm)
  {
    if (i == 0)
      return std::nullopt;
    const RunRecord &coarse = degree.runs[i - 1], &fine = degree.runs[i];
    if (!is_of_mesh(study, coarse, norm) || !is_of_mesh(study, fine, norm))
      return std::nullopt;
    return observed_order(*(coarse.*norm.error), *(fine.*norm.error),
        fine.parameters.problem.refinements - coarse.parameters.problem.refinements);
  }

  /// What limits the errors of a run.
  std::string note(const Study &study, const RunRecord &run)
  {
    const bool rounding = is_rounding(study, run, l2) || is_rounding(study, run, gradient);
    const bool tolerance = is_tolerance(run, l2) || is_tolerance(run, gradient);
    return rounding ? "rounding" : tolerance ? "tolerance" : "mesh";
  }

  std::string rate_text(const std::optional<double> &rate)
  {
    if (!rate)
      return "-";
    std::ostringstream text;
    text << std::fixed << std::setprecision(2) << *rate;
    return text.str();
  }

  /// The study of one degree as deal.II's table.
  std::string degree_text(const Study &study, const DegreeStudy &degree)
  {
    dealii::ConvergenceTable table;
    const bool has_gradient = !degree.runs.empty() && degree.runs.front().h1_error.has_value();
    for (std::size_t i = 0; i < degree.runs.size(); ++i)
    {
      const RunRecord &run = degree.runs[i];
      table.add_value("cells",
          run.mesh ? format_count(run.n_cells())
                   : cells_text(run.cells, run.parameters.problem.dim));
      table.add_value("dofs", format_count(run.dofs));
      for (const Norm &norm : {l2, gradient})
        if (norm.order_above_degree == 1 || has_gradient)
        {
          table.add_value(norm.name, (run.*norm.error).value_or(NAN));
          table.add_value(
              std::string(norm.name) + " rate", rate_text(order(study, degree, i, norm)));
        }
      table.add_value("iterations", run.report.iterations);
      table.add_value("limited by", note(study, run));
    }
    for (const Norm &norm : {l2, gradient})
      if (norm.order_above_degree == 1 || has_gradient)
      {
        table.set_precision(norm.name, 3);
        table.set_scientific(norm.name, true);
      }
    std::ostringstream text;
    text << "\ndegree " << degree.degree << '\n';
    table.write_text(text, dealii::TableHandler::org_mode_table);
    return text.str();
  }

  Json json_of(const Study &study, const DegreeStudy &degree)
  {
    const auto number = [](const std::optional<double> &value) {
      return value ? Json(*value) : Json(nullptr);
    };
    Json runs = Json::array();
    for (std::size_t i = 0; i < degree.runs.size(); ++i)
    {
      const RunRecord &run = degree.runs[i];
      runs.push_back({{"refinements", run.parameters.problem.refinements}, {"cells", run.n_cells()},
          {"dofs", run.dofs}, {"l2_error", number(run.l2_error)},
          {"l2_order", number(order(study, degree, i, l2))}, {"h1_error", number(run.h1_error)},
          {"h1_order", number(order(study, degree, i, gradient))}, {"limited_by", note(study, run)},
          {"iterations", run.report.iterations}, {"converged", run.report.converged()},
          {"solve_seconds", run.report.seconds},
          {"run", run.parameters.output.directory + "/run.json"}});
    }
    return {{"degree", degree.degree}, {"runs", runs}};
  }

  /// All orders that are known, coarsest pair of grids first.
  std::vector<double> known_orders(const Study &study, const DegreeStudy &degree, const Norm &norm)
  {
    std::vector<double> orders;
    for (std::size_t i = 1; i < degree.runs.size(); ++i)
      if (const std::optional<double> measured = order(study, degree, i, norm))
        orders.push_back(*measured);
    return orders;
  }

  /// The order on the finest pair of grids that shows one.
  std::optional<double> last_order(const Study &study, const DegreeStudy &degree, const Norm &norm)
  {
    for (std::size_t i = degree.runs.size(); i-- > 1;)
      if (const std::optional<double> measured = order(study, degree, i, norm))
        return measured;
    return std::nullopt;
  }

  /// What errors are relative to.
  const char *reference_word(const Study &study)
  {
    return study.has_exact_solution() ? "exact" : "finer";
  }

  Parameters parameters_of_run(const Parameters &parameters, int degree, int refinements)
  {
    Parameters run = parameters;
    run.problem.degree = degree;
    run.problem.refinements = refinements;
    set_corners(run);
    run.output.write_vtu = false;
    run.output.directory = (std::filesystem::path(parameters.output.directory) / "runs" /
        ("degree_" + std::to_string(degree) + "_refinements_" + std::to_string(refinements)))
                               .string();
    return run;
  }

  std::string describe(const RunRecord &run)
  {
    return "degree " + std::to_string(run.parameters.problem.degree) + ", refinements " +
        std::to_string(run.parameters.problem.refinements) + ": ";
  }
} // namespace

double observed_order(double coarse_error, double fine_error, int refinements)
{
  return std::log2(coarse_error / fine_error) / refinements;
}

std::optional<MissedOrder> find_missed_order(const Study &study)
{
  for (const DegreeStudy &degree : study.degrees)
    for (const Norm &norm : {l2, gradient})
    {
      const double expected = degree.degree + norm.order_above_degree;
      const std::optional<double> measured = last_order(study, degree, norm);
      if (measured && *measured < expected - study.parameters.converge.order_tolerance)
        return MissedOrder{
            degree.degree, norm.name, *measured, expected, known_orders(study, degree, norm)};
    }
  return std::nullopt;
}

bool MissedOrder::is_rising() const
{
  return orders.size() > 1 &&
      std::adjacent_find(orders.begin(), orders.end(), std::greater_equal<>()) == orders.end();
}

std::string missed_order_text(
    const MissedOrder &missed, const ConvergeOptions &options, bool has_exact_solution)
{
  std::vector<std::string> orders;
  for (const double order : missed.orders)
    orders.push_back(rate_text(order));
  const std::string finer = "finer ones (converge.refinements = ..., " +
      std::to_string(options.refinements.empty() ? 1 : options.refinements.back() + 1) + ")";
  std::string text = "degree " + std::to_string(missed.degree) + ": the " + missed.norm +
      " error falls with order " + rate_text(missed.measured) + " on the finest grids; expected " +
      format_number(missed.expected) + " with a tolerance of " +
      format_number(options.order_tolerance) + ". ";
  if (missed.is_rising())
    text += "The orders still rise (" + join(orders, ", ") +
        "), as they do on grids that are too coarse for the solution (pre-asymptotic): add " +
        finer;
  else
    text += (orders.size() > 1 ? "The orders do not rise (" + join(orders, ", ") + "): "
                               : "One pair of grids does not tell why: ") +
        "grids may be too coarse for the solution (pre-asymptotic; add " + finer +
        (has_exact_solution
                ? "), the solution not smooth enough, or problem.exact_solution not that of the right-hand side "
                  "and the boundary values"
                : ") or the solution not smooth enough");
  return text + ". converge.check_orders = false does without the check";
}

std::vector<int> unjudged_degrees(const Study &study)
{
  std::vector<int> degrees;
  for (const DegreeStudy &degree : study.degrees)
    if (!last_order(study, degree, l2))
      degrees.push_back(degree.degree);
  return degrees;
}

std::string study_text(const Study &study)
{
  std::string text;
  if (!study.has_exact_solution())
    text =
        "\nErrors are differences to the solution on cells of half the size, since problem.exact_solution is not given.\n";
  bool has_note = false;
  for (const DegreeStudy &degree : study.degrees)
  {
    text += degree_text(study, degree);
    for (const RunRecord &run : degree.runs)
      has_note = has_note || note(study, run) != "mesh";
  }
  if (has_note)
    text += "\nNo rate is taken from errors that are not those of the mesh: rounding means below " +
        format_number(rounding_floor) +
        " of the solution,\ntolerance that the end of the iteration "
        "contributes more than a tenth; lower solver.tolerance there.\n";
  return text;
}

void write_study_csv(const Study &study, std::ostream &out)
{
  out << "degree,refinements,cells,dofs,h,l2_error,l2_order,h1_error,h1_order,limited_by,iterations,"
         "solve_seconds,reference\n"
      << std::setprecision(std::numeric_limits<double>::max_digits10);
  const auto number = [&](const std::optional<double> &value) {
    if (value)
      out << *value;
    out << ',';
  };
  for (const DegreeStudy &degree : study.degrees)
    for (std::size_t i = 0; i < degree.runs.size(); ++i)
    {
      const RunRecord &run = degree.runs[i];
      const Problem &problem = run.parameters.problem;
      // On a mesh of blocks that of a cube of mean volume.
      double h = run.mesh
          ? std::pow(run.mesh->volume / static_cast<double>(run.n_cells()), 1. / problem.dim)
          : 0.;
      for (int d = 0; !run.mesh && d < problem.dim; ++d)
        for (std::int64_t c = 0; c < (problem.is_graded(d) ? problem.cells(d) : 1); ++c)
          h = std::max(h, problem.corner(d, c + 1) - problem.corner(d, c));
      out << degree.degree << ',' << problem.refinements << ',' << run.n_cells() << ',' << run.dofs
          << ',' << h << ',';
      number(run.l2_error);
      number(order(study, degree, i, l2));
      number(run.h1_error);
      number(order(study, degree, i, gradient));
      out << note(study, run) << ',' << run.report.iterations << ',' << run.report.seconds << ','
          << reference_word(study) << '\n';
    }
}

void write_study_json(const Study &study, std::ostream &out)
{
  Json degrees = Json::array();
  for (const DegreeStudy &degree : study.degrees)
    degrees.push_back(json_of(study, degree));
  Json missed = nullptr;
  if (const auto order = find_missed_order(study))
    missed = {{"degree", order->degree}, {"norm", order->norm}, {"measured", order->measured},
        {"expected", order->expected}, {"orders", order->orders}, {"rising", order->is_rising()}};
  const Json json{{"degrees", degrees}, {"reference", reference_word(study)},
      {"solution_norm", study.solution_norm}, {"gradient_norm", study.gradient_norm},
      {"rounding_floor", rounding_floor}, {"missed_order", missed}, {"version", version},
      {"git_hash", git_hash}, {"parameters", json_of_text(json_text(study.parameters))}};
  out << text_of_json(json) << '\n';
}

namespace
{
  /// The runs of one degree without an exact solution: each is compared with that of one refinement more.
  class RunsOfDegree
  {
  public:
    RunsOfDegree(Study &study, MPI_Comm communicator, Console &console)
      : study_(study)
      , communicator_(communicator)
      , console_(console)
    {}

    /// Whether all have converged; one that has not is the last run of the study.
    bool solve()
    {
      const std::vector<int> &listed = study_.parameters.converge.refinements;
      std::set<int> all(listed.begin(), listed.end());
      for (const int refinements : listed)
        all.insert(refinements + 1);
      for (const int refinements : all)
      {
        const bool is_listed = std::count(listed.begin(), listed.end(), refinements) > 0;
        if (!solve(refinements, is_listed))
          return false;
      }
      return true;
    }

  private:
    bool solve(int refinements, bool is_listed)
    {
      std::vector<RunRecord> &runs = study_.degrees.back().runs;
      const Parameters parameters =
          parameters_of_run(study_.parameters, study_.degrees.back().degree, refinements);
      Console silent = Console::silent(communicator_);
      std::optional<NestedDifference> difference;
      const RunRecord record =
          run_solve_on_blocks(parameters, communicator_, console_.is_verbose() ? console_ : silent,
              [&](const BlockProblem &problem, const BlockLevels &levels, const Vector<double> &u) {
                if (coarser_ && coarser_refinements_ + 1 == refinements)
                  difference = difference_to_coarser(problem, levels, u);
                coarser_.reset();
                if (is_listed)
                {
                  coarser_.emplace(u.block());
                  std::copy_n(u.data(), u.size(), coarser_->data());
                }
                coarser_refinements_ = refinements;
              });
      console_.normal(describe(record) + result_line(record));
      if (difference && record.report.converged())
        keep(runs.back(), record, *difference);
      if (is_listed || !record.report.converged())
        runs.push_back(record);
      return record.report.converged();
    }

    NestedDifference difference_to_coarser(
        const BlockProblem &problem, const BlockLevels &levels, const Vector<double> &u) const
    {
      try
      {
        return nested_difference(problem, levels, u, *coarser_);
      }
      catch (const std::invalid_argument &)
      {
        fail_for(study_.parameters, {"converge.refinements"},
            "the coarsest mesh has too few cells for so many ranks; allowed: fewer ranks, larger refinements, or problem.exact_solution");
      }
    }

    void keep(RunRecord &coarse, const RunRecord &fine, const NestedDifference &difference)
    {
      coarse.l2_error = difference.l2;
      coarse.h1_error = difference.h1_seminorm;
      coarse.algebraic_l2_error =
          std::hypot(coarse.algebraic_l2_error.value_or(0.), fine.algebraic_l2_error.value_or(0.));
      coarse.algebraic_h1_error =
          std::hypot(coarse.algebraic_h1_error.value_or(0.), fine.algebraic_h1_error.value_or(0.));
      study_.solution_norm = difference.fine_l2;
      study_.gradient_norm = difference.fine_gradient;
    }

    Study &study_;
    MPI_Comm communicator_;
    Console &console_;
    std::optional<Vector<double>>
        coarser_; ///< the solution of the run before, if it is of the study
    int coarser_refinements_ = 0;
  };
} // namespace

Study run_study(const Parameters &parameters, MPI_Comm communicator, Console &console)
{
  check_for_converge(parameters);
  prepare_directory(parameters.output.directory, communicator);
  Study study;
  study.parameters = parameters;
  measure_solution(study, communicator);
  Console silent = Console::silent(communicator);
  for (const int degree : parameters.converge.degrees)
  {
    study.degrees.push_back({degree, {}});
    if (!study.has_exact_solution())
    {
      if (!RunsOfDegree(study, communicator, console).solve())
        return study;
      continue;
    }
    for (const int refinements : parameters.converge.refinements)
    {
      const Parameters run = parameters_of_run(parameters, degree, refinements);
      study.degrees.back().runs.push_back(
          run_solve(run, communicator, console.is_verbose() ? console : silent));
      const RunRecord &record = study.degrees.back().runs.back();
      console.normal(describe(record) + result_line(record));
      if (!record.report.converged())
        return study;
    }
  }
  return study;
}

namespace
{
  int study_program(const Parameters &parameters, MPI_Comm communicator, Console &console)
  {
    const Study study = run_study(parameters, communicator, console);
    console.result(study_text(study));

    const TableFiles files(parameters.output.directory, "converge");
    files.write(
        communicator, [&](std::ostream &out) { write_study_csv(study, out); },
        [&](std::ostream &out) { write_study_json(study, out); });
    console.normal(files.text());

    const RunRecord &last = study.degrees.back().runs.back();
    if (!last.report.converged())
    {
      console.error(describe(last) + "the solve did not converge (" +
          to_string(last.report.reason) + "); the study ends here");
      return exit_code(last.report.reason);
    }
    if (!parameters.converge.check_orders)
      return 0;
    if (const std::optional<MissedOrder> order = find_missed_order(study))
    {
      console.error(missed_order_text(*order, parameters.converge, study.has_exact_solution()));
      return exit_order_missed;
    }
    for (const int degree : unjudged_degrees(study))
      console.warning("degree " + std::to_string(degree) +
          ": no pair of grids shows an order, so none was checked");
    return 0;
  }
} // namespace

int converge_program(const Parameters &parameters, MPI_Comm all, Console &console)
{
  std::vector<int> degrees = parameters.converge.degrees,
                   refinements = parameters.converge.refinements;
  std::sort(degrees.rbegin(), degrees.rend());
  std::sort(refinements.rbegin(), refinements.rend());
  std::vector<Parameters> solves; // the largest one first
  for (const int refinement : refinements)
    for (const int degree : degrees)
    {
      solves.push_back(parameters);
      solves.back().problem.degree = degree;
      solves.back().problem.refinements = refinement;
    }
  return with_ranks_of_solves(solves, all, console,
      [&](MPI_Comm ranks) { return study_program(parameters, ranks, console); });
}
} // namespace tensormg
