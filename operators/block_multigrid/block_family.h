// The family of operators on curved cells of a mesh of blocks.
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
#include "operators/block_multigrid/block_transfer.h"
#include "operators/block_multigrid/dense_coarse_solver.h"
#include "operators/block_multigrid/vertex_coarse_solver.h"
#include "operators/cellmean/cell_mean_kernel.h"
#include "operators/cellmean/device_cell_mean_kernel.h"
#include "operators/cellmean/operator_choice.h"
#include "operators/cellwise/coarse_solver.h"
#include "operators/constant/device_patch_correction.h"
#include "operators/constant/patch_correction.h"
#include "operators/constant/start_vector.h"
#include "operators/curved/device_pointwise_kernel.h"
#include "operators/curved/pointwise_kernel.h"
#include "operators/curved/pointwise_operator.h"
#include "operators/pointwise/block_levels.h"
#include "operators/vectors/context.h"
#include "solvers/smoother.h"
#include "tensormg/options.h"

namespace tensormg
{
/// A LevelFamily (operators/multigrid/family.h) on the levels of a BlockLevels, or on the coarsest of them.
template <typename Context_ = HostContext>
class BlockFamily
{
public:
  using Context = Context_;
  using Space = typename Context::Space;
  template <typename Number>
  using Operator = PointwiseOperator<Number, Context>;
  template <typename Number>
  using Transfer = BlockTransfer<Number, Context>;
  template <typename Number>
  using CoarseSolver = CoarseSolverBase<typename Context::template Vector<Number>>;
  template <typename Number>
  using PatchCorrectionType = std::conditional_t<Context::on_device, DevicePatchCorrection<Number>,
      PatchCorrection<Number>>;
  /// Of a cycle in half the estimate is in single.
  template <typename Number>
  using EstimateNumber = std::conditional_t<std::is_same_v<Number, double>, double, float>;

  /// `levels` must outlive the family and all that it makes. `options`: of smoothers and operators.
  explicit BlockFamily(
      const BlockLevels &levels, const MultigridOptions &options = {}, Context context = {})
    : levels_(&levels)
    , context_(std::move(context))
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
  const Context &context() const { return context_; }
  /// What lies on vertices is on the host.
  bool can_be_recorded() const { return levels_->vertices() == nullptr; }
  bool is_distributed() const { return grid(size_ - 1).communicator != MPI_COMM_SELF; }
  std::size_t size() const { return size_; }
  BlockFamily in_single(std::size_t count) const
  {
    BlockFamily result = *this;
    result.size_ = count;
    return result;
  }

  Space make_space(std::size_t l) const
  {
    return context_.make_space(block(l), grid(l).communicator);
  }
  template <typename Number>
  auto make_operator(std::size_t l, bool /*exact_steps*/ = false) const
  {
    return std::make_unique<Operator<Number>>(
        *levels_, l, relaxations_[l], make_kernel<Number>(l, has_cell_means(l)), context_);
  }
  /// With the diagonal, and with one metric per cell or the one at points.
  template <typename Number>
  auto make_operator_with_diagonal(std::size_t l, bool has_means) const
  {
    return std::make_unique<Operator<Number>>(
        *levels_, l, nullptr, make_kernel<Number>(l, has_means), context_);
  }
  template <typename Number>
  auto make_transfer(std::size_t l) const
  {
    return std::make_unique<Transfer<Number>>(
        levels_->levels()[l], levels_->levels()[l - 1], context_);
  }
  template <typename Number>
  std::unique_ptr<CoarseSolver<Number>> make_coarse_solver(std::size_t l) const
  {
    if (l == 0 && levels_->vertices() != nullptr)
      return std::make_unique<VertexCoarseSolver<Number, Context>>(
          *levels_, make_operator<double>(l), options_of_level(options_, l), context_);
    if constexpr (Context::on_device)
      return std::make_unique<DenseCoarseSolver<Number>>(*levels_, l, context_.stream);
    else
      return std::make_unique<HostCoarseSolver<Number, Operator<double>>>(
          grid(l), levels_->levels()[l].basis, make_operator<double>(l), levels_->is_singular());
  }
  template <typename Number>
  PatchCorrectionType<Number> make_patch_correction(std::size_t /*l*/) const
  {
    throw std::invalid_argument("the patch smoother has no patches of curved cells");
  }
  auto make_start_vector(std::size_t l) const { return pseudo_random_vector(grid(l), context_); }

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
    const std::int64_t of_kernel =
        has_cell_means(l) ? Means<Number>::bytes(level) : AtPoints<Number>::bytes(level);
    // And a diagonal, or vectors of a step.
    return of_kernel + 2 * block(l).size() * std::int64_t{sizeof(Compute<Number>)} +
        Relaxation<Number>::bytes(block(l), relaxation(l));
  }
  template <typename Number>
  static std::int64_t bytes_of_patches(std::size_t /*l*/)
  {
    return 0;
  }
  template <typename Number>
  std::int64_t bytes_of_coarse_solver(std::size_t l) const
  {
    if (l == 0 && levels_->vertices() != nullptr)
      return VertexCoarseSolver<Number>::bytes(*levels_);
    return Context::on_device ? DeviceDenseInverse::bytes(grid(l))
                              : HostCoarseSolver<Number, Operator<double>>::bytes(grid(l));
  }

private:
  template <typename Number>
  using Relaxation = std::conditional_t<Context::on_device, DeviceSeparableRelaxation<Number>,
      SeparableRelaxation<Number>>;
  template <typename Number>
  using AtPoints = std::conditional_t<Context::on_device, DevicePointwiseKernel<Number>,
      PointwiseKernel<Number>>;
  template <typename Number>
  using Means =
      std::conditional_t<Context::on_device, DeviceCellMeanKernel<Number>, CellMeanKernel<Number>>;
  template <typename Number>
  std::unique_ptr<BlockKernel<Number>> make_kernel(std::size_t l, bool has_means) const
  {
    const BlockLevels::Level &level = levels_->levels()[l];
    if (!has_means)
      return nullptr;
    if constexpr (Context::on_device)
      return std::make_unique<Means<Number>>(level, context_);
    else
      return std::make_unique<Means<Number>>(level);
  }
  /// A coarse solver has the true metric, which may be one per cell.
  bool has_cell_means(std::size_t l) const
  {
    return levels_->levels()[l].has_one_metric_per_cell() ||
        (operator_.is_cell_mean && options_.cycle_operator != CycleOperator::true_metric && l > 0);
  }
  const LevelGrid &grid(std::size_t l) const { return levels_->levels()[l].grid; }

  const BlockLevels *levels_;
  Context context_;
  MultigridOptions options_;
  std::size_t size_;
  OperatorChoice operator_;                                         ///< of the cycle
  std::vector<std::shared_ptr<const LevelRelaxation>> relaxations_; ///< by level
};
} // namespace tensormg
