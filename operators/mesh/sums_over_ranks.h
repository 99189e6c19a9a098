// Sums over ranks that are the same each time, and on all of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include <mpi.h>

namespace tensormg
{
/// Adds the numbers of all ranks, in their order: MPI_Allreduce may take any. Collective.
inline void sum_in_order(std::span<double> numbers, MPI_Comm communicator)
{
  int n_ranks = 1;
  MPI_Comm_size(communicator, &n_ranks);
  const auto count = static_cast<int>(numbers.size());
  std::vector<double> all(numbers.size() * static_cast<std::size_t>(n_ranks));
  MPI_Allgather(numbers.data(), count, MPI_DOUBLE, all.data(), count, MPI_DOUBLE, communicator);
  std::fill(numbers.begin(), numbers.end(), 0.);
  for (std::size_t i = 0; i < all.size(); ++i)
    numbers[i % numbers.size()] += all[i];
}
inline double sum_in_order(double number, MPI_Comm communicator)
{
  sum_in_order(std::span<double>(&number, 1), communicator);
  return number;
}
} // namespace tensormg
