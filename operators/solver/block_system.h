// The system on curved cells of a mesh of blocks, in host memory: what a SystemSolver needs to know of it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <mpi.h>

#include "operators/curved/pointwise_operator.h"
#include "operators/multigrid/block_family.h"
#include "operators/multigrid/multigrid_preconditioner.h"
#include "operators/pointwise/block_levels.h"
#include "operators/solver/system_solver.h"
#include "operators/vectors/context.h"
#include "operators/vectors/vector.h"
#include "operators/vectors/vector_space.h"
#include "tensormg/options.h"

namespace tensormg
{
/// Of the entries of the diagonal on the finest level: the quotient of the largest and the smallest, of all ranks.
double diagonal_range(const BlockLevels &levels);

/// The options with a precision that is not automatic: single. make_block_solver() takes double where diagonal_range(), or the quotient of K in neighbours,
/// exceeds 1e9.
MultigridOptions with_precision_of_blocks(MultigridOptions options);

/// A LinearSystem (operators/solver/system_solver.h).
class BlockSystem
{
public:
  using Context = HostContext;
  using Space = VectorSpace;
  template <typename Number>
  using Operator = PointwiseOperator<Number>;
  static constexpr bool has_basis_in_single = false;

  /// `levels` must outlive the object and all that it makes.
  BlockSystem(const BlockLevels &levels, const MultigridOptions &options);

  static const Context &context() { return BlockFamily::context(); }
  MPI_Comm communicator() const { return levels_.all_ranks(); }
  std::size_t n_levels() const { return levels_.levels().size(); }
  Space make_space() const { return family_.make_space(n_levels() - 1); }
  /// In double. With one metric per cell where that is all there is of it.
  template <typename Number>
  std::unique_ptr<Operator<Number>> make_operator() const;
  std::unique_ptr<MultigridPreconditioner> make_cycle(
      const MultigridOptions &options, const CycleOptions &cycle) const;

  static std::optional<MultigridOptions> next_cycle(const MultigridOptions &, bool) { return {}; }
  static const char *coarsening_word(const MultigridOptions &) { return ""; }
  static bool can_coarsen_by(Coarsening) { return true; }
  static int longest_basis(const SolverOptions &options) { return options.restart; }
  double largest_eigenvalue_bound() const;
  std::string advice_on_precision() const;

  /// Of the finest level.
  const RelaxationChoice &relaxation() const { return family_.relaxation(n_levels() - 1); }
  const OperatorChoice &cycle_operator() const { return family_.cycle_operator(); }

private:
  const BlockLevels &levels_;
  BlockFamily family_;
};
template <>
std::unique_ptr<PointwiseOperator<double>> BlockSystem::make_operator<double>() const;

using BlockSolver = SystemSolver<BlockSystem>;
extern template class SystemSolver<BlockSystem>;

/// A solver that is set up for x and b, or such as those, by fgmres or cg, in double. `levels` must outlive it. Throws std::invalid_argument for options
/// that curved cells do not have (direct, patch, full multigrid, tensor cores, a basis in single); CoefficientError where the operator is not positive definite,
/// since numbers differ by more than double precision holds.
std::unique_ptr<BlockSolver> make_block_solver(const BlockLevels &levels,
    const SolverOptions &options, Vector<double> &x, const Vector<double> &b);
} // namespace tensormg
