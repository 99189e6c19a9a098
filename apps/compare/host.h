// What candidates in host memory share.
#pragma once

#include <functional>

#include <mpi.h>

namespace tensormg
{
/// Throws NotAvailable on all ranks unless `bytes` on every rank fit together.
void require_host_memory(double bytes, MPI_Comm communicator);

/// The time of `runs` runs on the slowest rank; all ranks run at the same time. Collective.
double slowest_milliseconds(int runs, const std::function<void()> &run, MPI_Comm communicator);
} // namespace tensormg
