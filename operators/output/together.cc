#include "operators/output/together.h"

#include <exception>
#include <optional>
#include <stdexcept>

#include "tensormg/solver.h"

namespace tensormg
{
namespace
{
  struct Failure
  {
    int rank;
    std::string reason;
    bool is_of_arguments;
  };

  /// Runs `action`. If it throws on this rank, that is thrown on; if only on others, the first one of these is returned.
  std::optional<Failure> failure_elsewhere(
      MPI_Comm communicator, const std::function<void()> &action)
  {
    int rank = 0, n_ranks = 1;
    MPI_Comm_rank(communicator, &rank);
    MPI_Comm_size(communicator, &n_ranks);
    std::exception_ptr failure;
    std::string reason;
    try
    {
      action();
    }
    catch (const std::invalid_argument &error)
    {
      failure = std::current_exception();
      reason = std::string("a") + error.what();
    }
    catch (const std::exception &error)
    {
      failure = std::current_exception();
      reason = std::string("e") + error.what();
    }
    catch (...)
    {
      failure = std::current_exception();
      reason = "e";
    }
    int failed_rank = failure ? rank : n_ranks;
    if (n_ranks > 1)
      MPI_Allreduce(MPI_IN_PLACE, &failed_rank, 1, MPI_INT, MPI_MIN, communicator);
    if (failed_rank == n_ranks)
      return std::nullopt;
    reason = broadcast(reason, failed_rank, communicator);
    if (failure)
      std::rethrow_exception(failure);
    return Failure{failed_rank, reason.substr(1), reason[0] == 'a'};
  }
} // namespace

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
  const auto failure = failure_elsewhere(communicator, [&] {
    if (active)
      action();
  });
  if (failure)
    throw std::runtime_error("rank " + std::to_string(failure->rank) +
        " could not write its part of " + path + ": " + failure->reason);
}

void check_together(MPI_Comm communicator, const std::function<void()> &action)
{
  const auto failure = failure_elsewhere(communicator, action);
  if (!failure)
    return;
  const std::string words = "rank " + std::to_string(failure->rank) + ": " + failure->reason;
  if (failure->is_of_arguments)
    throw ArgumentError(words);
  throw std::runtime_error(words);
}
} // namespace tensormg
