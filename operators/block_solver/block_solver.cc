#include "operators/block_solver/block_solver.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>

#include "operators/block_solver/block_solver_places.h"
#include "operators/mesh/sums_over_ranks.h"
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

std::unique_ptr<BlockSolver> make_block_solver(const BlockLevels &levels,
    const SolverOptions &options, Vector<double> &x, const Vector<double> &b, MemoryPlace place,
    const CycleOptions &cycle)
{
  constexpr double most_that_double_holds = 1e9;
  check_options(options);
  try
  {
    return place == MemoryPlace::device ? make_block_solver_on_device(levels, options, x, b, cycle)
                                        : make_block_solver_on_host(levels, options, x, b, cycle);
  }
  catch (const std::invalid_argument &)
  {
    throw;
  }
  catch (const DeviceError &)
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
} // namespace tensormg
