#include "operators/multigrid_preconditioner.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <sstream>

#include "operators/box_solver.h"
#include "operators/eigenvalue_estimate.h"
#include "operators/laplace_operator.h"
#include "operators/patch_smoother.h"
#include "operators/transfer_operator.h"
#include "operators/vector_space.h"
#include "solvers/chebyshev.h"

namespace tensormg
{
namespace
{
  /// The largest power of two that is at most x > 0.
  double power_of_two(double x) { return std::exp2(std::floor(std::log2(x))); }

  /// Smallest non-zero eigenvalue of the dimensionless operator on the finest level (of the continuous
  /// problem, which the discrete one approximates from above).
  double smallest_eigenvalue(const Grid &grid)
  {
    const auto factors = grid.finest().direction_factors();
    double sum = 0., smallest = INFINITY;
    for (int d = 0; d < grid.problem.dim; ++d)
    {
      const double cells = static_cast<double>(grid.finest().global_cells[d]);
      const BoundaryKind lower = grid.problem.boundary[2 * d],
                         upper = grid.problem.boundary[2 * d + 1];
      const int n_dirichlet =
          (lower == BoundaryKind::dirichlet) + (upper == BoundaryKind::dirichlet);
      const double half_waves = n_dirichlet == 1 ? 0.5 : lower == BoundaryKind::periodic ? 2. : 1.;
      const double value = factors[d] * std::pow(half_waves * std::numbers::pi / cells, 2);
      smallest = std::min(smallest, value);
      if (n_dirichlet > 0)
        sum += value;
    }
    return sum > 0. ? sum : smallest;
  }

  /// The spectrum's upper end hardly changes from this many cells per direction on (docs/mathematics.md),
  /// so finer levels take the estimate of the first such level.
  constexpr std::int64_t representative_cells = 8;

  template <typename Number>
  class Implementation : public MultigridPreconditioner
  {
    using Operator = LaplaceOperator<Number>;
    using Transfer = TransferOperator<Number>;
    using MG = Multigrid<Operator, Transfer>;

  public:
    Implementation(const Grid &grid, const CellBasis &basis, laplace::Backend backend,
        const MultigridOptions &options)
      : space_(grid.finest())
    {
      if constexpr (std::is_same_v<Number, Half>)
        // A smooth residual of size s has a correction of size s / lambda_min at most.
        largest_entry_ = power_of_two(std::min(1., 4096. * smallest_eigenvalue(grid)));
      std::vector<typename MG::Level> levels;
      double lambda = 0.;
      for (std::size_t l = 0; l < grid.levels.size(); ++l)
      {
        const LevelGrid &level = grid.levels[l];
        operators_.push_back(std::make_unique<Operator>(level, basis, backend));
        typename MG::Level entry;
        entry.op = operators_.back().get();
        if (l > 0)
        {
          transfers_.push_back(
              std::make_unique<Transfer>(level, grid.levels[l - 1], basis, backend));
          entry.to_coarser = transfers_.back().get();
          if (needs_lambda(options) && (lambda == 0. || !is_representative(grid.levels[l - 1])))
            lambda = options.eigenvalue_safety * estimate(level, basis, backend, options);
          entry.smoother = make_smoother(*entry.op, options, lambda);
        }
        levels.push_back(std::move(entry));
      }
      lambda_max_ = lambda;
      multigrid_ = std::make_unique<MG>(std::move(levels),
          std::make_unique<CoarseBoxSolver<Number>>(grid.levels.front(), basis, grid.problem),
          options.cycle);
    }

    void apply(Vector<double> &z, const Vector<double> &r, double norm) override
    {
      const double factor = scale_to_range(r, norm);
      multigrid_->run();
      space_.convert(1. / factor, multigrid_->solution(), z);
    }

    void full_start(Vector<double> &x, const Vector<double> &b, double norm) override
    {
      const double factor = scale_to_range(b, norm);
      multigrid_->run_full();
      space_.convert(1. / factor, multigrid_->solution(), x);
    }

    std::string diagnose() const override
    {
      for (std::size_t l = 0; l < multigrid_->n_levels(); ++l)
        for (const auto &[name, vector] : {std::pair{"right-hand side", &multigrid_->level_rhs(l)},
                 std::pair{"correction", &multigrid_->level_solution(l)}})
          if (!std::isfinite(space_of(l).max_abs(*vector)))
            return "NaN or Inf in the " + std::string(name) + " of multigrid level " +
                std::to_string(l) + " (0 is the coarsest of " +
                std::to_string(multigrid_->n_levels()) + "), precision " + precision_name();
      std::ostringstream text;
      text << "all multigrid levels are finite; largest entry of the finest correction: "
           << space_of(multigrid_->n_levels() - 1).max_abs(multigrid_->solution());
      return text.str();
    }

    const std::vector<LevelTimes> &times() const override { return multigrid_->times(); }
    double lambda_max() const override { return lambda_max_; }

  private:
    static const char *precision_name()
    {
      return sizeof(Number) == 8 ? "double" : sizeof(Number) == 4 ? "single" : "half";
    }

    /// The multiplicative patch smoother and a damping factor given by the user need no spectrum.
    static bool needs_lambda(const MultigridOptions &options)
    {
      if (options.smoother == Smoother::patch)
        return options.schwarz_kind == SchwarzKind::additive && options.damping == 0.;
      return options.smoother == Smoother::chebyshev || options.damping == 0.;
    }

    static double estimate(const LevelGrid &level, const CellBasis &basis, laplace::Backend backend,
        const MultigridOptions &options)
    {
      if (options.smoother == Smoother::patch)
        return estimate_patch_lambda_max(level, basis, backend, options.eigenvalue_steps);
      LaplaceOperator<double> op(level, basis, backend);
      return estimate_lambda_max(op, options.eigenvalue_steps);
    }

    static bool is_representative(const LevelGrid &level)
    {
      for (int d = 0; d < level.block.dim; ++d)
        if (level.global_cells[d] < representative_cells)
          return false;
      return true;
    }

    VectorSpace space_of(std::size_t l) const { return VectorSpace(operators_[l]->level()); }

    static std::unique_ptr<SmootherBase<Vector<Number>>> make_smoother(
        Operator &op, const MultigridOptions &options, double lambda)
    {
      std::vector<ThreeTermStep> steps;
      switch (options.smoother)
      {
        case Smoother::chebyshev:
          steps = options.chebyshev_kind == ChebyshevKind::fourth
              ? chebyshev_fourth_kind(options.degree, lambda)
              : chebyshev_first_kind(options.degree, lambda, options.smoothing_range);
          break;
        case Smoother::jacobi:
          // 4/3 / lambda_max minimises the largest |1 - omega lambda| on the upper half.
          steps = damped_jacobi(
              options.degree, options.damping > 0. ? options.damping : 4. / 3. / lambda);
          break;
        case Smoother::patch:
          return std::make_unique<PatchSmoother<Number>>(
              op, options.schwarz_kind, options.degree, options.damping, lambda);
      }
      return std::make_unique<ThreeTermSmoother<Operator>>(op, std::move(steps));
    }

    /// Finest right-hand side = factor * r, rounded; returns the factor, a power of two.
    double scale_to_range(const Vector<double> &r, double norm)
    {
      double factor = 1.;
      if constexpr (std::is_same_v<Number, Half>)
      {
        const double largest = space_.max_abs(r);
        if (largest > 0. && std::isfinite(largest))
          factor = largest_entry_ * power_of_two(1. / largest);
      }
      else if (norm > 0. && std::isfinite(norm))
        factor = power_of_two(1. / norm);
      space_.convert(factor, r, multigrid_->rhs());
      return factor;
    }

    VectorSpace space_;
    std::vector<std::unique_ptr<Operator>> operators_;
    std::vector<std::unique_ptr<Transfer>> transfers_;
    std::unique_ptr<MG> multigrid_;
    double lambda_max_ = 0.;
    double largest_entry_ = 1.;
  };
} // namespace

std::int64_t multigrid_memory(const Grid &grid, const MultigridOptions &options)
{
  const std::int64_t bytes = options.precision == Precision::double_precision ? 8
      : options.precision == Precision::single_precision                      ? 4
                                                                              : 2;
  std::int64_t total = 0;
  for (const LevelGrid &level : grid.levels)
    total += 3 * level.block.size() * bytes;
  const Block coarsest(grid.problem.dim, grid.problem.degree, grid.levels.front().global_cells);
  return total + BoxSolver::memory(coarsest);
}

std::unique_ptr<MultigridPreconditioner> make_multigrid(const Grid &grid, const CellBasis &basis,
    laplace::Backend backend, const MultigridOptions &options)
{
  switch (options.precision)
  {
    case Precision::double_precision:
      return std::make_unique<Implementation<double>>(grid, basis, backend, options);
    case Precision::single_precision:
      return std::make_unique<Implementation<float>>(grid, basis, backend, options);
    case Precision::half_precision:
      return std::make_unique<Implementation<Half>>(grid, basis, backend, options);
  }
  return nullptr;
}
} // namespace tensormg
