// The family of operators on axis-parallel cells of a box, with one coefficient for all of them or with numbers of each.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <type_traits>

#include "operators/cellwise/coarse_solver.h"
#include "operators/constant/coarse_box_solver.h"
#include "operators/constant/device_patch_correction.h"
#include "operators/constant/laplace_operator.h"
#include "operators/constant/level_choices.h"
#include "operators/constant/patch_correction.h"
#include "operators/constant/start_vector.h"
#include "operators/constant/transfer_operator.h"
#include "operators/mesh/grid.h"
#include "operators/multigrid/coarsening_choice.h"
#include "operators/multigrid/device_coarse_solver.h"
#include "operators/multigrid/vertex_cycle.h"
#include "operators/vectors/context.h"

namespace tensormg
{
/// A LevelFamily (operators/multigrid/family.h) on the levels of a Grid, or on the coarsest of them.
template <typename Context_>
class BoxFamily
{
public:
  using Context = Context_;
  using Space = typename Context::Space;
  template <typename Number>
  using Operator = LaplaceOperator<Number, Context>;
  template <typename Number>
  using Transfer = TransferOperator<Number, Context>;
  template <typename Number>
  using CoarseSolver = CoarseSolverBase<typename Context::template Vector<Number>>;
  template <typename Number>
  using PatchCorrectionType = std::conditional_t<Context::on_device, DevicePatchCorrection<Number>,
      PatchCorrection<Number>>;
  template <typename Number>
  using EstimateNumber = double;

  /// `steps`: StepOptions::arithmetic of all levels. `grid` and `basis` must outlive the family and all that it makes.
  BoxFamily(const Grid &grid, const CellBasis &basis, laplace::Backend backend, Context context,
      std::optional<laplace::Arithmetic> steps = std::nullopt)
    : grid_(&grid)
    , basis_(&basis)
    , size_(grid.levels.size())
    , backend_(backend)
    , steps_(steps)
    , context_(std::move(context))
  {}

  /// Chooses what serves cells with numbers of their own.
  void choose(const MultigridOptions &options)
  {
    options_ = options;
    coarsening_ = choose_coarsening(*grid_, options);
  }
  /// For other numbers of the cells; false: another cycle serves these.
  bool chooses_the_same()
  {
    const CoarseningChoice before = coarsening_;
    choose(options_);
    return coarsening_.is_same_cycle(before);
  }
  /// The level on which the cycle ends, unless a coarser one can be solved directly.
  std::size_t coarsest_level() const
  {
    return coarsening_.vertices || coarsening_.whole_grid ? size_ - 1 : 0;
  }

  const Context &context() const { return context_; }
  /// Whether the finest level lies on several ranks.
  bool is_distributed() const { return level(size_ - 1).communicator != MPI_COMM_SELF; }
  static bool can_be_recorded() { return true; }
  /// The number of levels; level 0 is the coarsest.
  std::size_t size() const { return size_; }
  /// The family of the coarsest levels, in single.
  BoxFamily in_single(std::size_t count) const
  {
    BoxFamily result = *this;
    result.size_ = count;
    result.steps_ = std::nullopt;
    return result;
  }

  Space make_space(std::size_t l) const
  {
    return context_.make_space(level(l).block, level(l).communicator);
  }
  template <typename Number>
  auto make_operator(std::size_t l, bool exact_steps = false) const
  {
    const auto arithmetic = std::is_same_v<Number, double> ? std::nullopt : steps_;
    return std::make_unique<Operator<Number>>(level(l), *basis_, backend_, context_,
        StepOptions{arithmetic, exact_steps ? spectra_.get() : nullptr});
  }
  template <typename Number>
  auto make_transfer(std::size_t l) const
  {
    return std::make_unique<Transfer<Number>>(level(l), level(l - 1), *basis_, backend_, context_);
  }
  template <typename Number>
  std::unique_ptr<CoarseSolver<Number>> make_coarse_solver(std::size_t l) const
  {
    using Box = CoarseBoxSolver<Number, Context>;
    const Problem &problem = grid_->problem;
    if (coarsening_.vertices)
      return std::make_unique<VertexCycle<Number, Context>>(
          level(l), *basis_, backend_, problem, options_, coarsening_, context_);
    if (!has_cells(l) || coarsening_.whole_grid)
      return std::make_unique<Box>(level(l), *basis_, problem, context_);
    if constexpr (Context::on_device)
      return std::make_unique<DeviceCellwiseSolver<Number>>(
          level(l), *basis_, problem.is_singular(), context_);
    else
      return std::make_unique<HostCoarseSolver<Number, Operator<double>>>(
          level(l), *basis_, make_operator<double>(l), problem.is_singular());
  }
  template <typename Number>
  PatchCorrectionType<Number> make_patch_correction(std::size_t l) const
  {
    if constexpr (Context::on_device)
      return {level(l), *basis_, backend_, context_.stream};
    else
      return {level(l), *basis_, backend_};
  }
  /// For estimates of eigenvalues.
  auto make_start_vector(std::size_t l) const { return pseudo_random_vector(level(l), context_); }

  double coarsening(std::size_t l) const { return coarsening_factor(level(l), level(l - 1)); }
  int halved(std::size_t l) const { return halved_directions(level(l), level(l - 1)); }
  std::size_t representative_level(std::size_t l) const
  {
    return has_cells(l) ? l : tensormg::representative_level(*grid_, l);
  }
  MultigridOptions options_of_level(const MultigridOptions &options, std::size_t l) const
  {
    return tensormg::options_of_level(options, level(l));
  }
  double smallest_eigenvalue() const { return tensormg::smallest_eigenvalue(*grid_); }
  /// Whether every direction of the level has at most so many unknowns; where cells have numbers, the level.
  bool has_short_lines(std::size_t l, std::int64_t longest) const
  {
    const Block &block = level(l).block;
    if (level(l).communicator != MPI_COMM_SELF)
      return false;
    if (has_cells(l))
      return DenseLevel::suits(level(l));
    for (int d = 0; d < block.dim; ++d)
      if (fast_diagonalisation::length(block, d) > longest)
        return false;
    return true;
  }

  const Block &block(std::size_t l) const { return level(l).block; }
  /// Bytes of the objects of level l besides vectors of the cycle.
  template <typename Number>
  std::int64_t bytes_between_levels(std::size_t l) const
  {
    return Transfer<Number>::bytes(level(l), level(l - 1));
  }
  template <typename Number>
  std::int64_t bytes_of_steps(std::size_t l) const
  {
    return Operator<Number>::bytes(level(l));
  }
  template <typename Number>
  std::int64_t bytes_of_patches(std::size_t l) const
  {
    return Context::on_device ? patch::device_table_bytes(level(l).block.n) : 0;
  }
  template <typename Number>
  std::int64_t bytes_of_coarse_solver(std::size_t l) const
  {
    if (coarsening_.vertices)
      return VertexCycle<Number, Context>::bytes(level(l), coarsening_);
    if (has_cells(l) && !coarsening_.whole_grid)
      return Context::on_device ? DeviceCellwiseSolver<Number>::bytes(level(l))
                                : HostCoarseSolver<Number, Operator<double>>::bytes(level(l));
    return CoarseBoxSolver<Number, Context>::bytes(level(l));
  }

private:
  const LevelGrid &level(std::size_t l) const { return grid_->levels[l]; }
  bool has_cells(std::size_t l) const { return level(l).cells != nullptr; }

  const Grid *grid_;
  const CellBasis *basis_;
  std::size_t size_;
  laplace::Backend backend_;
  std::optional<laplace::Arithmetic> steps_;
  Context context_;
  MultigridOptions options_;
  CoarseningChoice coarsening_;
  std::shared_ptr<LineSpectra> spectra_ = std::make_shared<LineSpectra>();
};
} // namespace tensormg
