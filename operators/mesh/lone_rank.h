// A quick start of MPI for a process that is its only rank.
#pragma once

#include <string>
#include <vector>

namespace tensormg
{
/// MPI_Init after expect_lone_rank(), whose variables are then taken back: processes that this one starts may be ranks.
void start_mpi();

/// For MPI_Init in this process. Where neither mpirun nor a batch system has started this process, Open MPI would start a daemon
/// beside it, so that it could start further ranks, and ask every network for itself, which takes 0.3 s: it is told to do
/// without both, by variables that are returned. Those that the user has set count; other implementations do not look at
/// them.
std::vector<std::string> expect_lone_rank();
} // namespace tensormg
