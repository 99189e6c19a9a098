#include "operators/solver/block_system.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "operators/cellmean/cell_mean_kernel.h"
#include "operators/multigrid/block_eigenvalues.h"
#include "operators/multigrid/multigrid_implementation.h"
#include "operators/vectors/with_number.h"
#include "tensormg/solver.h"

namespace tensormg
{
namespace
{
  void check_options(const SolverOptions &options)
  {
    const auto refuse = [](const std::string &text) {
      throw std::invalid_argument("curved cells have no " + text);
    };
    if (options.solver == OuterSolver::direct)
      refuse("direct solver");
    if (options.full_multigrid)
      refuse("full multigrid");
    if (options.basis_precision == BasisPrecision::single_precision)
      refuse("basis in single precision");
    if (options.multigrid.smoother == Smoother::patch)
      refuse("patch smoother");
    if (takes_tensor_cores(options.multigrid.precision))
      refuse(std::string("cycle in ") + to_string(options.multigrid.precision) +
          ", which takes the tensor cores of a device");
  }

  SolverOptions with_choices(
      const BlockLevels &levels, const BlockSystem &system, SolverOptions options)
  {
    constexpr double most_in_single = 1e9;
    // Cells that all touch stiff ones have diagonals like theirs.
    if (options.multigrid.precision == Precision::automatic &&
        std::max(diagonal_range(levels), system.relaxation().jump) > most_in_single)
      options.multigrid.precision = Precision::double_precision;
    options.multigrid = with_precision_of_blocks(options.multigrid);
    options.basis_precision = BasisPrecision::double_precision;
    return options;
  }
} // namespace

double diagonal_range(const BlockLevels &levels)
{
  const Vector<double> &diagonal = levels.levels().back().diagonal;
  double least = INFINITY, largest = 0.;
  for (std::int64_t at = 0; at < diagonal.size(); ++at)
    if (diagonal[at] > 0.) // no padding
    {
      least = std::min(least, diagonal[at]);
      largest = std::max(largest, diagonal[at]);
    }
  std::array<double, 2> bounds{-least, largest};
  MPI_Allreduce(MPI_IN_PLACE, bounds.data(), 2, MPI_DOUBLE, MPI_MAX, levels.communicator());
  return bounds[1] / -bounds[0];
}

MultigridOptions with_precision_of_blocks(MultigridOptions options)
{
  if (options.precision == Precision::automatic)
    options.precision = Precision::single_precision;
  return options;
}

BlockSystem::BlockSystem(const BlockLevels &levels, const MultigridOptions &options)
  : levels_(levels)
  , family_(levels, options)
{}

template <>
std::unique_ptr<PointwiseOperator<double>> BlockSystem::make_operator<double>() const
{
  std::unique_ptr<BlockKernel<double>> kernel;
  if (cycle_operator().is_exact)
    kernel = std::make_unique<CellMeanKernel<double>>(levels_.levels().back());
  return std::make_unique<PointwiseOperator<double>>(
      levels_, n_levels() - 1, nullptr, std::move(kernel));
}

std::unique_ptr<MultigridPreconditioner> BlockSystem::make_cycle(
    const MultigridOptions &options, const CycleOptions &cycle) const
{
  return with_number(
      options.precision, [&](auto number) -> std::unique_ptr<MultigridPreconditioner> {
        return std::make_unique<MultigridImplementation<BlockFamily, decltype(number)>>(
            family_, options, cycle);
      });
}

double BlockSystem::largest_eigenvalue_bound() const
{
  const auto op = make_operator<double>();
  return tensormg::largest_eigenvalue_bound(levels_, *op);
}

std::string BlockSystem::advice_on_precision() const
{
  constexpr double much = 1e6;
  return diagonal_range(levels_) < much
      ? ""
      : "may hold too little for these coefficients and cells: double";
}

std::unique_ptr<BlockSolver> make_block_solver(const BlockLevels &levels,
    const SolverOptions &options, Vector<double> &x, const Vector<double> &b)
{
  constexpr double most_that_double_holds = 1e9;
  check_options(options);
  try
  {
    const BlockSystem system(levels, options.multigrid);
    auto solver = std::make_unique<BlockSolver>(system, with_choices(levels, system, options));
    solver->set_up(x, b);
    return solver;
  }
  catch (const std::invalid_argument &)
  {
    throw;
  }
  catch (const std::runtime_error &error)
  {
    const double range = diagonal_range(levels);
    if (range < most_that_double_holds)
      throw;
    // A level that is not positive definite has lost its small numbers beside the large ones.
    throw CoefficientError(CoefficientError::Of::diffusion,
        std::string(error.what()) + ": entries of its diagonal differ by " + number_text(range) +
            ", more than double precision holds; allowed: coefficients and cells that vary less" +
            (options.multigrid.precision == Precision::automatic ||
                        options.multigrid.precision == Precision::double_precision
                    ? ""
                    : ", or multigrid.precision = auto"));
  }
}

template class SystemSolver<BlockSystem>;
} // namespace tensormg
