// What a solve will hold in memory, compared with what the machine has before anything is allocated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <mpi.h>

#include "operators/mesh/grid.h"
#include "operators/solver/available_memory.h"
#include "tensormg/options.h"

namespace tensormg
{
/// Vectors of one kind on one rank. Bytes are floating-point numbers in this file, because a grid
/// that is refused may have more of them than 64 bits can count.
struct MemoryItem
{
  std::string name;
  std::string precision; ///< a word of parameter files
  std::int64_t count = 1;
  double bytes = 0.; ///< of all of them
};

struct MemoryPlan
{
  std::vector<MemoryItem> items;
  double bytes() const;
};

/// Which memory a plan is about.
enum class MemoryPlace : std::uint8_t
{
  host,         ///< of a solve in host memory
  device,       ///< device memory of a solve on a device
  beside_device ///< host memory of a solve on a device
};

/// The vectors of the solve on this rank: those of the outer method at its longest, and those of
/// the preconditioner.
MemoryPlan make_memory_plan(
    const Grid &grid, const SolverOptions &options, MemoryPlace place = MemoryPlace::host);

/// What of a plan stays where a solve goes on with another cycle: solution, right-hand side, numbers of the cells of the operators.
double bytes_kept(const Grid &grid, const SolverOptions &options);

/// The needs of all ranks of one node against what the node has.
struct MemoryBudget
{
  double needed = 0.;
  double available = 0.;
  int ranks = 1; ///< of the communicator that share it

  /// Some memory is left to the rest of the program and of the machine.
  bool fits() const { return needed <= usable_part * available; }
  static constexpr double usable_part = 0.95;
};

/// The budget of the node on which it is tightest, if this rank needs `bytes`; of the ranks of a node those of one `part` share memory, as
/// those of one device. Collective.
MemoryBudget make_memory_budget(
    double bytes, double available, MPI_Comm communicator, int part = 0);
/// The part of the node whose memory is meant: for MemoryPlace::device the device of this process, if there is one.
int part_of_node(MemoryPlace place);
} // namespace tensormg
