#include "operators/multigrid/device_multigrid.h"

#include <optional>
#include <stdexcept>

#include "kernels/device/kernel_loading.h"
#include "kernels/device/launch_profile.h"
#include "operators/constant/device_box_solver.h"
#include "operators/constant/device_laplace_operator.h"
#include "operators/constant/device_patch_correction.h"
#include "operators/constant/device_transfer_operator.h"
#include "operators/multigrid/eigenvalue_estimate.h"
#include "operators/multigrid/multigrid_implementation.h"
#include "operators/vectors/device_vector_space.h"
#include "solvers/schwarz.h"

namespace tensormg
{
namespace
{
  /// Objects in device memory of one rank, whose work is queued in one stream.
  struct DeviceFamily
  {
    using Space = DeviceVectorSpace;
    template <typename Number>
    using Operator = DeviceLaplaceOperator<Number>;
    template <typename Number>
    using Transfer = DeviceTransferOperator<Number>;
    static constexpr bool loads_kernels = true;

    /// Runs the first call as it is, since first launches may do what cannot be recorded; records the
    /// second and replays it from then on. Calls that only load kernels are not recorded.
    class Runner
    {
    public:
      Runner(Stream stream, bool records)
        : stream_(stream)
        , records_(records)
      {}

      /// Returns whether f was called.
      template <typename F>
      bool run(const F &f)
      {
        if (graph_->is_recorded())
        {
          if (!KernelLoading::is_on())
            graph_->replay(stream_);
          return false;
        }
        if (has_run_ && records_ && !KernelLoading::is_on())
        {
          graph_->record(stream_, f);
          graph_->replay(stream_);
        }
        else
          f();
        has_run_ = true;
        return true;
      }

      /// Leaves nothing to do but to replay; returns whether f was called.
      template <typename F>
      bool record(const F &f)
      {
        if (!records_ || graph_->is_recorded())
          return false;
        has_run_ = true;
        graph_->record(stream_, f);
        return true;
      }

    private:
      Stream stream_;
      bool records_;
      bool has_run_ = false;
      std::unique_ptr<DeviceGraph> graph_ = std::make_unique<DeviceGraph>();
    };

    laplace::Backend backend;
    Stream stream;
    DeviceCycleOptions options;
    std::optional<laplace::Arithmetic> steps; ///< of the smoother, if not what the backend takes
    std::shared_ptr<LineSpectra> spectra = std::make_shared<LineSpectra>();
    std::shared_ptr<Space::Scratch> scratch = std::make_shared<Space::Scratch>(stream);

    DeviceFamily in_single() const
    {
      DeviceFamily family = *this;
      family.steps = std::nullopt;
      return family;
    }
    Space make_space(const LevelGrid &level) const { return {level, stream, scratch}; }
    Runner make_runner() const { return {stream, !options.level_times}; }
    std::size_t coarsest_level(const Grid &grid) const
    {
      return device_coarsest_level(grid, options);
    }
    /// Kernels belong to levels of the grid.
    LevelObserver observer(int coarsest) const
    {
      if (!options.level_times)
        return {};
      return [coarsest](int level) {
        launch_profile::enter(level == outside ? outside : coarsest + level);
      };
    }
    Clock clock() const
    {
      if (!options.level_times)
        return {};
      return [stream = stream] {
        device::synchronize(stream);
        return steady_seconds();
      };
    }

    /// For vectors that are made while the result lives: so many on each level from `coarsest` on.
    template <typename Number>
    DeviceReservation reserve(
        const Grid &grid, std::size_t coarsest, std::int64_t coarser, std::int64_t finest) const
    {
      std::int64_t bytes = 0;
      for (std::size_t l = coarsest; l < grid.levels.size(); ++l)
        bytes += (l + 1 < grid.levels.size() ? coarser : finest) *
            DeviceVector<Number>::reserved_bytes(grid.levels[l].block);
      return DeviceReservation(options.one_allocation ? bytes : 0);
    }

    template <typename Number>
    auto make_operator(const LevelGrid &level, const CellBasis &basis, bool exact = false) const
    {
      return std::make_unique<Operator<Number>>(level, basis, backend, stream,
          std::is_same_v<Number, double> ? std::nullopt : steps, // those of full multigrid
          exact ? spectra.get() : nullptr);
    }

    template <typename Number>
    auto make_transfer(const LevelGrid &fine, const LevelGrid &coarse, const CellBasis &basis) const
    {
      return std::make_unique<Transfer<Number>>(fine, coarse, basis, stream);
    }

    template <typename Number>
    auto make_coarse_solver(
        const LevelGrid &level, const CellBasis &basis, const Problem &problem) const
    {
      return std::make_unique<DeviceCoarseBoxSolver<Number>>(level, basis, problem, stream);
    }

    template <typename Number>
    auto make_patch_smoother(
        Operator<Number> &op, const MultigridOptions &multigrid, double lambda_max) const
    {
      using Correction = DevicePatchCorrection<Number>;
      return std::make_unique<SchwarzSmoother<Operator<Number>, Correction>>(op,
          Correction(op.level(), op.basis(), backend, stream), multigrid.schwarz_kind,
          multigrid.degree, multigrid.damping, lambda_max);
    }

    double lambda_max(
        const LevelGrid &level, const CellBasis &basis, const MultigridOptions &multigrid) const
    {
      Operator<double> op(level, basis, backend, stream, std::nullopt,
          has_exact_steps(multigrid) ? spectra.get() : nullptr);
      const Space space = make_space(level);
      DeviceVector<double> start = space.make_unset_vector<DeviceVector<double>>();
      vector_kernels::cuda::pseudo_random_vector(level.block, start.data(), stream);
      if (multigrid.smoother == Smoother::patch)
      {
        DevicePatchCorrection<double> correction(level, basis, backend, stream);
        return lanczos_schwarz_lambda_max(
            op, correction, space, std::move(start), multigrid.eigenvalue_steps);
      }
      return lanczos_lambda_max(op, space, std::move(start), multigrid.eigenvalue_steps);
    }
  };

  template <typename Number>
  using Implementation = MultigridImplementation<DeviceFamily, Number>;

  template <typename Number>
  std::int64_t memory(const Grid &grid, const MultigridOptions &options)
  {
    std::size_t coarsest = device_coarsest_level(grid);
    std::int64_t total = 0;
    if (const std::size_t count = levels_in_single(grid, options); count > coarsest)
    {
      coarsest = count - 1;
      total = memory<float>(coarsest_levels(grid, count), options_in_single(options));
    }
    else
      total = DeviceBoxSolver<Number>::memory(grid.levels[coarsest].block);
    for (std::size_t l = coarsest; l < grid.levels.size(); ++l)
    {
      const Block &block = grid.levels[l].block;
      const bool split = split_multigrid(options) && l > coarsest;
      std::int64_t vectors = split ? 5 : 3;
      if (l > coarsest)
      {
        vectors += schwarz_vectors(options);
        total += stretched_level_memory(grid, l, options);
      }
      if (l > coarsest && options.smoother == Smoother::patch)
        total += patch::device_table_bytes(block.n);
      total += vectors * block.size() * static_cast<std::int64_t>(sizeof(Number));
    }
    return total;
  }
} // namespace

std::size_t device_coarsest_level(const Grid &grid, const DeviceCycleOptions &options)
{
  const auto is_small = [&](const LevelGrid &level) {
    for (int d = 0; d < level.block.dim; ++d)
      if (fast_diagonalisation::length(level.block, d) > options.longest_direct_line)
        return false;
    return true;
  };
  std::size_t coarsest = 0;
  while (coarsest + 1 < grid.levels.size() && is_small(grid.levels[coarsest + 1]))
    ++coarsest;
  return coarsest;
}

std::int64_t device_multigrid_memory(const Grid &grid, const MultigridOptions &options)
{
  switch (options.precision)
  {
    case Precision::double_precision:
      return memory<double>(grid, options);
    case Precision::automatic:
    case Precision::single_precision:
    case Precision::tf32_precision:
      return memory<float>(grid, options);
    case Precision::half_precision:
    case Precision::corrected_half_precision:
      return memory<Half>(grid, options);
  }
  return 0;
}

std::unique_ptr<DeviceMultigridPreconditioner> make_device_multigrid(const Grid &grid,
    const CellBasis &basis, laplace::Backend backend, const MultigridOptions &options,
    Stream stream, const DeviceCycleOptions &cycle_options)
{
  const MultigridOptions chosen = with_chosen_precision(options, grid, basis);
  DeviceFamily family{backend, stream, cycle_options, std::nullopt};
  switch (chosen.precision)
  {
    case Precision::double_precision:
      return std::make_unique<Implementation<double>>(family, grid, basis, chosen);
    case Precision::tf32_precision:
      family.steps = laplace::Arithmetic::tf32;
      [[fallthrough]];
    case Precision::automatic: // chosen above
    case Precision::single_precision:
      return std::make_unique<Implementation<float>>(family, grid, basis, chosen);
    case Precision::corrected_half_precision:
      family.steps = laplace::Arithmetic::fp16x2;
      [[fallthrough]];
    case Precision::half_precision:
      return std::make_unique<Implementation<Half>>(family, grid, basis, chosen);
  }
  return nullptr;
}
} // namespace tensormg
