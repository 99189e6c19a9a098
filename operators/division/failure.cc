#include "operators/division/failure.h"

#include <array>
#include <exception>
#include <new>
#include <optional>

#include "operators/blocks/block_mesh.h"
#include "operators/data/functions.h"

namespace tensormg
{
namespace
{
  enum class Kind : std::uint8_t
  {
    mesh,
    coefficient,
    expression,
    argument,
    memory,
    other
  };

  struct Failure
  {
    Kind kind = Kind::other;
    CoefficientError::Of of = CoefficientError::Of::diffusion;
    int boundary = -1;
    std::array<std::string, 3> texts{}; ///< what(), or key, expression and reason
    std::exception_ptr thrown{};
  };

  std::optional<Failure> failure_of(const std::function<void()> &action)
  {
    Failure failure;
    try
    {
      action();
      return std::nullopt;
    }
    catch (const MeshError &error)
    {
      failure = {Kind::mesh, {}, -1, {error.what()}, std::current_exception()};
    }
    catch (const CoefficientError &error)
    {
      failure = {
          Kind::coefficient, error.of, error.boundary, {error.what()}, std::current_exception()};
    }
    catch (const ExpressionError &error)
    {
      failure = {Kind::expression, {}, -1, {error.key(), error.expression(), error.reason()},
          std::current_exception()};
    }
    catch (const std::invalid_argument &error)
    {
      failure = {Kind::argument, {}, -1, {error.what()}, std::current_exception()};
    }
    catch (const std::bad_alloc &error)
    {
      failure = {Kind::memory, {}, -1, {error.what()}, std::current_exception()};
    }
    catch (const std::exception &error)
    {
      failure = {Kind::other, {}, -1, {error.what()}, std::current_exception()};
    }
    return failure;
  }

  [[noreturn]] void fail(const Failure &failure)
  {
    const std::string &text = failure.texts[0];
    switch (failure.kind)
    {
      case Kind::mesh:
        throw MeshError(text);
      case Kind::coefficient:
        throw CoefficientError(failure.of, text, failure.boundary);
      case Kind::expression:
        throw ExpressionError(text, failure.texts[1], failure.texts[2]);
      case Kind::argument:
        throw std::invalid_argument(text);
      case Kind::memory:
        throw std::bad_alloc();
      default:
        throw std::runtime_error(text);
    }
  }

  void broadcast(Failure &failure, int from, MPI_Comm communicator)
  {
    std::array<int, 6> numbers{
        static_cast<int>(failure.kind), static_cast<int>(failure.of), failure.boundary};
    for (std::size_t i = 0; i < 3; ++i)
      numbers[3 + i] = static_cast<int>(failure.texts[i].size());
    MPI_Bcast(numbers.data(), static_cast<int>(numbers.size()), MPI_INT, from, communicator);
    failure.kind = static_cast<Kind>(numbers[0]);
    failure.of = static_cast<CoefficientError::Of>(numbers[1]);
    failure.boundary = numbers[2];
    for (std::size_t i = 0; i < 3; ++i)
    {
      failure.texts[i].resize(static_cast<std::size_t>(numbers[3 + i]));
      MPI_Bcast(failure.texts[i].data(), numbers[3 + i], MPI_CHAR, from, communicator);
    }
  }
} // namespace

void act_alike(MPI_Comm communicator, const std::function<void()> &action)
{
  int rank = 0, n_ranks = 1;
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &n_ranks);
  if (n_ranks == 1)
    return action();
  std::optional<Failure> failure = failure_of(action);
  int first = failure ? rank : n_ranks;
  MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, communicator);
  if (first == n_ranks)
    return;
  if (first == rank)
  {
    broadcast(*failure, first, communicator);
    std::rethrow_exception(failure->thrown);
  }
  Failure elsewhere;
  broadcast(elsewhere, first, communicator);
  fail(elsewhere);
}
} // namespace tensormg
