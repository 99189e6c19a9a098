#include "operators/output/together.h"

#include <exception>
#include <stdexcept>

namespace tensormg
{
std::string broadcast(std::string text, int from, MPI_Comm communicator)
{
  int length = static_cast<int>(text.size());
  MPI_Bcast(&length, 1, MPI_INT, from, communicator);
  text.resize(static_cast<std::size_t>(length));
  MPI_Bcast(text.data(), length, MPI_CHAR, from, communicator);
  return text;
}

void run_together(MPI_Comm communicator, bool active, const std::string &path,
    const std::function<void()> &action)
{
  int rank = 0, n_ranks = 1;
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &n_ranks);
  std::exception_ptr failure;
  std::string reason;
  try
  {
    if (active)
      action();
  }
  catch (const std::exception &error)
  {
    failure = std::current_exception();
    reason = error.what();
  }
  catch (...)
  {
    failure = std::current_exception();
  }
  int failed_rank = failure ? rank : n_ranks;
  MPI_Allreduce(MPI_IN_PLACE, &failed_rank, 1, MPI_INT, MPI_MIN, communicator);
  if (failed_rank == n_ranks)
    return;
  reason = broadcast(reason, failed_rank, communicator);
  if (failure)
    std::rethrow_exception(failure);
  throw std::runtime_error("rank " + std::to_string(failed_rank) + " could not write its part of " +
      path + ": " + reason);
}
} // namespace tensormg
