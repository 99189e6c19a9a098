// Sums over ranks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include <mpi.h>

namespace tensormg
{
/// Adds the numbers of all ranks, in their order, so that the sums are the same each time, and on all of them: MPI_Allreduce may take any. Collective.
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
/// Adds so many numbers that nobody wants those of all ranks at once. Collective.
inline void sum_many(std::span<double> numbers, MPI_Comm communicator)
{
  int n_ranks = 1;
  MPI_Comm_size(communicator, &n_ranks);
  constexpr std::size_t most = std::numeric_limits<int>::max();
  for (std::size_t at = 0; n_ranks > 1 && at < numbers.size(); at += most)
    MPI_Allreduce(MPI_IN_PLACE, numbers.data() + at,
        static_cast<int>(std::min(most, numbers.size() - at)), MPI_DOUBLE, MPI_SUM, communicator);
}
inline double sum_in_order(double number, MPI_Comm communicator)
{
  sum_in_order(std::span<double>(&number, 1), communicator);
  return number;
}
} // namespace tensormg
