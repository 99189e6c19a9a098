// Which backend a solve runs on.
#pragma once

#include <string>

#include <mpi.h>

#include "kernels/laplace/laplace.h"
#include "operators/mesh/grid.h"
#include "tensormg/options.h"
#include "tensormg/problem.h"

namespace tensormg
{
struct BackendChoice
{
  laplace::Backend backend = laplace::Backend::cpu;
  std::string reason; ///< why `auto` did not take a device that is there; otherwise empty
};

/// Who solves.
struct SolveRanks
{
  int count = 1;                ///< among which the finest level is divided
  int of_node = 1, here = 0;    ///< of the ranks of this node, and the place of this one among them
  bool divide_coarsest = false; ///< the coarsest level is divided, too
  bool divide_layers = false;   ///< in 3D, in z alone
  MPI_Comm communicator = MPI_COMM_SELF;
};
/// Of a grid that is divided for devices. Collective.
SolveRanks ranks_of(const Grid &grid);
/// How devices divide a grid.
Division division_for_devices(const SolverOptions &solver);

/// The backend that `word` (auto or the name of one) asks for; a device is chosen for this process then: that of its place on the node, or
/// one that it shares. `auto` takes cuda if this program was built with it, a GPU that can run it is there for each rank and the
/// method exists on it, and cpu otherwise; for multigrid in tf32 and 2xfp16 it takes tensor cores or throws. What is asked for by name is used or
/// refused: std::invalid_argument says why it cannot be used. Collective, with the same result on all ranks.
BackendChoice choose_backend(const Problem &problem, const SolverOptions &solver,
    const std::string &word, const SolveRanks &ranks = {});

/// The same for curved cells of a mesh of blocks, which one GPU solves: cuda or cpu. `auto` takes cuda for one rank.
BackendChoice choose_backend_of_blocks(const std::string &word, MPI_Comm communicator);

/// Why one GPU solves such problems where each of several ranks could have one and `word` permits GPUs: what cannot be divided among them; otherwise
/// empty. Collective.
std::string why_one_device(const Problem &problem, const SolverOptions &solver,
    const std::string &word, MPI_Comm communicator);
std::string why_one_device_of_blocks(const std::string &word, MPI_Comm communicator);
} // namespace tensormg
