// The family of operators on curved cells of a mesh of blocks, in host memory.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <numbers>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/transfer/transfer.h"
#include "operators/cellmean/cell_mean_kernel.h"
#include "operators/cellmean/operator_choice.h"
#include "operators/cellwise/coarse_solver.h"
#include "operators/constant/patch_correction.h"
#include "operators/constant/start_vector.h"
#include "operators/curved/pointwise_operator.h"
#include "operators/multigrid/block_transfer.h"
#include "operators/multigrid/vertex_coarse_solver.h"
#include "operators/pointwise/block_levels.h"
#include "operators/vectors/context.h"
#include "solvers/smoother.h"
#include "tensormg/options.h"

namespace tensormg
{
/// A LevelFamily (operators/multigrid/family.h) on the levels of a BlockLevels, or on the coarsest of them.
class BlockFamily
{
public:
  using Context = HostContext;
  using Space = VectorSpace;
  template <typename Number>
  using Operator = PointwiseOperator<Number>;
  template <typename Number>
  using Transfer = BlockTransfer<Number>;
  template <typename Number>
  using PatchCorrectionType = PatchCorrection<Number>;
  /// Of a cycle in half the estimate is in single.
  template <typename Number>
  using EstimateNumber = std::conditional_t<std::is_same_v<Number, double>, double, float>;

  /// `levels` must outlive the family and all that it makes. `options`: of smoothers and operators.
  explicit BlockFamily(const BlockLevels &levels, const MultigridOptions &options = {})
    : levels_(&levels)
    , options_(options)
    , size_(levels.levels().size())
  {
    const std::vector<RelaxationChoice> choices = choose_relaxations(levels, options.relaxation);
    for (std::size_t l = 0; l < size_; ++l)
      relaxations_.push_back(std::make_shared<const LevelRelaxation>(levels, l, choices[l]));
    operator_ = choose_operator(levels, options.cycle_operator, choices.back());
  }
  const OperatorChoice &cycle_operator() const { return operator_; }
  /// What serves a level, and why.
  const RelaxationChoice &relaxation(std::size_t l) const { return relaxations_[l]->choice; }

  static bool chooses_the_same() { return true; }
  static std::size_t coarsest_level() { return 0; }
  static const Context &context()
  {
    static const Context host;
    return host;
  }
  bool is_distributed() const { return grid(size_ - 1).communicator != MPI_COMM_SELF; }
  std::size_t size() const { return size_; }
  BlockFamily in_single(std::size_t count) const
  {
    BlockFamily result = *this;
    result.size_ = count;
    return result;
  }

  Space make_space(std::size_t l) const { return {block(l), grid(l).communicator}; }
  template <typename Number>
  auto make_operator(std::size_t l, bool /*exact_steps*/ = false) const
  {
    std::unique_ptr<BlockKernel<Number>> kernel;
    if (has_cell_means(l))
      kernel = std::make_unique<CellMeanKernel<Number>>(levels_->levels()[l]);
    return std::make_unique<Operator<Number>>(*levels_, l, relaxations_[l], std::move(kernel));
  }
  template <typename Number>
  auto make_transfer(std::size_t l) const
  {
    return std::make_unique<Transfer<Number>>(levels_->levels()[l], levels_->levels()[l - 1]);
  }
  template <typename Number>
  std::unique_ptr<CoarseSolverBase<Vector<Number>>> make_coarse_solver(std::size_t l) const
  {
    if (l == 0 && levels_->vertices() != nullptr)
      return std::make_unique<VertexCoarseSolver<Number>>(
          *levels_, make_operator<double>(l), options_of_level(options_, l));
    return std::make_unique<HostCoarseSolver<Number, Operator<double>>>(
        grid(l), levels_->levels()[l].basis, make_operator<double>(l), levels_->is_singular());
  }
  template <typename Number>
  PatchCorrectionType<Number> make_patch_correction(std::size_t /*l*/) const
  {
    throw std::invalid_argument("the patch smoother has no patches of curved cells");
  }
  auto make_start_vector(std::size_t l) const { return pseudo_random_vector(grid(l)); }

  /// Restriction is the L2 projection, the transposed prolongation but for 1/2 in each halved direction; A of a level is `scale` times its
  /// numbers.
  double coarsening(std::size_t l) const
  {
    return std::exp2(halved(l)) * levels_->levels()[l].scale / levels_->levels()[l - 1].scale;
  }
  int halved(std::size_t l) const
  {
    const bool are_same =
        levels_->levels()[l].shape.per_direction == levels_->levels()[l - 1].shape.per_direction;
    return are_same ? 0 : block(l).dim;
  }
  static std::size_t representative_level(std::size_t l) { return l; }
  /// Where K jumps inside blocks few cells have the largest eigenvalue, of which 12 steps may miss a seventh.
  MultigridOptions options_of_level(MultigridOptions options, std::size_t /*l*/) const
  {
    if (levels_->coarsening().vertices)
      options.eigenvalue_steps = std::max(options.eigenvalue_steps, 20);
    return options;
  }
  /// As if the blocks were a cube.
  double smallest_eigenvalue() const
  {
    const double cells =
        std::pow(static_cast<double>(grid(size_ - 1).global_dofs()), 1. / block(0).dim) /
        block(size_ - 1).n;
    return std::pow(std::numbers::pi / cells, 2);
  }
  static bool has_short_lines(std::size_t /*l*/, std::int64_t /*longest*/) { return false; }

  const Block &block(std::size_t l) const { return grid(l).block; }
  template <typename Number>
  std::int64_t bytes_between_levels(std::size_t l) const
  {
    return Transfer<Number>::bytes(grid(l), grid(l - 1));
  }
  template <typename Number>
  std::int64_t bytes_of_steps(std::size_t l) const
  {
    const BlockLevels::Level &level = levels_->levels()[l];
    const std::int64_t of_kernel = has_cell_means(l) ? CellMeanKernel<Number>::bytes(level)
                                                     : PointwiseKernel<Number>::bytes(level);
    // And a diagonal, or vectors of a step.
    return of_kernel + 2 * block(l).size() * std::int64_t{sizeof(Compute<Number>)} +
        SeparableRelaxation<Number>::bytes(block(l), relaxation(l));
  }
  template <typename Number>
  static std::int64_t bytes_of_patches(std::size_t /*l*/)
  {
    return 0;
  }
  template <typename Number>
  std::int64_t bytes_of_coarse_solver(std::size_t l) const
  {
    return l == 0 && levels_->vertices() != nullptr
        ? VertexCoarseSolver<Number>::bytes(*levels_)
        : HostCoarseSolver<Number, Operator<double>>::bytes(grid(l));
  }

private:
  /// A coarse solver has the true metric, which may be one per cell.
  bool has_cell_means(std::size_t l) const
  {
    return levels_->levels()[l].has_one_metric_per_cell() ||
        (operator_.is_cell_mean && options_.cycle_operator != CycleOperator::true_metric && l > 0);
  }
  const LevelGrid &grid(std::size_t l) const { return levels_->levels()[l].grid; }

  const BlockLevels *levels_;
  MultigridOptions options_;
  std::size_t size_;
  OperatorChoice operator_;                                         ///< of the cycle
  std::vector<std::shared_ptr<const LevelRelaxation>> relaxations_; ///< by level
};
} // namespace tensormg
