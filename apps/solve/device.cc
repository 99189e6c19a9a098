// `tensormg solve` with vectors in device memory.
#include <memory>

#include "apps/common/measurement.h"
#include "apps/common/memory_plan.h"
#include "apps/common/output_level.h"
#include "apps/solve/run.h"
#include "kernels/device/meters/energy.h"
#include "kernels/device/meters/launch_profile.h"
#include "kernels/diagnostics/scale/scale.h"
#include "kernels/laplace/cuda.h"
#include "operators/constant/device_box_solver.h"
#include "operators/constant/laplace_operator.h"
#include "operators/constant/transfer_operator.h"
#include "operators/data/device_functions.h"
#include "operators/data/right_hand_side.h"
#include "operators/multigrid/device_kernels_ahead.h"
#include "operators/multigrid/multigrid_preconditioner.h"
#include "operators/vectors/device_vector_space.h"

namespace tensormg
{
namespace
{
  /// Before vectors are copied between host and device.
  void require_host_memory(const System &system, const Grid &grid)
  {
    check_memory(grid, system.options(), available_memory(), MemoryPlace::beside_device);
  }

  struct DevicePlace
  {
    using VectorType = DeviceVector<double>;
    static constexpr bool first_calls_are_slow = true;

    const System &system;
    Stream stream;
    const EnergyCounter &energy;
    const DeviceKernelsAhead &kernels;
    /// One for the whole run: the first pinned memory takes the driver a millisecond, as long as there is none.
    std::shared_ptr<DeviceVectorSpace::Scratch> scratch =
        std::make_shared<DeviceVectorSpace::Scratch>(stream);

    const LevelGrid &level() const { return system.grid.finest(); }
    const Problem &problem() const { return system.parameters.problem; }
    DeviceVectorSpace make_space() const
    {
      return {level().block, level().communicator, stream, scratch};
    }
    VectorType make_vector() const { return {level().block, stream}; }
    VectorType restricted(const LevelGrid &fine, const LevelGrid &coarse, const VectorType &x) const
    {
      VectorType result(coarse.block, stream);
      TransferOperator<double, DeviceContext>(fine, coarse, system.basis, system.backend, stream)
          .restrict_to(result, x, 1.);
      return result;
    }
    template <typename Number>
    LaplaceOperator<Number, DeviceContext> make_operator() const
    {
      return {level(), system.basis, system.backend, stream};
    }
    DeviceBoxSolver<double> make_direct() const
    {
      return {level(), system.basis, problem(), stream};
    }
    auto make_preconditioner(const MultigridOptions &options) const
    {
      return make_multigrid(system.grid, system.basis, system.backend, options, stream,
          {.level_times = system.parameters.output.level_times, .one_allocation = true});
    }

    VectorType right_hand_side() const
    {
      const Balance found =
          check_compatible(problem(), level(), system.basis, device_integrator(stream));
      VectorType b = assembled("the right-hand side", assemble_on_device, assemble_right_hand_side);
      if (problem().is_singular())
      {
        subtract_mean(b);
        tell_of_removed_mean(system, found);
      }
      return b;
    }
    VectorType initial_guess() const
    {
      return assembled("the initial guess", project_guess_on_device, project_initial_guess);
    }
    Errors errors(const VectorType &x) const
    {
      if (const auto errors = errors_on_device(problem(), level(), system.basis, x, stream))
        return *errors;
      tell_of_host("the error");
      return compute_errors(problem(), level(), system.basis, on_host(x, level()));
    }

    double max_abs(const VectorType &x) const { return make_space().max_abs(x); }
    void scale(VectorType &x, int exponent) const
    {
      // In two steps, since the power itself may leave the range.
      const DeviceVectorSpace space = make_space();
      for (const int part : {exponent / 2, exponent - exponent / 2})
        space.axpby(std::ldexp(1., part), x, 0., x);
    }
    void subtract_mean(VectorType &x) const
    {
      subtract_mean_on_device(level(), system.basis, x, make_space());
    }
    void check_memory(const SolverOptions &options) const
    {
      // The solution and the right-hand side, which are there, are part of the plan.
      const double here = 2. * sizeof(double) * static_cast<double>(level().block.size());
      tensormg::check_memory(system.grid, options, static_cast<double>(free_device_bytes()) + here,
          MemoryPlace::device);
    }
    /// Of the launches from here on, if the user wants the times of the levels.
    std::unique_ptr<LaunchProfile> make_profile() const
    {
      return system.parameters.output.level_times ? std::make_unique<LaunchProfile>(stream, outside)
                                                  : nullptr;
    }
    std::optional<double> joules() const { return energy.joules(); }
    bool kernels_are_loaded() const { return kernels.wait(); }
    void wait() const
    {
      kernels.wait();
      device::synchronize(stream);
    }

    /// The cells of `part`, which has all of a row or none.
    Vector<double> on_host(const VectorType &x, const LevelGrid &part) const
    {
      Vector<double> result(part.block);
      copy_part_to_host(x, part.offset, result, stream);
      return result;
    }

  private:
    /// On the device, or on the host what the device cannot do.
    VectorType assembled(const std::string &what, decltype(assemble_on_device) &by_device,
        decltype(assemble_right_hand_side) &by_host) const
    {
      VectorType result = make_vector();
      if (!by_device(problem(), level(), system.basis, result, stream))
      {
        tell_of_host(what);
        Vector<double> on_host;
        by_host(problem(), level(), system.basis, on_host);
        copy_to_device(on_host, result, stream);
      }
      return result;
    }
    void tell_of_host(const std::string &what) const
    {
      require_host_memory(system, system.grid);
      system.console.normal(
          what + " is evaluated on the host: its expressions have what the device lacks\n");
    }
  };

  /// Bytes per second of a = q b for vectors in memory, not in caches; nothing if they do not fit beside the solution.
  std::optional<double> scale_bandwidth(const DeviceProperties &device, Stream stream)
  {
    constexpr int times_cache = 8;
    const std::int64_t size = times_cache * device.l2_bytes / std::int64_t(sizeof(double)) /
        row_granularity * row_granularity;
    const auto bytes = static_cast<double>(size) * scale::bytes_per_element;
    if (size == 0 || bytes > static_cast<double>(free_device_bytes()))
      return std::nullopt;
    const DeviceArray<double> b(size, stream);
    DeviceArray<double> a(size, stream);
    DeviceTimer timer;
    const auto time = [&](int runs) {
      timer.start(stream);
      for (int run = 0; run < runs; ++run)
        scale::cuda(size, 0.5, b.data(), a.data(), stream);
      return timer.stop(stream);
    };
    constexpr int repetitions = 9;
    constexpr double max_seconds = 0.2;
    return 1e3 * bytes / measure(time, repetitions, max_seconds).median;
  }
} // namespace

Vector<double> solve_on_device(const System &system, RunRecord &record)
{
  const OutputOptions &output = system.parameters.output;
  const bool for_output = !has_no_field(output, grid_of_output(system.grid, output));
  const Grid written = part_of_output(system.grid, output);
  if (for_output)
    require_host_memory(system, written);
  const double begin = now(system.communicator());
  const OwnedStream stream;
  const EnergyCounter energy;
  if (record.device->code_capability >= 90) // for kernels of `cuda` in 3D
    laplace::measure_device(system.grid.finest().block, stream.get());
  // While expressions are compiled and the right-hand side is assembled.
  const DeviceKernelsAhead kernels(system.grid, system.basis, system.backend, system.options());
  const DevicePlace place{system, stream.get(), energy, kernels};
  // The library of the energy counter takes tens of milliseconds.
  record.device_start_seconds += now(system.communicator()) - begin;
  DeviceVector<double> x = solve_in(system, place, record);
  if (!record.kernels.empty())
    record.scale_bytes_per_second = scale_bandwidth(*record.device, stream.get());
  if (!for_output)
    return {};
  return place.on_host(
      on_level_of_output(output, system.grid, place, std::move(x)), written.finest());
}
} // namespace tensormg
