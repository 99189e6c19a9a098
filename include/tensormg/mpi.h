// For callers with MPI.
#pragma once

#include <mpi.h>

#include "tensormg/solver.h"

namespace tensormg
{
/// Execution::communicator of an MPI communicator, which must live as long as the solver.
inline int communicator(MPI_Comm mpi) { return static_cast<int>(MPI_Comm_c2f(mpi)); }
} // namespace tensormg
