// Solves on curved cells of a mesh of blocks, with vectors in host memory wherever the work is done.
#pragma once

#include <memory>
#include <vector>

#include "operators/cellmean/operator_choice.h"
#include "operators/curved/relaxation.h"
#include "operators/multigrid/multigrid_preconditioner.h"
#include "operators/pointwise/block_levels.h"
#include "operators/solver/memory_plan.h"
#include "operators/solver/solve_events.h"
#include "operators/vectors/vector.h"
#include "operators/vectors/vector_space.h"
#include "solvers/multigrid.h"
#include "tensormg/options.h"
#include "tensormg/report.h"

namespace tensormg
{
/// Of the entries of the diagonal on the finest level: the quotient of the largest and the smallest, of all ranks.
double diagonal_range(const BlockLevels &levels);

/// The options with a precision that is not automatic: single. make_block_solver() takes double where diagonal_range(), or the quotient of K in neighbours,
/// exceeds 1e9.
MultigridOptions with_precision_of_blocks(MultigridOptions options);

/// The functions of SystemSolver (operators/solver/system_solver.h). On a device vectors are copied to it and back.
class BlockSolver
{
public:
  explicit BlockSolver(const BlockLevels &levels)
    : space_(levels.levels().back().grid.block, levels.levels().back().grid.communicator)
  {}
  BlockSolver(const BlockSolver &) = delete;
  BlockSolver &operator=(const BlockSolver &) = delete;
  virtual ~BlockSolver() = default;

  virtual SolveReport solve(
      Vector<double> &x, const Vector<double> &b, Start start, const SolveEvents &events = {}) = 0;
  virtual void multiply(Vector<double> &y, const Vector<double> &x) = 0;
  virtual void precondition(Vector<double> &z, const Vector<double> &r) = 0;

  virtual const SolverOptions &options() const = 0;
  /// Of the finest level, and what the cycle has of the metric.
  virtual const RelaxationChoice &relaxation() const = 0;
  virtual const OperatorChoice &cycle_operator() const = 0;
  /// Of the cycle: BasicMultigridPreconditioner.
  virtual std::vector<LevelTimes> times() const = 0;
  virtual double lambda_max() const = 0;

  /// Of the vectors in host memory.
  const VectorSpace &space() const { return space_; }

private:
  VectorSpace space_;
};

/// A solver that is set up for x and b, or such as those, by fgmres or cg, in double. `levels` must outlive it; MemoryPlace::device: all work is done there. Throws std::invalid_argument for options
/// that curved cells do not have (direct, patch, full multigrid, tensor cores, a basis in single); CoefficientError where the operator is not positive definite,
/// since numbers differ by more than double precision holds.
std::unique_ptr<BlockSolver> make_block_solver(const BlockLevels &levels,
    const SolverOptions &options, Vector<double> &x, const Vector<double> &b,
    MemoryPlace place = MemoryPlace::host, const CycleOptions &cycle = {});
} // namespace tensormg
