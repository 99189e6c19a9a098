// Multigrid in any precision as the preconditioner of an FP64 solver: builds levels, smoothers and the
// coarse solver from the options.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/laplace/laplace.h"
#include "operators/mesh/grid.h"
#include "operators/vectors/vector.h"
#include "solvers/multigrid.h"
#include "solvers/options.h"

namespace tensormg
{
/// Independent of the number type, so that apps need one object whatever the precision. OuterVector: the
/// FP64 vectors of the solver, in host or in device memory; BasisVector: those of a Krylov basis in FP32.
template <typename OuterVector, typename BasisVector>
class BasicMultigridPreconditioner
{
public:
  virtual ~BasicMultigridPreconditioner() = default;

  /// Loads the kernels that the functions below start, on a device. For every such object in the program, as long as it
  /// differs in sizes alone.
  virtual void load_kernels(bool full_start) = 0;
  /// Does now what the first calls of the functions below would do besides their work, so that all calls take
  /// the same time: kernels are loaded, unless that has been done, cycles recorded. Without it nothing else changes.
  virtual void prepare(bool full_start, bool kernels_are_loaded) = 0;
  /// z = M^-1 r: one cycle from zero. r is scaled by a power of two near 1 / norm (for binary16 by its
  /// largest entry, such that smooth corrections stay finite) before it is rounded.
  virtual void apply(OuterVector &z, const OuterVector &r, double norm) = 0;
  virtual void apply(BasisVector &z, const BasisVector &r, double norm) = 0;
  /// x = full multigrid start for B x = b with so many cycles per level (solvers/full_multigrid.h).
  virtual void full_start(OuterVector &x, const OuterVector &b, int cycles) = 0;
  /// The level of the grid that first left the range of its numbers in the last cycle, if one did.
  virtual std::optional<std::size_t> broken_level() const = 0;
  /// Names that level and what happened, and the largest entry of the finest correction if all are finite.
  virtual std::string diagnose() const = 0;

  /// One entry per level of the grid; zeros for levels that the cycle does not visit.
  virtual std::vector<LevelTimes> times() const = 0;
  /// Upper bound of the spectrum that the smoother works with (0 if it needs none).
  virtual double lambda_max() const = 0;
};

using MultigridPreconditioner = BasicMultigridPreconditioner<Vector<double>, Vector<WideFloat>>;

/// Bytes of the vectors that the preconditioner holds on one rank.
std::int64_t multigrid_memory(const Grid &grid, const MultigridOptions &options);

/// `grid` and `basis` must outlive the object. Throws std::invalid_argument for combinations that do
/// not exist.
std::unique_ptr<MultigridPreconditioner> make_multigrid(const Grid &grid, const CellBasis &basis,
    laplace::Backend backend, const MultigridOptions &options);
} // namespace tensormg
