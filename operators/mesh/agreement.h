// What all ranks say.
#pragma once

#include <mpi.h>

namespace tensormg
{
/// Whether it is so on every rank. Collective.
inline bool on_all_ranks(bool here, MPI_Comm communicator)
{
  int all = here ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, communicator);
  return all != 0;
}
} // namespace tensormg
