// The system on curved cells of a mesh of blocks: what a SystemSolver needs to know of it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <mpi.h>

#include "operators/block_multigrid/block_eigenvalues.h"
#include "operators/block_multigrid/block_family.h"
#include "operators/block_solver/block_solver.h"
#include "operators/cellmean/cell_mean_kernel.h"
#include "operators/multigrid/multigrid_implementation.h"
#include "operators/multigrid/multigrid_preconditioner.h"
#include "operators/pointwise/block_levels.h"
#include "operators/solver/system_solver.h"
#include "operators/vectors/with_number.h"
#include "tensormg/options.h"

namespace tensormg
{
/// A LinearSystem (operators/solver/system_solver.h).
template <typename ContextHere>
class BlockSystem
{
public:
  using Context = ContextHere;
  using Space = typename Context::Space;
  template <typename Number>
  using Operator = PointwiseOperator<Number, Context>;
  static constexpr bool has_basis_in_single = false;

  /// `levels` must outlive the object and all that it makes.
  BlockSystem(const BlockLevels &levels, const MultigridOptions &options, Context context)
    : levels_(levels)
    , family_(levels, options, std::move(context))
  {}

  const Context &context() const { return family_.context(); }
  MPI_Comm communicator() const { return levels_.all_ranks(); }
  std::size_t n_levels() const { return levels_.levels().size(); }
  Space make_space() const { return family_.make_space(n_levels() - 1); }
  /// With one metric per cell where that is all there is of it.
  template <typename Number>
  std::unique_ptr<Operator<Number>> make_operator() const
  {
    return family_.template make_operator_with_diagonal<Number>(
        n_levels() - 1, cycle_operator().is_exact);
  }
  std::unique_ptr<MultigridPreconditionerIn<Context>> make_cycle(
      const MultigridOptions &options, const CycleOptions &cycle) const
  {
    using Result = std::unique_ptr<MultigridPreconditionerIn<Context>>;
    return with_number(options.precision, [&](auto number) -> Result {
      return std::make_unique<MultigridImplementation<BlockFamily<Context>, decltype(number)>>(
          family_, options, cycle);
    });
  }

  static std::optional<MultigridOptions> next_cycle(const MultigridOptions &, bool) { return {}; }
  static const char *coarsening_word(const MultigridOptions &) { return ""; }
  static bool can_coarsen_by(Coarsening) { return true; }
  static int longest_basis(const SolverOptions &options) { return options.restart; }
  double largest_eigenvalue_bound() const
  {
    const auto op = make_operator<double>();
    return tensormg::largest_eigenvalue_bound(levels_, *op, context());
  }
  std::string advice_on_precision() const
  {
    constexpr double much = 1e6;
    return diagonal_range(levels_) < much
        ? ""
        : "may hold too little for these coefficients and cells: double";
  }

  /// Of the finest level.
  const RelaxationChoice &relaxation() const { return family_.relaxation(n_levels() - 1); }
  const OperatorChoice &cycle_operator() const { return family_.cycle_operator(); }

private:
  const BlockLevels &levels_;
  BlockFamily<Context> family_;
};
} // namespace tensormg
