// A problem on curved cells from the options of its mesh to the solution: the steps that programs and the library share.
#pragma once

#include <memory>

#include <mpi.h>

#include "operators/block_solver/block_memory.h"
#include "operators/block_solver/block_solver.h"
#include "operators/pointwise/block_levels.h"
#include "operators/pointwise/block_problem.h"
#include "operators/solver/memory_plan.h"
#include "operators/solver/solve_events.h"
#include "operators/vectors/vector.h"
#include "operators/vectors/vector_space.h"
#include "tensormg/mesh.h"
#include "tensormg/options.h"
#include "tensormg/problem.h"
#include "tensormg/report.h"

namespace tensormg
{
/// make_block_problem() and divide() for these ranks. Throws as these, and MemoryError where the blocks of a mapped box, which are known before
/// they are made, would not fit, or the mesh itself did not.
BlockProblem make_divided_problem(
    const Problem &problem, const MeshOptions &mesh, MPI_Comm communicator);

/// The same for a problem that has been made.
BlockProblem make_divided_problem(BlockProblem problem, MPI_Comm communicator);

/// Of all ranks, as a number that cannot overflow; more are refused.
double dofs_of(const BlockProblem &problem);
inline constexpr double most_dofs_of_blocks =
    1e15; ///< numbers of points are counted, and there are more of them

/// What the memory plan has to know. Throws as pointwise_data().
BlockSizes sizes_of(const BlockProblem &problem, int n_ranks);

/// The plan of a solve on vertices, Coarsening::vertices, and whether it fits. Collective.
struct PlanOfVertices
{
  MemoryPlan plan;
  MemoryBudget budget;
};
PlanOfVertices plan_of_vertices(const BlockProblem &problem, const SolverOptions &options,
    MPI_Comm communicator, MemoryPlace place = MemoryPlace::host);
/// Whether what automatic coarsening takes where K jumps fits, on the host, too, beside a device. Collective.
bool has_room_for_vertices(const BlockProblem &problem, const SolverOptions &options,
    MPI_Comm communicator, MemoryPlace place);
/// Bytes that there are for a plan: of this process' device, or of the machine.
double available_at(MemoryPlace place);

/// The levels, for a problem that something holds (BlockLevels::check_held()); has_room_for_vertices as in BlockLevels::Options. Throws as BlockLevels. Collective; `problem` must outlive the result.
std::unique_ptr<BlockLevels> make_levels(const BlockProblem &problem, MPI_Comm communicator,
    Coarsening coarsening, bool has_room_for_vertices);

/// Solves B x = b with b of any magnitude: with numbers that a power of two brings into the range of squares.
class ScaledSolve
{
public:
  /// Everything must outlive the object. Divides b.
  ScaledSolve(BlockSolver &solver, Vector<double> &x, Vector<double> &b);

  /// From x with Start::given, which events.restore_start writes again. x is divided still; the report is about the system as it was.
  SolveReport run(Start start, SolveEvents events);
  /// The error of x, of the system as it was, by one cycle.
  Vector<double> error();
  /// Brings x back.
  void finish();

private:
  void divide_start();

  BlockSolver &solver_;
  Vector<double> &x_, &b_;
  int exponent_ = 0; ///< b was 2^exponent times what it is
};
} // namespace tensormg
