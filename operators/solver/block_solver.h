// Solves of the dimensionless system B x = b on curved cells, in host memory: set up once, for any number of right-hand sides.
#pragma once

#include <memory>

#include "operators/multigrid/block_family.h"
#include "operators/multigrid/multigrid_preconditioner.h"
#include "operators/pointwise/block_levels.h"
#include "operators/pointwise/pointwise_operator.h"
#include "operators/pointwise/relaxation.h"
#include "operators/solver/memory_plan.h"
#include "operators/solver/outer_method.h"
#include "operators/solver/solve_events.h"
#include "operators/vectors/vector.h"
#include "operators/vectors/vector_space.h"
#include "tensormg/options.h"
#include "tensormg/report.h"

namespace tensormg
{
/// Of the entries of the diagonal on the finest level: the quotient of the largest and the smallest, of all ranks.
double diagonal_range(const BlockLevels &levels);

/// The options with a precision that is not automatic: single. BlockSolver takes double where diagonal_range() exceeds 1e9.
MultigridOptions with_precision_of_blocks(MultigridOptions options);

class BlockSolver
{
public:
  /// `levels` must outlive the object. Makes multigrid and the vectors of the method: fgmres or cg, in double. Throws std::invalid_argument for
  /// options that curved cells do not have (direct, patch, full multigrid, tensor cores, a basis in single), std::runtime_error where the
  /// operator is not positive definite.
  BlockSolver(const BlockLevels &levels, const SolverOptions &options);

  /// x = B^-1 b, from x with Start::given. Where numbers in half precision leave their range the solve begins again in single.
  SolveReport solve(
      Vector<double> &x, const Vector<double> &b, Start start, const SolveEvents &events = {});
  /// Of x, by one cycle.
  ErrorEstimate estimate_error(const Vector<double> &x, const Vector<double> &b);
  /// y = B x
  void multiply(Vector<double> &y, const Vector<double> &x) { operator_.vmult(y, x); }
  /// z = M^-1 r, one cycle from zero.
  void precondition(Vector<double> &z, const Vector<double> &r);

  const VectorSpace &space() const { return space_; }
  /// With what the solve has fallen back to.
  const SolverOptions &options() const { return options_; }
  const MultigridPreconditioner &multigrid() const { return *multigrid_; }
  /// Of the finest level.
  const RelaxationChoice &relaxation() const { return family_.relaxation(family_.size() - 1); }
  const OperatorChoice &cycle_operator() const { return family_.cycle_operator(); }

private:
  void set_up();
  void explain(SolveReport &report) const;
  void raise(SolveReport &report, const SolveEvents &events);

  const BlockLevels &levels_;
  SolverOptions options_;
  VectorSpace space_;
  BlockFamily family_;
  PointwiseOperator<double> operator_;
  std::unique_ptr<MultigridPreconditioner> multigrid_;
  std::unique_ptr<OuterMethod<Vector<double>>> method_;
};

/// What a mesh of blocks will need before anything of it is made.
struct BlockSizes
{
  int dim = 3;
  int degree = 3;
  std::int64_t n_blocks = 1;
  int refinements = 0;
  bool has_reaction = false;
  int geometry_degree = 1; ///< of the polynomials of blocks
  int n_ranks = 1;
};
/// Of the rank with most blocks. With Coarsening::vertices for its levels, otherwise for those of cells.
MemoryPlan make_memory_plan(const BlockSizes &sizes, const SolverOptions &options);
} // namespace tensormg
