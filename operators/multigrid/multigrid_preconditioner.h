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
#include "operators/vectors/context.h"
#include "solvers/multigrid.h"
#include "tensormg/options.h"

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
  /// The cells of the grid have other numbers now. Keeps all vectors. false: other numbers than these ask for another
  /// cycle, and this one is of no use any more.
  virtual bool update() = 0;
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

template <typename Context>
using MultigridPreconditionerIn =
    BasicMultigridPreconditioner<typename Context::template Vector<double>,
        typename Context::template Vector<WideFloat>>;
using MultigridPreconditioner = MultigridPreconditionerIn<HostContext>;
using DeviceMultigridPreconditioner = MultigridPreconditionerIn<DeviceContext>;

/// How cycles run on a device; does not change what they compute, but for the level that is solved directly.
struct CycleOptions
{
  /// The hierarchy ends at the finest level with at most so many unknowns per direction (or at level 0): its
  /// direct solution takes three small kernels, V-cycles on the levels below a dozen launches each.
  std::int64_t longest_direct_line = 64;
  /// Cycles are run step by step, with a wait after each, so that times() tells where the time goes; slower.
  /// Otherwise times() counts visits only.
  bool level_times = false;
  /// The vectors of all levels share an allocation, which is faster made (DeviceReservation). Tools that look for accesses
  /// beyond an array see less then.
  bool one_allocation = false;
};

/// Multigrid on the levels of a grid. In device memory everything is queued in the stream of the context; the second cycle is
/// recorded as a graph and replayed from then on, and apply() does not wait for the device. load_kernels() takes a stream with
/// hooks (OwnedStream): in the default stream cycles run instead.
/// `grid` and `basis` must outlive the object. Throws std::invalid_argument for combinations that do not exist: patches, direct
/// solution and coefficients of cells over several ranks in device memory, arithmetic of tensor cores in host memory.
std::unique_ptr<MultigridPreconditioner> make_multigrid(const Grid &grid, const CellBasis &basis,
    laplace::Backend backend, const MultigridOptions &options, const HostContext &context = {},
    const CycleOptions &cycle_options = {});
std::unique_ptr<DeviceMultigridPreconditioner> make_multigrid(const Grid &grid,
    const CellBasis &basis, laplace::Backend backend, const MultigridOptions &options,
    const DeviceContext &context, const CycleOptions &cycle_options = {});

/// Bytes of the vectors and tables that the preconditioner holds on one rank.
template <typename Context>
std::int64_t multigrid_bytes(const Grid &grid, const MultigridOptions &options);

/// The level of the grid that is solved directly.
template <typename Context>
std::size_t coarsest_level(const Grid &grid, const CycleOptions &cycle_options = {});
} // namespace tensormg
