#include "operators/multigrid/multigrid_preconditioner.h"

#include <stdexcept>

#include "operators/constant/box_solver.h"
#include "operators/constant/laplace_operator.h"
#include "operators/constant/transfer_operator.h"
#include "operators/multigrid/eigenvalue_estimate.h"
#include "operators/multigrid/multigrid_implementation.h"
#include "operators/multigrid/patch_smoother.h"
#include "operators/vectors/vector_space.h"

namespace tensormg
{
namespace
{
  /// Objects in host memory, distributed over ranks.
  struct HostFamily
  {
    using Space = VectorSpace;
    template <typename Number>
    using Operator = LaplaceOperator<Number>;
    template <typename Number>
    using Transfer = TransferOperator<Number>;
    static constexpr bool loads_kernels = false;

    struct Runner
    {
      template <typename F>
      bool run(const F &f)
      {
        f();
        return true;
      }
      template <typename F>
      static bool record(const F &)
      {
        return false;
      }
    };

    laplace::Backend backend;
    std::shared_ptr<LineSpectra> spectra = std::make_shared<LineSpectra>();

    HostFamily in_single() const { return *this; }
    Space make_space(const LevelGrid &level) const { return Space(level); }
    Runner make_runner() const { return {}; }
    Clock clock() const { return steady_seconds; }
    static LevelObserver observer(int) { return {}; }
    std::size_t coarsest_level(const Grid &) const { return 0; }
    template <typename Number>
    static int reserve(const Grid &, std::size_t, std::int64_t, std::int64_t)
    {
      return 0; // allocations are fast
    }

    template <typename Number>
    auto make_operator(const LevelGrid &level, const CellBasis &basis, bool exact = false) const
    {
      return std::make_unique<Operator<Number>>(
          level, basis, backend, exact ? spectra.get() : nullptr);
    }

    template <typename Number>
    auto make_transfer(const LevelGrid &fine, const LevelGrid &coarse, const CellBasis &basis) const
    {
      return std::make_unique<Transfer<Number>>(fine, coarse, basis, backend);
    }

    template <typename Number>
    auto make_coarse_solver(
        const LevelGrid &level, const CellBasis &basis, const Problem &problem) const
    {
      return std::make_unique<CoarseBoxSolver<Number>>(level, basis, problem);
    }

    template <typename Number>
    auto make_patch_smoother(
        Operator<Number> &op, const MultigridOptions &options, double lambda_max) const
    {
      return std::make_unique<PatchSmoother<Number>>(
          op, options.schwarz_kind, options.degree, options.damping, lambda_max);
    }

    double lambda_max(
        const LevelGrid &level, const CellBasis &basis, const MultigridOptions &options) const
    {
      if (options.smoother == Smoother::patch)
        return estimate_patch_lambda_max(level, basis, backend, options.eigenvalue_steps);
      LaplaceOperator<double> op(level, basis, backend, spectra.get());
      return estimate_lambda_max(op, options.eigenvalue_steps);
    }
  };

  template <typename Number>
  using Implementation = MultigridImplementation<HostFamily, Number>;
} // namespace

std::int64_t multigrid_memory(const Grid &grid, const MultigridOptions &options)
{
  const auto of_levels = [&](std::size_t from, std::size_t to, const MultigridOptions &numbers) {
    std::int64_t sum = 0;
    for (std::size_t l = from; l < to; ++l)
      sum += (l > from ? stretched_level_memory(grid, l, numbers) : 0) +
          ((split_multigrid(numbers) && l > from ? 5 : 3) +
              (l > from ? schwarz_vectors(numbers) : 0)) *
              grid.levels[l].block.size() * bytes_per_number(numbers.precision);
    return sum;
  };
  const std::size_t in_single = levels_in_single(grid, options);
  const std::int64_t total =
      of_levels(in_single > 0 ? in_single - 1 : 0, grid.levels.size(), options) +
      of_levels(0, in_single, options_in_single(options));
  const Block coarsest(grid.problem.dim, grid.problem.degree, grid.levels.front().global_cells);
  return total + BoxSolver::memory(coarsest);
}

std::unique_ptr<MultigridPreconditioner> make_multigrid(const Grid &grid, const CellBasis &basis,
    laplace::Backend backend, const MultigridOptions &options)
{
  const MultigridOptions chosen = with_chosen_precision(options, grid, basis);
  const HostFamily family{backend};
  switch (chosen.precision)
  {
    case Precision::double_precision:
      return std::make_unique<Implementation<double>>(family, grid, basis, chosen);
    case Precision::automatic: // chosen above
    case Precision::single_precision:
      return std::make_unique<Implementation<float>>(family, grid, basis, chosen);
    case Precision::tf32_precision:
    case Precision::corrected_half_precision:
      throw std::invalid_argument(std::string("multigrid in ") + to_string(chosen.precision) +
          " takes the tensor cores of a device; in host memory there are double, single and half");
    case Precision::half_precision:
      return std::make_unique<Implementation<Half>>(family, grid, basis, chosen);
  }
  return nullptr;
}
} // namespace tensormg
