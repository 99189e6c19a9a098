// The coarsest level of a mesh with many cells: a cycle of two levels over continuous linear functions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/vector/cuda.h"
#include "kernels/vector/vector.h"
#include "operators/cellwise/sparse_solver.h"
#include "operators/constant/start_vector.h"
#include "operators/curved/pointwise_operator.h"
#include "operators/mesh/sums_over_ranks.h"
#include "operators/multigrid/eigenvalue_estimate.h"
#include "operators/multigrid/smoothing_choices.h"
#include "operators/pointwise/block_levels.h"
#include "operators/pointwise/cell_variety.h"
#include "operators/vectors/context.h"
#include "solvers/chebyshev.h"
#include "solvers/smoother.h"
#include "tensormg/options.h"

namespace tensormg
{
/// x = C b for level 0 of a BlockLevels that has vertices(), in double: smoothing, correction by (P'BP)^-1 (block_vertices.h,
/// sparse_solver.h), smoothing. C is symmetric and the same each time, where coefficients jump and V-cycles serve up to 3 per cent. Where constants are in the kernel, x and b are freed of them. More than
/// one such cycle saves multigrid no iteration. Where the level is divided among ranks, all of them have all vertices, and sum P'r. In device memory
/// the smoother works there, and the correction on the host, for which the residual is copied: that cannot be recorded.
template <typename Number, typename Context = HostContext>
class VertexCoarseSolver : public CoarseSolverBase<typename Context::template Vector<Number>>
{
  template <typename T>
  using VectorIn = typename Context::template Vector<T>;
  using Operator = PointwiseOperator<double, Context>;
  using Space = typename Context::Space;

public:
  /// `levels` must outlive the object; `op`: B of level 0. Collective. Throws as SparseSolver, and EigenvalueError if B is not finite.
  VertexCoarseSolver(const BlockLevels &levels, std::unique_ptr<Operator> op,
      const MultigridOptions &options, const Context &context = {})
    : level_(levels.levels().front())
    , vertices_(*levels.vertices())
    , context_(context)
    , space_(context.make_space(level_.grid.block, level_.grid.communicator))
    , operator_(std::move(op))
    , smoother_(*operator_, smoothing_steps(options, lambda_max(options)))
    , x_(operator_->make_vector())
    , b_(operator_->make_vector())
    , work_(operator_->make_vector())
  {
    if constexpr (Context::on_device)
      on_host_ = Vector<double>(level_.grid.block);
    if (vertices_.size() > 0)
      solver_.emplace(vertices_.matrix(levels),
          sparse_method(vertices_.size(), level_.grid.block.dim), levels.is_singular(),
          cell_variety(level_).between > BlockLevels::most_jump_in_blocks);
    if (!levels.is_singular())
      return;
    constant_ = operator_->make_vector();
    add_constant(constant_);
    space_.axpby(0., constant_, 1. / space_.norm(constant_), constant_);
  }

  void solve(VectorIn<Number> &x, const VectorIn<Number> &b) override
  {
    space_.convert(Space::scale(1.), b, b_);
    run();
    space_.convert(Space::scale(1.), x_, x);
  }

  static std::int64_t bytes(const BlockLevels &levels)
  {
    const LevelGrid &grid = levels.levels().front().grid;
    const Block &block = grid.block;
    const std::int64_t cells = grid.global_cells[0] * grid.global_cells[1] * grid.global_cells[2];
    const std::int64_t traces = levels.levels().front().has_one_metric_per_cell()
        ? laplace::border_size(block, levels.levels().front().shape.per_direction)
        : laplace::trace_size(block);
    return static_cast<std::int64_t>(sizeof(double)) * (4 * block.size() + traces) +
        static_cast<std::int64_t>(BlockVertices::bytes(cells, block.dim) +
            SparseSolver::bytes(levels.vertices()->size(), block.dim));
  }

private:
  double lambda_max(const MultigridOptions &options)
  {
    return needs_lambda_max(options) ? options.eigenvalue_safety *
            lanczos_lambda_max(*operator_, space_, pseudo_random_vector(level_.grid, context_),
                options.eigenvalue_steps)
                                     : 0.;
  }

  void run()
  {
    project(b_);
    smoother_.smooth(x_, b_, work_, true, true);
    correct();
    smoother_.smooth(x_, b_, work_, false, false);
    project(x_);
  }

  void correct()
  {
    if (!solver_)
      return;
    operator_->residual(work_, x_, b_);
    const std::int64_t first = level_.grid.offset[0];
    if constexpr (Context::on_device)
      copy_to_host(work_, on_host_, context_.stream);
    vertices_.restrict_to(level_.basis, of_vertices_, residual_on_host(), first);
    sum_many(of_vertices_, level_.grid.communicator);
    solver_->solve(correction_, of_vertices_);
    add_correction(first);
  }
  const Vector<double> &residual_on_host() const
  {
    if constexpr (Context::on_device)
      return on_host_;
    else
      return work_;
  }
  void add_correction(std::int64_t first)
  {
    if constexpr (Context::on_device)
    {
      std::fill_n(on_host_.data(), on_host_.size(), 0.);
      vertices_.add_prolonged(level_.basis, on_host_, correction_, first);
      copy_to_device(on_host_, work_, context_.stream);
      space_.axpby(1., work_, 1., x_);
    }
    else
      vertices_.add_prolonged(level_.basis, x_, correction_, first);
  }
  /// 1 in modes
  void add_constant(VectorIn<double> &to) const
  {
    const Block &block = level_.grid.block;
    if constexpr (Context::on_device)
      vector_kernels::cuda::add_constant(block, level_.basis, 1., to.data(), context_.stream);
    else
      vector_kernels::add_constant(block, level_.basis, 1., to.data());
  }

  /// Subtracts what is along constants.
  void project(VectorIn<double> &x) const
  {
    if (constant_.size() > 0)
      space_.axpby(-space_.dot(constant_, x), constant_, 1., x);
  }

  const BlockLevels::Level &level_;
  const BlockVertices &vertices_;
  Context context_;
  Space space_;
  std::unique_ptr<Operator> operator_;
  ThreeTermSmoother<Operator> smoother_;
  std::optional<SparseSolver> solver_; ///< where there are vertices without a Dirichlet side
  VectorIn<double> x_, b_, work_,
      constant_;           ///< constant_: empty, or the coefficients of 1, of norm 1
  Vector<double> on_host_; ///< of a device: the residual, then the correction
  std::vector<double> of_vertices_, correction_;
};
} // namespace tensormg
