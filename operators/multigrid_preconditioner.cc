#include "operators/multigrid_preconditioner.h"

#include <cmath>
#include <numbers>
#include <stdexcept>

#include "operators/box_solver.h"
#include "operators/eigenvalue_estimate.h"
#include "operators/laplace_operator.h"
#include "operators/multigrid_implementation.h"
#include "operators/patch_smoother.h"
#include "operators/transfer_operator.h"
#include "operators/vector_space.h"

namespace tensormg
{
double smallest_eigenvalue(const Grid &grid)
{
  const auto factors = grid.finest().direction_factors();
  double sum = 0., smallest = INFINITY;
  for (int d = 0; d < grid.problem.dim; ++d)
  {
    const double cells = static_cast<double>(grid.finest().global_cells[d]);
    const BoundaryKind lower = grid.problem.boundary[2 * d],
                       upper = grid.problem.boundary[2 * d + 1];
    const int n_dirichlet = (lower == BoundaryKind::dirichlet) + (upper == BoundaryKind::dirichlet);
    const double half_waves = n_dirichlet == 1 ? 0.5 : lower == BoundaryKind::periodic ? 2. : 1.;
    const double value = factors[d] * std::pow(half_waves * std::numbers::pi / cells, 2);
    smallest = std::min(smallest, value);
    if (n_dirichlet > 0)
      sum += value;
  }
  return sum > 0. ? sum : smallest;
}

std::size_t representative_level(const Grid &grid, std::size_t l)
{
  constexpr std::int64_t representative_cells = 8;
  for (std::size_t coarser = 0; coarser < l; ++coarser)
  {
    bool is_representative = true;
    for (int d = 0; d < grid.problem.dim; ++d)
      if (grid.levels[coarser].global_cells[d] < representative_cells)
        is_representative = false;
    if (is_representative)
      return coarser;
  }
  return l;
}

bool needs_lambda_max(const MultigridOptions &options)
{
  if (options.smoother == Smoother::patch)
    return options.schwarz_kind == SchwarzKind::additive && options.damping == 0.;
  return options.smoother == Smoother::chebyshev || options.damping == 0.;
}

std::vector<ThreeTermStep> smoothing_steps(const MultigridOptions &options, double lambda_max)
{
  if (options.smoother == Smoother::chebyshev)
    return options.chebyshev_kind == ChebyshevKind::fourth
        ? chebyshev_fourth_kind(options.degree, lambda_max)
        : chebyshev_first_kind(options.degree, lambda_max, options.smoothing_range);
  // 4/3 / lambda_max minimises the largest |1 - omega lambda| on the upper half.
  return damped_jacobi(
      options.degree, options.damping > 0. ? options.damping : 4. / 3. / lambda_max);
}

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

    Space make_space(const LevelGrid &level) const { return Space(level); }
    Runner make_runner() const { return {}; }
    Clock clock() const { return steady_seconds; }
    static LevelObserver observer(int) { return {}; }
    std::size_t coarsest_level(const Grid &) const { return 0; }

    template <typename Number>
    auto make_operator(const LevelGrid &level, const CellBasis &basis) const
    {
      return std::make_unique<Operator<Number>>(level, basis, backend);
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
      LaplaceOperator<double> op(level, basis, backend);
      return estimate_lambda_max(op, options.eigenvalue_steps);
    }
  };

  template <typename Number>
  using Implementation = MultigridImplementation<HostFamily, Number>;
} // namespace

std::int64_t multigrid_memory(const Grid &grid, const MultigridOptions &options)
{
  const std::int64_t bytes = bytes_per_number(options.precision);
  std::int64_t total = 0;
  for (std::size_t l = 0; l < grid.levels.size(); ++l)
    total +=
        ((split_multigrid(options) && l > 0 ? 5 : 3) + (l > 0 ? schwarz_vectors(options) : 0)) *
        grid.levels[l].block.size() * bytes;
  const Block coarsest(grid.problem.dim, grid.problem.degree, grid.levels.front().global_cells);
  return total + BoxSolver::memory(coarsest);
}

std::unique_ptr<MultigridPreconditioner> make_multigrid(const Grid &grid, const CellBasis &basis,
    laplace::Backend backend, const MultigridOptions &options)
{
  const HostFamily family{backend};
  switch (options.precision)
  {
    case Precision::double_precision:
      return std::make_unique<Implementation<double>>(family, grid, basis, options);
    case Precision::single_precision:
      return std::make_unique<Implementation<float>>(family, grid, basis, options);
    case Precision::tf32_precision:
      throw std::invalid_argument("multigrid in tf32 takes the tensor cores of a device; in host "
                                  "memory there are double, single and half");
    case Precision::half_precision:
      return std::make_unique<Implementation<Half>>(family, grid, basis, options);
  }
  return nullptr;
}
} // namespace tensormg
