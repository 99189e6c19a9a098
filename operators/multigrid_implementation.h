// The multigrid preconditioner for a number type and a family of objects, in host or in device memory.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kernels/core/kernel_loading.h"
#include "kernels/core/setup_times.h"
#include "operators/full_multigrid_levels.h"
#include "operators/multigrid_preconditioner.h"
#include "operators/vector_space.h"
#include "solvers/chebyshev.h"
#include "solvers/full_multigrid.h"

namespace tensormg
{
/// Smallest non-zero eigenvalue of the dimensionless operator on the finest level (of the continuous
/// problem, which the discrete one approximates from above).
double smallest_eigenvalue(const Grid &grid);

/// The level whose lambda_max serves level l >= 1: the spectrum's upper end hardly changes from 8 cells per
/// direction on (docs/mathematics.md), so finer levels take the estimate of the first such level.
std::size_t representative_level(const Grid &grid, std::size_t l);

/// Whether the smoother works with lambda_max: the multiplicative patch smoother and a damping factor given
/// by the user need no spectrum.
bool needs_lambda_max(const MultigridOptions &options);

/// Whether the result of a cycle is a sum of two vectors (solvers/multigrid.h): where smoothing steps round what they
/// multiply to 11 bits.
inline bool split_multigrid(const MultigridOptions &options)
{
  return options.precision == Precision::half_precision ||
      options.precision == Precision::tf32_precision;
}

/// The steps of a Chebyshev or Jacobi smoother.
std::vector<ThreeTermStep> smoothing_steps(const MultigridOptions &options, double lambda_max);

/// Family: what the hierarchy is made of and how a cycle is run. HostFamily (multigrid_preconditioner.cc)
/// and DeviceFamily (device_multigrid.cc) have the same members:
///   Space, Operator<Number>, Transfer<Number>, CoarseSolver<Number>, and functions that make them;
///   patch_smoother(op, options, lambda), lambda_max(level, basis, options);
///   coarsest_level(grid): the level of the grid that is solved directly; clock() and observer(that level) for
///   Multigrid;
///   Runner with run(f), which makes the work of f() happen and says whether f was called, and record(f), which says the
///   same and after which run(f) takes no longer than it must, if the kernels of f() are there; loads_kernels: whether
///   they have to be.
template <typename Family, typename Number>
class MultigridImplementation
  : public BasicMultigridPreconditioner<typename Family::Space::VectorType,
        typename Family::Space::WideFloatVector>
{
  using Space = typename Family::Space;
  using OuterVector = typename Space::VectorType;
  using BasisVector = typename Space::WideFloatVector;
  using Operator = typename Family::template Operator<Number>;
  using Transfer = typename Family::template Transfer<Number>;
  using MG = Multigrid<Operator, Transfer>;
  using FullLevels = FullMultigridLevels<Family, MultigridImplementation>;

public:
  MultigridImplementation(const Family &family, const Grid &grid, const CellBasis &basis,
      const MultigridOptions &options)
    : family_(family)
    , grid_(grid)
    , basis_(basis)
    , precision_(options.precision)
    , space_(family.make_space(grid.finest()))
    , coarsest_(family.coarsest_level(grid))
    , replayed_(grid.levels.size())
  {
    if constexpr (std::is_same_v<Number, Half>)
      // A smooth residual of size s has a correction of size s / lambda_min at most.
      largest_entry_ = power_of_two_below(std::min(1., 4096. * smallest_eigenvalue(grid)));
    std::vector<typename MG::Level> levels;
    std::size_t estimated = grid.levels.size();
    cycles_.reserve(grid.levels.size());
    for (std::size_t l = coarsest_; l < grid.levels.size(); ++l)
    {
      const LevelGrid &level = grid.levels[l];
      operators_.push_back(family.template make_operator<Number>(level, basis));
      cycles_.emplace_back(family.make_runner());
      typename MG::Level entry;
      entry.op = operators_.back().get();
      if (l > coarsest_)
      {
        transfers_.push_back(
            family.template make_transfer<Number>(level, grid.levels[l - 1], basis));
        entry.to_coarser = transfers_.back().get();
        const std::size_t like = representative_level(grid, l);
        if (needs_lambda_max(options) && like != estimated)
        {
          const setup_times::Scope scope("eigenvalue estimate");
          lambda_max_ =
              options.eigenvalue_safety * family.lambda_max(grid.levels[like], basis, options);
          estimated = like;
        }
        entry.smoother = make_smoother(*entry.op, options);
      }
      levels.push_back(std::move(entry));
    }
    auto coarse = setup_times::in_scope("coarse solver", [&] {
      return family.template make_coarse_solver<Number>(
          grid.levels[coarsest_], basis, grid.problem);
    });
    multigrid_ = std::make_unique<MG>(std::move(levels), std::move(coarse), options.cycle,
        family.clock(), split_multigrid(options));
    multigrid_->set_observer(family.observer(static_cast<int>(coarsest_)));
  }

  void load_kernels(bool full_start) override
  {
    if constexpr (Family::loads_kernels)
    {
      const KernelLoading instead_of_running;
      run(cycles_[finest()], work_of_cycle(finest()));
      if (full_start)
      {
        // Kernels are the same on all levels.
        FullLevels levels(
            family_, *this, grid_, basis_, coarsest_, std::min<std::size_t>(2, cycles_.size()));
        OuterVector x = levels.make_vector(levels.size() - 1),
                    b = levels.make_vector(levels.size() - 1);
        FullMultigrid<FullLevels>(levels).run(x, b, 2);
      }
    }
    forget_visits();
  }

  void prepare(bool full_start, bool kernels_are_loaded) override
  {
    if (!kernels_are_loaded)
      load_kernels(full_start);
    for (std::size_t l = full_start ? 0 : finest(); l <= finest(); ++l)
      count_visits(cycles_[l], [&] { return cycles_[l].runner.record(work_of_cycle(l)) ? 1 : 0; });
    if (full_start)
      make_full_multigrid();
    forget_visits();
  }

  void apply(OuterVector &z, const OuterVector &r, double norm) override
  {
    cycle(finest(), space_, z, r, norm);
  }
  void apply(BasisVector &z, const BasisVector &r, double norm) override
  {
    cycle(finest(), space_, z, r, norm);
  }

  void full_start(OuterVector &x, const OuterVector &b, int cycles) override
  {
    make_full_multigrid();
    full_->run(x, b, cycles);
  }

  /// r = one cycle for r that begins on level l, counted from the coarsest one.
  void cycle_on(std::size_t l, const Space &space, OuterVector &r)
  {
    double norm = 1.;
    if constexpr (!std::is_same_v<Number, Half>)
      norm = space.norm(r);
    cycle(l, space, r, r, norm);
  }

  std::string diagnose() const override
  {
    for (std::size_t l = 0; l < multigrid_->n_levels(); ++l)
      for (const auto &[name, vector] :
          {std::pair{"right-hand side", &std::as_const(*multigrid_).rhs(l)},
              std::pair{"correction", &multigrid_->solution(l)}})
        if (!std::isfinite(space_of(l).max_abs(*vector)))
          return "NaN or Inf in the " + std::string(name) + " of multigrid level " +
              std::to_string(l) + " (0 is the coarsest of " +
              std::to_string(multigrid_->n_levels()) + "), precision " + to_string(precision_);
    if (const auto *d = multigrid_->correction(finest()); d && !std::isfinite(space_.max_abs(*d)))
      return std::string(
                 "NaN or Inf in the last correction of the finest multigrid level, precision ") +
          to_string(precision_);
    std::ostringstream text;
    text << "all multigrid levels are finite; largest entry of the finest correction: "
         << space_of(multigrid_->n_levels() - 1).max_abs(multigrid_->solution(finest()));
    // The finest level to which nothing but numbers of fewer digits came, if there was more above it.
    constexpr double smallest = [] {
      if constexpr (std::is_same_v<Number, Half>)
        return 0x1p-14;
      else
        return static_cast<double>(std::numeric_limits<Number>::min());
    }();
    for (std::size_t l = finest(); l-- > 0;)
      if (const double largest = space_of(l).max_abs(multigrid_->rhs(l)); largest < smallest)
      {
        if (space_of(l + 1).max_abs(multigrid_->rhs(l + 1)) > 0.)
          text << "; underflow: the right-hand side of multigrid level " << l
               << " (0 is the coarsest) is at most " << largest << ", precision "
               << to_string(precision_);
        break;
      }
    return text.str();
  }

  std::vector<LevelTimes> times() const override
  {
    std::vector<LevelTimes> result(coarsest_);
    const std::vector<LevelTimes> &visited = multigrid_->times();
    result.insert(result.end(), visited.begin(), visited.end());
    for (std::size_t l = 0; l < result.size(); ++l)
      result[l].visits += replayed_[l];
    return result;
  }

  double lambda_max() const override { return lambda_max_; }

private:
  /// What may be recorded and replayed.
  struct Recordable
  {
    explicit Recordable(typename Family::Runner runner_)
      : runner(std::move(runner_))
    {}
    typename Family::Runner runner;
    std::vector<int> visits; ///< of the levels, each time
  };

  auto work_of_cycle(std::size_t l)
  {
    return [this, l] { multigrid_->run(l, multigrid_->first_step(l) != 0.); };
  }

  void forget_visits()
  {
    multigrid_->reset_times();
    std::fill(replayed_.begin(), replayed_.end(), 0);
  }

  /// f() says how often it called the function; notes what one call visits, if it did.
  template <typename F>
  int count_visits(Recordable &recordable, const F &f)
  {
    const std::vector<LevelTimes> before = multigrid_->times();
    const int calls = f();
    recordable.visits.resize(before.size());
    for (std::size_t l = 0; l < before.size() && calls > 0; ++l)
      recordable.visits[l] = (multigrid_->times()[l].visits - before[l].visits) / calls;
    return calls;
  }

  template <typename F>
  void run(Recordable &recordable, const F &f)
  {
    if (count_visits(recordable, [&] { return recordable.runner.run(f) ? 1 : 0; }) == 0)
      for (std::size_t l = 0; l < recordable.visits.size(); ++l)
        replayed_[coarsest_ + l] += recordable.visits[l];
  }

  Space space_of(std::size_t l) const { return family_.make_space(operators_[l]->level()); }

  std::unique_ptr<SmootherBase<typename Operator::VectorType>> make_smoother(
      Operator &op, const MultigridOptions &options) const
  {
    if (options.smoother == Smoother::patch)
      return family_.template make_patch_smoother<Number>(op, options, lambda_max_);
    return std::make_unique<ThreeTermSmoother<Operator>>(op, smoothing_steps(options, lambda_max_));
  }

  std::size_t finest() const { return cycles_.size() - 1; }

  void make_full_multigrid()
  {
    if (full_ != nullptr)
      return;
    levels_ =
        std::make_unique<FullLevels>(family_, *this, grid_, basis_, coarsest_, cycles_.size());
    full_ = std::make_unique<FullMultigrid<FullLevels>>(*levels_);
  }

  /// z = one cycle for r that begins on level l; z and r may be the same vector.
  template <typename V>
  void cycle(std::size_t l, const Space &space, V &z, const V &r, double norm)
  {
    const typename Space::Scale scale = scale_to_range(space, r, norm);
    // The first step of the smoother reads what the conversion has in its registers.
    if (const double first_step = multigrid_->first_step(l); first_step != 0.)
      space.convert_and_divide(operators_[l]->basis(), first_step, scale, r, multigrid_->rhs(l),
          multigrid_->first_iterate(l));
    else
      space.convert(scale, r, multigrid_->rhs(l));
    run(cycles_[l], work_of_cycle(l));
    if (const auto *d = multigrid_->correction(l))
      space.convert_sum(Space::inverse(scale), multigrid_->solution(l), *d, z);
    else
      space.convert(Space::inverse(scale), multigrid_->solution(l), z);
  }

  /// What r is multiplied by before it is rounded: a power of two.
  template <typename V>
  typename Space::Scale scale_to_range(const Space &space, const V &r, double norm) const
  {
    if constexpr (std::is_same_v<Number, Half>)
      return space.scale_by_largest(largest_entry_, r);
    else
      return Space::scale(norm > 0. && std::isfinite(norm) ? power_of_two_below(1. / norm) : 1.);
  }

  Family family_;
  const Grid &grid_;
  const CellBasis &basis_;
  Precision precision_;
  Space space_;
  std::size_t coarsest_;
  std::vector<Recordable> cycles_; ///< by the level on which they begin, counted from coarsest_
  std::vector<std::unique_ptr<Operator>> operators_;
  std::vector<std::unique_ptr<Transfer>> transfers_;
  std::unique_ptr<MG> multigrid_;
  std::unique_ptr<FullLevels> levels_;              ///< made when full multigrid is asked for
  std::unique_ptr<FullMultigrid<FullLevels>> full_; ///< likewise
  std::vector<int> replayed_; ///< visits of cycles that were not called, per level of the grid
  double lambda_max_ = 0.;
  double largest_entry_ = 1.;
};
} // namespace tensormg
