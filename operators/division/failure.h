// What goes wrong on one rank goes wrong on all.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>

#include <mpi.h>

namespace tensormg
{
/// A value of a coefficient that no operator can have: what() says which, and where.
class CoefficientError : public std::invalid_argument
{
public:
  enum class Of : std::uint8_t
  {
    diffusion,
    reaction,
    robin
  };
  CoefficientError(Of of_, const std::string &what, int boundary_ = -1)
    : std::invalid_argument(what)
    , of(of_)
    , boundary(boundary_)
  {}
  Of of;
  int boundary; ///< of r
};

/// Runs `action` on all ranks. What it throws on the first rank on which it does, all throw: as MeshError, CoefficientError, ExpressionError,
/// std::invalid_argument, std::bad_alloc, or with the same words std::runtime_error. Collective; on a rank alone it only runs `action`.
void act_alike(MPI_Comm communicator, const std::function<void()> &action);
} // namespace tensormg
