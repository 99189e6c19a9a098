// Geometric multigrid: V-cycle and W-cycle, in one number type.
//
// The level operators are dimensionless, B_l = (H_l^2 / a) M^-1 A. A coarse problem has H^2 larger by a factor rho, 4 where all
// directions are halved; the factors of restriction (1/rho) and prolongation (rho) cancel that, so that coarse vectors
// keep the size of the residual and binary16 neither over- nor underflows:
//   b_{l-1} = (rho * 1/rho) R (b_l - B_l x_l),   x_l += rho P x_{l-1}.
//
// Rounding to binary16 leaves x an error of 2^-12 of its largest entry, rough, whose residual exceeds the one to
// be reduced where x is smooth: its size grows with cells^2. So the solution of every level but the coarsest may
// be a sum x + d of two vectors ("split"). Prolongation leaves x rounded and in d what rounding took away;
// smoothing then works on d for B d = b - B x, and d is small. In exact arithmetic the sum is the same. A coarse
// solver that computes in longer numbers may give such a sum as well.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "solvers/smoother.h"
#include "tensormg/options.h"

namespace tensormg
{
/// Where the time of the cycles went, per level.
struct LevelTimes
{
  double smoothing = 0.; ///< seconds
  double transfer = 0.;  ///< residual, restriction, prolongation
  double coarse = 0.;    ///< exact solve
  int visits = 0;
  double total() const { return smoothing + transfer + coarse; }
};

/// Seconds since some moment. An empty clock measures nothing.
using Clock = std::function<double()>;

/// Who wants to know where a cycle is: called with the level whose work follows, and with `outside`.
using LevelObserver = std::function<void(int level)>;
inline constexpr int outside = -1;

/// For work that is done when a function returns.
inline double steady_seconds()
{
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// From the scaling above: rho from H^2 and 1/rho for restriction. That of prolongation is Multigrid::Level::coarsening.
inline constexpr double multigrid_restriction_factor = 1.;

/// Operator: residual(), make_vector(), VectorType. Transfer: restrict_to(), prolongate(), prolongate_pair().
template <typename Operator, typename Transfer>
class Multigrid
{
public:
  using VectorType = typename Operator::VectorType;
  using CoarseSolver = CoarseSolverBase<VectorType>;
  using Smoother = SmootherBase<VectorType>;

  struct Level
  {
    Operator *op = nullptr;
    Transfer *to_coarser = nullptr;     ///< null on level 0
    std::unique_ptr<Smoother> smoother; ///< null on level 0
    double coarsening = 4.;             ///< rho of this level and the next coarser one
    int halved = 2; ///< directions; of one alone the coarser level has half of the unknowns
  };

  /// How many vectors the cycle holds on a level; of the coarsest one this is an upper bound.
  static constexpr int vectors_of_level(bool split) { return split ? 5 : 3; }

  /// Levels coarsest first. Everything pointed to must outlive the object. Where work is only queued, the
  /// clock has to wait for it. split: the result is solution() + correction().
  Multigrid(std::vector<Level> levels, std::unique_ptr<CoarseSolver> coarse, Cycle cycle,
      Clock clock = steady_seconds, bool split = false)
    : levels_(std::move(levels))
    , coarse_(std::move(coarse))
    , cycle_(cycle)
    , clock_(std::move(clock))
    , times_(levels_.size())
  {
    for (const Level &level : levels_)
    {
      x_.push_back(level.op->make_vector());
      b_.push_back(level.op->make_vector());
      work_.push_back(level.op == levels_.front().op ? VectorType() : level.op->make_vector());
    }
    if (split && levels_.size() > 1)
      for (const Level &level : levels_)
      {
        const bool coarsest = level.op == levels_.front().op;
        const bool is_sum = !coarsest || coarse_->gives_pair();
        d_.push_back(is_sum ? level.op->make_vector() : VectorType());
        rest_.push_back(coarsest ? VectorType() : level.op->make_vector());
      }
  }

  CoarseSolver &coarse_solver() { return *coarse_; }
  void set_smoother(std::size_t l, std::unique_ptr<Smoother> smoother)
  {
    levels_[l].smoother = std::move(smoother);
  }
  void set_observer(LevelObserver observer) { observer_ = std::move(observer); }

  /// Right-hand side of level l: fill it, then call run(l).
  VectorType &rhs(std::size_t l) { return b_[l]; }
  /// Result of the last run(l).
  const VectorType &solution(std::size_t l) const { return x_[l]; }
  /// What is to be added to solution(l); nullptr if nothing.
  const VectorType *correction(std::size_t l) const { return is_sum(l) ? &d_[l] : nullptr; }

  /// One cycle from zero that begins on level l. Afterwards the vectors of all levels have the memory that they had
  /// before, so that the work may be recorded and replayed. first_step_done: the caller has left the first step of
  /// the smoother of level l in first_iterate(l).
  void run(std::size_t l, bool first_step_done = false)
  {
    begun_level_ = first_step_done ? static_cast<int>(l) : outside;
    cycle(l, true);
    begun_level_ = outside;
    observe(outside);
  }

  /// One cycle more for the same right-hand side, from solution(l).
  void run_again(std::size_t l)
  {
    cycle(l, false);
    observe(outside);
  }

  /// SmootherBase::first_step() of level l; 0 if it has none.
  double first_step(std::size_t l) const { return l > 0 ? levels_[l].smoother->first_step() : 0.; }
  /// Where the result of that step is expected by run(l, true).
  VectorType &first_iterate(std::size_t l)
  {
    return exchanges(l, true) % 2 == 1 ? work_[l] : x_[l];
  }

  /// Forgets the times so far.
  void reset_times() { std::fill(times_.begin(), times_.end(), LevelTimes()); }

  std::size_t n_levels() const { return levels_.size(); }
  const std::vector<LevelTimes> &times() const { return times_; }
  const VectorType &rhs(std::size_t l) const { return b_[l]; }

private:
  void cycle(std::size_t l, bool zero_start)
  {
    ++times_[l].visits;
    if (l == 0)
    {
      observe(0);
      timed(times_[0].coarse, [&] {
        if (is_sum(0))
          coarse_->solve_pair(x_[0], d_[0], b_[0]);
        else
          coarse_->solve(x_[0], b_[0]);
      });
      return;
    }
    const Level &level = levels_[l];
    if (zero_start)
      arrange(l);
    observe(static_cast<int>(l));
    timed(times_[l].smoothing, [&] {
      if (is_split() && !zero_start)
        smooth_correction(l, true);
      else if (begun_level_ == static_cast<int>(l))
        level.smoother->smooth_after_first_step(x_[l], b_[l], work_[l]);
      else
        level.smoother->smooth(x_[l], b_[l], work_[l], zero_start, true);
    });
    // A second visit to the coarsest level would repeat an exact solve, and two visits to half of the unknowns are no less work than one
    // to all of them: with many such levels the work would grow without bound.
    const int visits = cycle_ == Cycle::w && l > 1 && level.halved > 1 ? 2 : 1;
    timed(times_[l].transfer, [&] {
      if (is_split() && !zero_start)
        level.op->residual(work_[l], d_[l], rest_[l]);
      else
        level.op->residual(work_[l], x_[l], b_[l]);
      level.to_coarser->restrict_to(b_[l - 1], work_[l], multigrid_restriction_factor);
    });
    for (int visit = 0; visit < visits; ++visit)
      cycle(l - 1, visit == 0);
    observe(static_cast<int>(l));
    if (is_split() && zero_start && level.smoother->exchanges(false) % 2 == 1)
      d_[l].swap(work_[l]);
    timed(times_[l].transfer, [&] { prolongate(l, !zero_start); });
    timed(times_[l].smoothing, [&] {
      if (is_split())
        smooth_correction(l, false);
      else
        level.smoother->smooth(x_[l], b_[l], work_[l], false, false);
    });
  }

  void observe(int level) const
  {
    if (observer_)
      observer_(level);
  }

  bool is_split() const { return !d_.empty(); }
  /// Whether the solution of level l is x + d.
  bool is_sum(std::size_t l) const { return is_split() && (l > 0 || coarse_->gives_pair()); }

  /// x_[l] (+ d_[l]) += the solution of level l - 1. add_rest: what is in d_[l] counts.
  void prolongate(std::size_t l, bool add_rest)
  {
    Transfer &transfer = *levels_[l].to_coarser;
    if (is_split())
      transfer.prolongate_pair(
          x_[l], d_[l], x_[l - 1], correction(l - 1), levels_[l].coarsening, true, add_rest);
    else
      transfer.prolongate(x_[l], x_[l - 1], levels_[l].coarsening, true);
  }

  /// Smooths d for B d = rest = b - B x.
  void smooth_correction(std::size_t l, bool forward)
  {
    levels_[l].op->residual(rest_[l], x_[l], b_[l]);
    levels_[l].smoother->smooth(d_[l], rest_[l], work_[l], false, forward);
  }

  /// How often a cycle exchanges x and work. (If split, it exchanges d and work later.)
  int exchanges(std::size_t l, bool zero_start) const
  {
    const Smoother &smoother = *levels_[l].smoother;
    return is_split() ? (zero_start ? smoother.exchanges(true) : 0)
                      : smoother.exchanges(zero_start) + smoother.exchanges(false);
  }

  /// Before a cycle from zero on level l: x and work change places if the smoother will exchange them an odd number
  /// of times.
  void arrange(std::size_t l)
  {
    if (exchanges(l, true) % 2 == 1)
      x_[l].swap(work_[l]);
  }

  template <typename Function>
  void timed(double &seconds, Function &&f)
  {
    const double start = clock_ ? clock_() : 0.;
    f();
    if (clock_)
      seconds += clock_() - start;
  }

  std::vector<Level> levels_;
  std::unique_ptr<CoarseSolver> coarse_;
  Cycle cycle_;
  Clock clock_;
  LevelObserver observer_;
  int begun_level_ = outside; ///< on which the first step of the smoother is done
  std::vector<VectorType> x_, b_, work_;
  std::vector<VectorType> d_, rest_; ///< if split: the solution is x + d, rest = b - B x
  std::vector<LevelTimes> times_;
};
} // namespace tensormg
