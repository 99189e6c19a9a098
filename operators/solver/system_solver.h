// Solves of the dimensionless system B x = b of any cells in any context, by the method that the options name: set up once, for any
// number of right-hand sides.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <mpi.h>

#include "kernels/core/setup_times.h"
#include "kernels/device/kernel_loading.h"
#include "operators/mesh/agreement.h"
#include "operators/multigrid/multigrid_preconditioner.h"
#include "operators/solver/outer_method.h"
#include "operators/solver/precision_fallback.h"
#include "operators/solver/solve_events.h"
#include "operators/vectors/context.h"
#include "solvers/mixed_operator.h"
#include "solvers/rate_watch.h"
#include "tensormg/options.h"

namespace tensormg
{
/// What is solved: B of the finest level, and what can be made and said of it. What it makes outlives the system.
template <typename S>
concept LinearSystem = requires(const S &system, const MultigridOptions &multigrid,
    const SolverOptions &options, const CycleOptions &cycle, Coarsening coarsening)
{
  typename S::Context; // operators/vectors/context.h
  system.context();
  system.make_space();
  // Unique pointers; an operator in WideFloat, too, with has_basis_in_single.
  *system.template make_operator<double>();
  *system.make_cycle(multigrid, cycle);
  {
    S::has_basis_in_single
    } -> std::convertible_to<bool>;
  {
    system.communicator()
    } -> std::same_as<MPI_Comm>; // of all ranks that solve, each of them all of it or a part
  {
    system.n_levels()
    } -> std::same_as<std::size_t>;
  {
    system.longest_basis(options)
    } -> std::same_as<int>;
  // What to go on with where a cycle is too slow, and how a user names its coarsening. The flag: nobody has named the coarsening.
  {
    system.next_cycle(multigrid, bool{})
    } -> std::same_as<std::optional<MultigridOptions>>;
  {
    system.coarsening_word(multigrid)
    } -> std::same_as<const char *>;
  {
    system.can_coarsen_by(coarsening)
    } -> std::same_as<bool>;
  // Of B.
  {
    system.largest_eigenvalue_bound()
    } -> std::same_as<double>;
  // About the precision of a cycle that failed, which is not double: "may hold too little ..: double"; or nothing.
  {
    system.advice_on_precision()
    } -> std::same_as<std::string>;
};
/// With DirectSolver, whose solve(x, b) is B^-1 b.
template <typename S>
concept HasDirectSolver = requires(const S &system)
{
  typename S::DirectSolver;
  *system.make_direct();
};

struct SystemSettings
{
  CycleOptions cycle{};
  /// Whether the kernels of the options have been loaded; waits for who loads them. Empty: they have not.
  std::function<bool()> kernels_are_loaded{};
};

template <LinearSystem System>
class SystemSolver
{
public:
  using Context = typename System::Context;
  using VectorType = typename Context::template Vector<double>;
  using Space = typename Context::Space;

  /// The precision in `options` is not automatic. Takes no vectors yet.
  SystemSolver(System system, const SolverOptions &options, SystemSettings settings = {})
    : system_(std::move(system))
    , options_(options)
    , settings_(std::move(settings))
    , space_(system_.make_space())
    , operator_(system_.template make_operator<double>())
  {}
  SystemSolver(const SystemSolver &) = delete;
  SystemSolver &operator=(const SystemSolver &) = delete;

  /// Makes multigrid, or the direct solver, and the vectors of the method. x and b are those that will be solved for, or such as
  /// those; x stays as it is. Throws std::invalid_argument and std::length_error for what cannot be.
  void set_up(VectorType &x, const VectorType &b)
  {
    ending_all_if_alone([&] { make_method_and_cycle(x, b); });
  }

private:
  void make_method_and_cycle(VectorType &x, const VectorType &b)
  {
    if (is_direct())
    {
      if constexpr (HasDirectSolver<System>)
        direct_ = setup_times::in_scope("direct solver", [&] { return system_.make_direct(); });
      make_method();
    }
    else
    {
      multigrid_ = setup_times::in_scope("multigrid", [&] { return make_cycle(); });
      setup_times::in_scope("vectors of the method", [&] { make_method(); });
      make_first_calls(x, b);
    }
    setup_times::in_scope("waiting for the device", [&] {
      if (settings_.kernels_are_loaded)
        settings_.kernels_are_loaded();
      wait();
    });
  }
  /// What a rank throws alone while others wait for its messages ends all of them.
  template <typename F>
  auto ending_all_if_alone(const F &f) const
  {
    try
    {
      return f();
    }
    catch (const std::exception &error)
    {
      if constexpr (Context::on_device)
        if (const auto &nccl = system_.context().links.nccl; nccl != nullptr)
          nccl->end_if_alone(error);
      throw;
    }
  }

public:
  /// x = B^-1 b, from x with Start::given. The squares of the entries of b are in the range of double precision.
  SolveReport solve(VectorType &x, const VectorType &b, Start start, const SolveEvents &events = {})
  {
    if (!is_direct() && multigrid_ == nullptr) // what was to come after the last one has thrown
      set_up(x, b);
    if (!method_)
      make_method();
    SolveReport before; // of cycles that were given up
    for (Start now = start;;)
    {
      SolveReport report = ending_all_if_alone([&] { return attempt(x, b, now, events, before); });
      add_before(before, report);
      const bool raises = as_on_first_rank(must_raise(report));
      if (!raises && !report.converged() && report.rhs_norm > 0.)
        explain_rounding(space_.norm(x), report);
      if (raises)
      {
        raise(report, events);
        before = {};
        before.seconds = report.seconds;
        before.precision_fallback = report.precision_fallback;
        before.cycle_change = report.cycle_change;
        set_up(x, b);
        now = start;
        if (start == Start::given && events.restore_start)
          events.restore_start();
        else
          space_.axpby(0., b, 0., x);
      }
      else if (as_on_first_rank(is_too_slow(report)))
      {
        change_cycle(report, events);
        before = report;
        set_up(x, b);
        // What a failed cycle has left may be worse than nothing.
        if (!(report.true_relative_residual <= 1.))
          space_.axpby(0., b, 0., x);
        now = Start::given;
      }
      else
        return report;
    }
  }

  /// The cells of the grid have other numbers now, for which `options` are chosen. Vectors are kept, unless these numbers ask for another
  /// cycle. What slow solves and those that left the range of their numbers have changed stays as it is, as far as it is possible.
  void update_cells(const MultigridOptions &options)
  {
    operator_->update_cells();
    if (products_)
      products_->update_cells();
    const MultigridOptions before = options_.multigrid;
    options_.multigrid = with_earlier_changes(options);
    const bool is_same = options_.multigrid.coarsening == before.coarsening &&
        options_.multigrid.precision == before.precision &&
        options_.multigrid.single_levels == before.single_levels;
    if (is_same && multigrid_ != nullptr && multigrid_->update())
      return;
    method_.reset();
    multigrid_.reset();
    multigrid_ = make_cycle();
    make_method();
  }

  /// y = B x
  void multiply(VectorType &y, const VectorType &x) { operator_->vmult(y, x); }

  /// z = M^-1 r: one cycle from zero, or the direct solution.
  void precondition(VectorType &z, const VectorType &r)
  {
    const double norm = space_.norm(r);
    if (!(norm > 0.))
      space_.axpby(0., r, 0., z);
    else if (is_direct())
      solve_directly(z, r);
    else if (multigrid_ != nullptr)
      multigrid_->apply(z, r, norm);
    else
      throw std::runtime_error("there is no cycle for these coefficients");
  }

  /// For an iterative method. Its vectors make room and are taken again in the next solve. `without_mean` makes the error that of
  /// a solution with mean zero, where that is asked for.
  ErrorEstimate estimate_error(const VectorType &x, const VectorType &b,
      const std::function<void(VectorType &)> &before_norm = {})
  {
    method_.reset();
    VectorType r = space_.make_vector(), e = space_.make_vector();
    operator_->residual(r, x, b);
    precondition(e, r);
    const double energy = std::sqrt(std::max(space_.dot(e, r), 0.));
    if (before_norm)
      before_norm(e);
    return {space_.norm(e), energy};
  }

  const System &system() const { return system_; }
  const Space &space() const { return space_; }
  /// With the levels in single that a solve has fallen back to.
  const SolverOptions &options() const { return options_; }
  bool is_direct() const { return options_.solver == OuterSolver::direct; }
  /// nullptr if direct.
  const MultigridPreconditionerIn<Context> *multigrid() const { return multigrid_.get(); }

private:
  template <typename Number>
  using Operator = typename System::template Operator<Number>;
  struct None
  {};
  template <typename S>
  struct DirectSolverOf : std::type_identity<None>
  {};
  template <HasDirectSolver S>
  struct DirectSolverOf<S> : std::type_identity<typename S::DirectSolver>
  {};
  using DirectSolver = typename DirectSolverOf<System>::type;
  static constexpr bool has_direct = HasDirectSolver<System>;
  /// Of a basis in single.
  using Products =
      std::conditional_t<System::has_basis_in_single, Operator<WideFloat>, Operator<double>>;
  using Mixed = std::conditional_t<System::has_basis_in_single,
      MixedOperator<Operator<double>, Operator<WideFloat>>, None>;

  std::unique_ptr<MultigridPreconditionerIn<Context>> make_cycle() const
  {
    return system_.make_cycle(options_.multigrid, settings_.cycle);
  }

  void make_method()
  {
    if (is_direct())
      make_direct_method();
    else if (options_.has_single_basis())
      make_krylov_in_single();
    else
      make_krylov<VectorType>(*operator_);
  }
  void make_direct_method()
  {
    if constexpr (has_direct)
      method_ = std::make_unique<DirectMethod<Space, Operator<double>, DirectSolver>>(
          space_, *operator_, *direct_, options_.tolerance);
    else
      throw std::invalid_argument("there is no direct solver for these cells");
  }
  void solve_directly(VectorType &z, const VectorType &r)
  {
    if constexpr (has_direct)
      direct_->solve(z, r);
  }
  void make_krylov_in_single()
  {
    if constexpr (System::has_basis_in_single)
    {
      products_ = system_.template make_operator<WideFloat>();
      both_ = std::make_unique<Mixed>(*operator_, *products_);
      make_krylov<typename Space::WideFloatVector>(*both_);
    }
    else
      throw std::invalid_argument("there is no basis in single precision for these cells");
  }
  template <typename BasisVector, typename AnyOperator>
  void make_krylov(AnyOperator &op)
  {
    if (multigrid_ == nullptr) // update_cells() has thrown
      throw std::runtime_error("there is no cycle for these coefficients");
    using Cycles = MultigridPreconditionerIn<Context>;
    if (options_.solver == OuterSolver::cg)
    {
      using Method = ConjugateGradients<Space, BasisVector>;
      method_ = std::make_unique<KrylovMethod<VectorType, Method, AnyOperator, Cycles>>(
          op, *multigrid_, space_, options_.tolerance, options_.max_iterations);
    }
    else
    {
      using Method = Fgmres<Space, BasisVector>;
      method_ =
          std::make_unique<KrylovMethod<VectorType, Method, AnyOperator, Cycles>>(op, *multigrid_,
              space_, options_.tolerance, options_.max_iterations, system_.longest_basis(options_));
    }
  }

  /// On a device first calls are slow: they load kernels and record graphs.
  void make_first_calls(VectorType &x, const VectorType &b)
  {
    if constexpr (Context::on_device)
    {
      const setup_times::Scope scope("first calls");
      const bool kernels_are_loaded = setup_times::in_scope("kernels", [&] {
        return on_all_ranks(settings_.kernels_are_loaded && settings_.kernels_are_loaded() &&
                !has_fallen_back_ &&
                options_.multigrid.single_levels == 0, // which are not loaded ahead
            system_.communicator());
      });
      {
        const KernelLoading instead_of_running(system_.context().stream);
        method_->prepare(x, b);
      }
      multigrid_->prepare(options_.full_multigrid, kernels_are_loaded);
    }
  }

  /// One attempt, after iterations of other cycles.
  SolveReport attempt(VectorType &x, const VectorType &b, Start start, const SolveEvents &events,
      const SolveReport &before)
  {
    if (events.begins)
      events.begins();
    const double begin = now();
    if (options_.full_multigrid && !is_direct() && start == Start::zero)
    {
      if (space_.norm(b) > 0.)
        multigrid_->full_start(x, b, options_.full_multigrid_cycles);
      start = Start::given_if_better;
    }
    RateWatch watch;
    int iterations = 0;
    const auto callback = [&](int iteration, double residual) {
      watch.take(residual);
      iterations = before.iterations + iteration;
      if (events.iteration && (iteration > 0 || before.residuals.empty()))
        events.iteration(iterations, residual);
    };
    const auto interrupt = [&] {
      return iterations >= options_.max_iterations ||
          (watch.is_slow() && has_room_ && options_of_next_cycle());
    };
    SolveReport report = method_->solve(x, b, callback, start, interrupt);
    wait();
    report.seconds = now() - begin;
    if (events.has_ended)
      events.has_ended();
    return report;
  }

  /// Makes `report` that of the whole solve.
  static void add_before(const SolveReport &before, SolveReport &report)
  {
    report.seconds += before.seconds;
    report.precision_fallback = before.precision_fallback;
    report.cycle_change = before.cycle_change;
    if (before.residuals.empty())
      return;
    report.dropped_start = report.dropped_start || before.dropped_start;
    report.iterations += before.iterations;
    if (report.reason == StopReason::iteration_limit)
      report.detail =
          "tolerance not reached after " + std::to_string(report.iterations) + " iterations";
    std::vector<double> all = before.residuals;
    if (!report.residuals.empty())
      all.insert(all.end(), report.residuals.begin() + 1, report.residuals.end());
    report.residuals = std::move(all);
  }

  /// Whether numbers that left their range ended the solve, and levels in single may help.
  bool must_raise(const SolveReport &report) const
  {
    if (is_direct() || !options_.multigrid.falls_back_to_single())
      return false;
    return report.reason == StopReason::not_finite ||
        (report.reason == StopReason::stagnated && multigrid_->broken_level());
  }

  /// Gives back the memory of cycle and method, and changes the options.
  void raise(SolveReport &report, const SolveEvents &events)
  {
    const std::optional<std::size_t> broken = multigrid_->broken_level();
    const Precision before = options_.multigrid.precision;
    report.precision_fallback +=
        (report.precision_fallback.empty() ? "" : "; then ") + report.detail;
    method_.reset();
    multigrid_.reset();
    has_fallen_back_ = has_raised_ = true;
    options_.multigrid = raise_levels(options_.multigrid, broken, system_.n_levels());
    MPI_Barrier(system_.communicator()); // all ranks have given back what they had
    if (events.check_memory)
      events.check_memory(options_);
    if (events.restarts)
      events.restarts(fallback_text(before, report.detail, options_.multigrid));
  }

  MultigridOptions with_earlier_changes(MultigridOptions options) const
  {
    const MultigridOptions &now = options_.multigrid;
    if (has_changed_ && system_.can_coarsen_by(now.coarsening))
    {
      options.coarsening = now.coarsening;
      options.precision = now.precision;
      options.single_levels = now.single_levels;
    }
    else if (has_raised_ && options.is_below_single())
    {
      options.precision = now.is_below_single() ? now.precision : Precision::single_precision;
      options.single_levels = now.single_levels;
    }
    return options;
  }

  std::optional<MultigridOptions> options_of_next_cycle() const
  {
    return system_.next_cycle(options_.multigrid, is_coarsening_free_);
  }
  /// Perhaps by rounding, which its bound may say wrongly where coefficients differ much: then the next cycle shows it.
  bool is_too_slow(const SolveReport &report) const
  {
    const bool by_the_cycle = report.reason == StopReason::stagnated ||
        report.reason == StopReason::indefinite_preconditioner ||
        report.reason == StopReason::iteration_limit;
    return by_the_cycle && report.iterations < options_.max_iterations && !is_direct() &&
        has_room_ && options_of_next_cycle();
  }
  /// Gives back the memory of cycle and method, and changes the options, unless there is not enough memory for what these need.
  void change_cycle(SolveReport &report, const SolveEvents &events)
  {
    const MultigridOptions before = options_.multigrid;
    SolverOptions changed = options_;
    changed.multigrid = *options_of_next_cycle();
    std::string name = "multigrid.precision = single";
    if (changed.multigrid.coarsening == Coarsening::vertices_and_lines)
      name = "multigrid.coarsening = vertices_and_lines";
    else if (changed.multigrid.coarsening != before.coarsening)
      name = std::string("multigrid.coarsening = ") + system_.coarsening_word(changed.multigrid);
    std::string text = "slow after " + std::to_string(report.iterations) +
        " iterations, relative residual " + number_text(report.true_relative_residual) + "; ";
    method_.reset();
    multigrid_.reset();
    has_fallen_back_ = true;
    has_room_ = is_there_room(changed, events);
    if (has_room_)
    {
      options_ = changed;
      has_changed_ = true;
    }
    text += (has_room_ ? "the solve goes on with " : "memory does not suffice for ") + name;
    report.cycle_change += (report.cycle_change.empty() ? "" : "; then ") + text;
    if (events.restarts)
      events.restarts(text);
  }
  /// When all ranks have given back what they had.
  bool is_there_room(const SolverOptions &options, const SolveEvents &events) const
  {
    MPI_Barrier(system_.communicator());
    try
    {
      if (events.check_memory)
        events.check_memory(options);
      return true;
    }
    catch (const std::runtime_error &)
    {
      return false;
    }
  }
  /// Ranks that solve a replicated grid may have other bits.
  bool as_on_first_rank(bool here) const
  {
    int first = here ? 1 : 0;
    MPI_Bcast(&first, 1, MPI_INT, 0, system_.communicator());
    return first != 0;
  }

  /// Says of a solve that did not converge that its residual is what rounding x leaves, where it is.
  void explain_rounding(double norm_x, SolveReport &report) const
  {
    if (is_direct()) // has said so
      return;
    const double rounding = 0x1p-53 * system_.largest_eigenvalue_bound() * norm_x / report.rhs_norm;
    // Where coefficients differ by many orders of magnitude the bound says nothing.
    report.is_rounding = rounding < 1. && report.true_relative_residual <= rounding;
    const Precision precision = options_.multigrid.precision;
    if (const std::string advice = system_.advice_on_precision();
        !report.is_rounding && precision != Precision::double_precision && !advice.empty())
      report.detail +=
          std::string("; multigrid.precision = ") + to_string(precision) + ' ' + advice;
    if (report.is_rounding)
      report.detail += "; that is what rounding the solution to double precision leaves (up to " +
          number_text(rounding) + "): the solution itself is as exact as that, and a larger " +
          "solver.tolerance can be met";
  }

  void wait() const
  {
    if constexpr (Context::on_device)
      device::synchronize(system_.context().stream);
  }
  /// Time that includes what the slowest rank needs.
  double now() const
  {
    MPI_Barrier(system_.communicator());
    return MPI_Wtime();
  }

  System system_;
  SolverOptions options_;
  SystemSettings settings_;
  Space space_;
  std::unique_ptr<Operator<double>> operator_;
  std::unique_ptr<Products> products_;
  std::unique_ptr<Mixed> both_;
  std::unique_ptr<MultigridPreconditionerIn<Context>> multigrid_;
  std::unique_ptr<DirectSolver> direct_;
  std::unique_ptr<OuterMethod<VectorType>> method_;
  bool has_fallen_back_ = false; ///< to kernels that have not been loaded ahead
  bool has_raised_ = false, has_changed_ = false;
  bool has_room_ = true; ///< for the next cycle
  const bool is_coarsening_free_ = options_.multigrid.coarsening == Coarsening::automatic;
};
} // namespace tensormg
