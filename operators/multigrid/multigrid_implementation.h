// The multigrid preconditioner in a number type, over a family of operators.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kernels/core/setup_times.h"
#include "kernels/device/kernel_loading.h"
#include "operators/multigrid/cycle_trouble.h"
#include "operators/multigrid/cycles_in.h"
#include "operators/multigrid/eigenvalue_estimate.h"
#include "operators/multigrid/family.h"
#include "operators/multigrid/full_multigrid_levels.h"
#include "operators/multigrid/multigrid_preconditioner.h"
#include "operators/multigrid/single_levels.h"
#include "operators/multigrid/smoothing_choices.h"
#include "solvers/chebyshev.h"
#include "solvers/full_multigrid.h"
#include "solvers/schwarz.h"

namespace tensormg
{
/// Family: operators/multigrid/family.h.
///
/// With MultigridOptions::single_levels the coarsest levels are a hierarchy of their own, in single, whose cycle is the coarse solver.
template <LevelFamily Family, typename Number>
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
  using Cycles = CyclesIn<typename Family::Context>;
  using FullLevels = FullMultigridLevels<Family, MultigridImplementation>;
  using InSingle = MultigridImplementation<Family, float>;
  /// In which lambda_max is estimated.
  using Estimated = typename Family::template EstimateNumber<Number>;
  template <LevelFamily, typename>
  friend class MultigridImplementation; // that has one in single below it

public:
  MultigridImplementation(
      const Family &family, const MultigridOptions &options, const CycleOptions &cycle_options)
    : family_(family)
    , options_(options)
    , cycles_in_{family.context(), cycle_options}
    , precision_(options.precision)
    , space_(family.make_space(family.size() - 1))
    , coarsest_(cycles_in_.coarsest_level(family))
    , replayed_(family.size())
  {
    if (const std::size_t count = levels_in_single(family.size(), options); count > coarsest_)
      make_levels_in_single(count, options);
    if constexpr (std::is_same_v<Number, Half>)
      // A smooth residual of size s has a correction of size s / lambda_min at most.
      largest_entry_ = power_of_two_below(std::min(1., 4096. * family.smallest_eigenvalue()));
    std::vector<typename MG::Level> levels = make_levels(options);
    std::unique_ptr<typename MG::CoarseSolver> coarse = make_coarse_solver(options);
    const bool is_split = split_multigrid(options);
    const std::int64_t vectors = MG::vectors_of_level(is_split);
    [[maybe_unused]] const auto memory =
        cycles_in_.template reserve<Number>(family, coarsest_, vectors, vectors);
    multigrid_ = std::make_unique<MG>(
        std::move(levels), std::move(coarse), options.cycle, cycles_in_.clock(), is_split);
    multigrid_->set_observer(cycles_in_.observer(coarsest_));
  }

  /// Bytes of all vectors and tables on one rank, before anything is made.
  static std::int64_t bytes(
      const Family &family, const MultigridOptions &options, const CycleOptions &cycle_options)
  {
    std::size_t coarsest = Cycles{family.context(), cycle_options}.coarsest_level(family);
    std::int64_t total = 0;
    if (const std::size_t count = levels_in_single(family.size(), options); count > coarsest)
    {
      coarsest = count - 1;
      total = InSingle::bytes(family.in_single(count), options_in_single(options), cycle_options);
    }
    else
      total = family.template bytes_of_coarse_solver<Number>(coarsest);
    for (std::size_t l = coarsest; l < family.size(); ++l)
    {
      const bool is_coarsest = l == coarsest;
      std::int64_t vectors = MG::vectors_of_level(split_multigrid(options) && !is_coarsest);
      if (!is_coarsest)
      {
        const MultigridOptions of_level = family.options_of_level(options, l);
        vectors += schwarz_vectors(of_level);
        total += family.template bytes_between_levels<Number>(l);
        total += has_exact_steps(of_level) ? family.template bytes_of_steps<Number>(l)
                                           : family.template bytes_of_patches<Number>(l);
      }
      total += vectors * family.block(l).size() * std::int64_t{sizeof(Number)};
    }
    return total;
  }

  void load_kernels(bool full_start) override
  {
    if constexpr (Cycles::loads_kernels)
    {
      const KernelLoading instead_of_running(family_.context().stream);
      run(cycles_[finest()], work_of_cycle(finest()));
      if (full_start)
      {
        // Kernels are the same on all levels of the same numbers.
        const std::size_t enough = lower_ != nullptr ? lower_->size() + 1 : 2;
        FullLevels levels(family_, *this, below(), std::min(enough, size()));
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
    if (lower_ != nullptr && full_start)
      lower_->record_cycles(0);
    record_cycles(full_start ? (lower_ != nullptr ? 1 : 0) : finest());
    if (full_start)
      make_full_multigrid();
    forget_visits();
  }

  bool update() override
  {
    if (!family_.chooses_the_same() || (lower_ != nullptr && !lower_->update()))
      return false;
    full_.reset();
    levels_.reset();
    for (const auto &op : operators_)
      op->update_cells();
    std::size_t estimated = family_.size();
    for (std::size_t l = 1; l < operators_.size(); ++l)
      multigrid_->set_smoother(l, next_smoother(coarsest_ + l, estimated));
    multigrid_->coarse_solver().update();
    for (Recordable &recordable : cycles_) // what was recorded has the steps of before
      recordable = Recordable(cycles_in_.make_runner(family_));
    return true;
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
    if (lower_ != nullptr)
    {
      if (l < lower_->size())
        return lower_->cycle_on(l, space, r);
      l -= lower_->size() - 1;
    }
    double norm = 1.;
    if constexpr (!std::is_same_v<Number, Half>)
      norm = space.norm(r);
    cycle(l, space, r, r, norm);
  }

  /// x + d = one cycle (of the kind W: two) for b, all on the finest level, as part of a cycle of somebody else.
  template <typename V>
  void cycle_within(V &x, V &d, const V &b, Cycle kind)
  {
    space_.convert(Space::scale(1.), b, multigrid_->rhs(finest()));
    multigrid_->run(finest());
    if (kind == Cycle::w && finest() > 0)
      multigrid_->run_again(finest());
    space_.convert_to_pair(multigrid_->solution(finest()), x, d);
  }

  std::optional<std::size_t> broken_level() const override
  {
    const auto trouble = first_not_finite();
    const auto level = trouble ? trouble : first_underflow();
    return level ? std::optional(level->level) : std::nullopt;
  }

  std::string diagnose() const override
  {
    const auto describe = [&](const CycleTrouble &trouble) {
      const bool is_lower = lower_ != nullptr && trouble.level <= coarsest_;
      return trouble.what + " of " + name_of_level(trouble.level) + ", precision " +
          to_string(is_lower ? Precision::single_precision : precision_);
    };
    if (const auto trouble = first_not_finite())
      return describe(*trouble);
    std::ostringstream text;
    text << "all multigrid levels are finite; largest entry of the finest correction: "
         << max_abs()(finest(), multigrid_->solution(finest()));
    if (const auto trouble = first_underflow())
      text << "; " << describe(*trouble);
    return text.str();
  }

  std::vector<LevelTimes> times() const override
  {
    std::vector<LevelTimes> result = visited();
    for (std::size_t l = 0; l < result.size(); ++l)
      result[l].visits += replayed_[l];
    if (lower_ != nullptr) // cycles of its own, of full multigrid
      for (std::size_t l = 0; l <= coarsest_; ++l)
        result[l].visits += lower_->replayed_[l];
    return result;
  }

  double lambda_max() const override { return lambda_max_; }

private:
  /// What may be recorded and replayed.
  struct Recordable
  {
    explicit Recordable(typename Cycles::Runner runner_)
      : runner(std::move(runner_))
    {}
    typename Cycles::Runner runner;
    std::vector<int> visits; ///< of the levels, each time
  };

  std::string name_of_level(std::size_t l) const
  {
    return tensormg::name_of_level(l, family_.size());
  }

  /// Of a vector on level l.
  auto max_abs() const
  {
    return [this](std::size_t l, const auto &x) { return space_of(l).max_abs(x); };
  }

  std::optional<CycleTrouble> first_not_finite() const
  {
    auto trouble = not_finite_going_down(*multigrid_, max_abs(), coarsest_);
    if (!trouble && lower_ != nullptr)
      trouble = lower_->first_not_finite();
    return trouble ? trouble
                   : not_finite_going_up(*multigrid_, max_abs(), coarsest_, lower_ != nullptr);
  }

  std::optional<CycleTrouble> first_underflow() const
  {
    return underflow_going_down<Number>(*multigrid_, max_abs(), coarsest_);
  }

  auto work_of_cycle(std::size_t l)
  {
    return [this, l] { multigrid_->run(l, multigrid_->first_step(l) != 0.); };
  }

  void record_cycles(std::size_t from)
  {
    for (std::size_t l = from; l <= finest(); ++l)
      count_visits(cycles_[l], [&] { return cycles_[l].runner.record(work_of_cycle(l)) ? 1 : 0; });
  }

  void forget_visits()
  {
    if (lower_ != nullptr)
      lower_->forget_visits();
    multigrid_->reset_times();
    std::fill(replayed_.begin(), replayed_.end(), 0);
  }

  /// The times of what was called, by level of the grid.
  std::vector<LevelTimes> visited() const
  {
    std::vector<LevelTimes> result =
        lower_ != nullptr ? lower_->visited() : std::vector<LevelTimes>(coarsest_);
    // The coarse solver's time is that of the levels below.
    const auto &own = multigrid_->times();
    result.insert(result.end(), own.begin() + (lower_ != nullptr ? 1 : 0), own.end());
    return result;
  }

  /// f() says how often it called the function; notes what one call visits, if it did.
  template <typename F>
  int count_visits(Recordable &recordable, const F &f)
  {
    const std::vector<LevelTimes> before = visited();
    const int calls = f();
    recordable.visits.resize(before.size());
    if (calls > 0)
    {
      const std::vector<LevelTimes> after = visited();
      for (std::size_t l = 0; l < before.size(); ++l)
        recordable.visits[l] = (after[l].visits - before[l].visits) / calls;
    }
    return calls;
  }

  template <typename F>
  void run(Recordable &recordable, const F &f)
  {
    if (count_visits(recordable, [&] { return recordable.runner.run(f) ? 1 : 0; }) == 0)
      for (std::size_t l = 0; l < recordable.visits.size(); ++l)
        replayed_[l] += recordable.visits[l];
  }

  /// Of level l of the cycle.
  Space space_of(std::size_t l) const { return family_.make_space(coarsest_ + l); }

  void make_levels_in_single(
      [[maybe_unused]] std::size_t count, [[maybe_unused]] const MultigridOptions &options)
  {
    if constexpr (!std::is_same_v<Number, double>)
    {
      lower_ = std::make_unique<InSingle>(
          family_.in_single(count), options_in_single(options), cycles_in_.options);
      lambda_max_ = lower_->lambda_max_;
      coarsest_ = count - 1;
    }
  }

  std::vector<typename MG::Level> make_levels(const MultigridOptions &options)
  {
    std::vector<typename MG::Level> levels;
    std::size_t estimated = family_.size();
    cycles_.reserve(family_.size());
    for (std::size_t l = coarsest_; l < family_.size(); ++l)
    {
      const bool is_coarsest = l == coarsest_;
      const MultigridOptions of_level = family_.options_of_level(options, l);
      operators_.push_back(
          family_.template make_operator<Number>(l, !is_coarsest && has_exact_steps(of_level)));
      cycles_.emplace_back(cycles_in_.make_runner(family_));
      typename MG::Level entry;
      entry.op = operators_.back().get();
      if (!is_coarsest)
      {
        transfers_.push_back(family_.template make_transfer<Number>(l));
        entry.to_coarser = transfers_.back().get();
        entry.coarsening = family_.coarsening(l);
        entry.halved = family_.halved(l);
        entry.smoother = next_smoother(l, estimated);
      }
      levels.push_back(std::move(entry));
    }
    return levels;
  }

  /// Of level l, for lambda_max of the level `estimated` unless it needs another one.
  auto next_smoother(std::size_t l, std::size_t &estimated)
  {
    const MultigridOptions of_level = family_.options_of_level(options_, l);
    const std::size_t like = family_.representative_level(l);
    if (needs_lambda_max(of_level) && like != estimated)
    {
      lambda_max_ = options_.eigenvalue_safety * estimate_lambda_max(like, of_level);
      estimated = like;
    }
    return make_smoother(l, *operators_[l - coarsest_], of_level);
  }

  double estimate_lambda_max(std::size_t l, const MultigridOptions &options) const
  {
    const setup_times::Scope scope("eigenvalue estimate");
    return naming_the_level(name_of_level(l), [&] {
      const Space space = family_.make_space(l);
      if (has_exact_steps(options))
        return estimate_by_steps(l, space, options.eigenvalue_steps);
      const auto op = family_.template make_operator<double>(l, false);
      auto correction = family_.template make_patch_correction<double>(l);
      return lanczos_schwarz_lambda_max(
          *op, correction, space, family_.make_start_vector(l), options.eigenvalue_steps);
    });
  }

  double estimate_by_steps(std::size_t l, const Space &space, int steps) const
  {
    if constexpr (std::is_same_v<Estimated, double>)
      return lanczos_lambda_max(*family_.template make_operator<double>(l, true), space,
          family_.make_start_vector(l), steps);
    else
    {
      const auto op = family_.template make_operator<Estimated>(l, true);
      auto start = op->make_vector();
      space.convert(Space::scale(1.), family_.make_start_vector(l), start);
      return lanczos_lambda_max(*op, space, std::move(start), steps);
    }
  }

  std::unique_ptr<SmootherBase<typename Operator::VectorType>> make_smoother(
      std::size_t l, Operator &op, const MultigridOptions &options) const
  {
    using Correction = typename Family::template PatchCorrectionType<Number>;
    if (options.smoother == Smoother::patch)
      return std::make_unique<SchwarzSmoother<Operator, Correction>>(op,
          family_.template make_patch_correction<Number>(l), options.schwarz_kind, options.degree,
          options.damping, lambda_max_);
    return std::make_unique<ThreeTermSmoother<Operator>>(op, smoothing_steps(options, lambda_max_));
  }

  std::unique_ptr<typename MG::CoarseSolver> make_coarse_solver(
      [[maybe_unused]] const MultigridOptions &options)
  {
    if constexpr (!std::is_same_v<Number, double>)
      if (lower_ != nullptr)
        return std::make_unique<CycleInSingle<typename MG::VectorType, InSingle>>(
            *lower_, options.cycle);
    return setup_times::in_scope(
        "coarse solver", [&] { return family_.template make_coarse_solver<Number>(coarsest_); });
  }

  std::size_t finest() const { return cycles_.size() - 1; }
  /// The level of the grid on which the coarsest cycle begins, and how many levels there are from it.
  std::size_t below() const { return lower_ != nullptr ? lower_->below() : coarsest_; }
  std::size_t size() const { return family_.size() - below(); }

  void make_full_multigrid()
  {
    if (full_ != nullptr)
      return;
    levels_ = std::make_unique<FullLevels>(family_, *this, below(), size());
    [[maybe_unused]] const auto memory =
        cycles_in_.template reserve<double>(family_, below(), 3, 1);
    full_ = std::make_unique<FullMultigrid<FullLevels>>(*levels_);
  }

  /// z = one cycle for r that begins on level l; z and r may be the same vector.
  template <typename V>
  void cycle(std::size_t l, const Space &space, V &z, const V &r, double norm)
  {
    const typename Space::Scale scale = scale_to_range(space, r, norm);
    // The first step of the smoother reads what the conversion has in its registers.
    if (const double first_step = multigrid_->first_step(l); first_step != 0.)
      operators_[l]->convert_and_divide(
          first_step, scale, r, multigrid_->rhs(l), multigrid_->first_iterate(l));
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
  MultigridOptions options_;
  Cycles cycles_in_;
  Precision precision_;
  Space space_;
  /// If there are levels in single below these, with the coarsest level of these as its finest.
  std::unique_ptr<InSingle> lower_;
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
