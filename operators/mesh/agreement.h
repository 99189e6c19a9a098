// What all ranks say.
#pragma once

#include <set>
#include <string>
#include <vector>

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

/// Whether every rank calls this within so many seconds. To be asked once of a communicator that serves nothing else where it may be false: who
/// comes later finds those who have gone.
inline bool all_arrive(MPI_Comm communicator, double seconds)
{
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(communicator, &request);
  const double begin = MPI_Wtime();
  int done = 0;
  while (done == 0 && MPI_Wtime() < begin + seconds)
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  return done != 0;
}

/// Whether every rank says the same text as the first one. Collective.
inline bool is_same_on_all_ranks(const std::string &text, MPI_Comm communicator)
{
  auto length = static_cast<int>(text.size());
  MPI_Bcast(&length, 1, MPI_INT, 0, communicator);
  std::string first = text;
  first.resize(static_cast<std::size_t>(length));
  MPI_Bcast(first.data(), length, MPI_CHAR, 0, communicator);
  return on_all_ranks(first == text, communicator);
}

/// Whether all ranks of each node say different numbers. Collective.
inline bool differ_on_nodes(int here, MPI_Comm communicator)
{
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int count = 1;
  MPI_Comm_size(node, &count);
  std::vector<int> all(static_cast<std::size_t>(count));
  MPI_Allgather(&here, 1, MPI_INT, all.data(), 1, MPI_INT, node);
  MPI_Comm_free(&node);
  const bool differ = std::set<int>(all.begin(), all.end()).size() == all.size();
  return on_all_ranks(differ, communicator);
}
} // namespace tensormg
