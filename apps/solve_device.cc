// `tensormg solve` with vectors in device memory.
#include "apps/measurement.h"
#include "apps/memory_plan.h"
#include "apps/solve_methods.h"
#include "kernels/core/energy.h"
#include "kernels/scale/scale.h"
#include "operators/device_box_solver.h"
#include "operators/device_functions.h"
#include "operators/device_kernels_ahead.h"
#include "operators/device_laplace_operator.h"
#include "operators/device_multigrid.h"
#include "operators/device_vector_space.h"
#include "operators/field_output.h"
#include "operators/right_hand_side.h"

namespace tensormg
{
namespace
{
  /// Before vectors are copied between host and device.
  void require_host_memory(const System &system)
  {
    check_memory(system.grid, system.options(), available_memory(), MemoryPlace::beside_device);
  }

  struct DevicePlace
  {
    using VectorType = DeviceVector<double>;
    static constexpr bool first_calls_are_slow = true;

    const System &system;
    Stream stream;
    const EnergyCounter &energy;
    const DeviceKernelsAhead &kernels;

    const LevelGrid &level() const { return system.grid.finest(); }
    const Problem &problem() const { return system.parameters.problem; }
    DeviceVectorSpace make_space() const { return {level(), stream}; }
    VectorType make_vector() const { return {level().block, stream}; }
    template <typename Number>
    DeviceLaplaceOperator<Number> make_operator() const
    {
      return {level(), system.basis, system.backend, stream};
    }
    DeviceBoxSolver<double> make_direct() const
    {
      return {level(), system.basis, problem(), stream};
    }
    auto make_preconditioner(const MultigridOptions &options) const
    {
      return make_device_multigrid(system.grid, system.basis, system.backend, options, stream,
          {.level_times = system.parameters.output.level_times});
    }

    VectorType right_hand_side() const
    {
      check_compatible(problem(), level(), system.basis, device_integrator(stream));
      VectorType b = make_vector();
      if (!assemble_on_device(problem(), level(), system.basis, b, stream))
      {
        tell_of_host("the right-hand side");
        Vector<double> on_host;
        assemble_right_hand_side(problem(), level(), system.basis, on_host);
        copy_to_device(on_host, b, stream);
      }
      if (problem().is_singular())
        subtract_mean(b);
      return b;
    }
    Errors errors(const VectorType &x) const
    {
      if (const auto errors = errors_on_device(problem(), level(), system.basis, x, stream))
        return *errors;
      tell_of_host("the error");
      return compute_errors(problem(), level(), system.basis, on_host(x));
    }

    double max_abs(const VectorType &x) const { return make_space().max_abs(x); }
    void scale(VectorType &x, int exponent) const
    {
      // In two steps, since the power itself may leave the range.
      const DeviceVectorSpace space = make_space();
      for (const int part : {exponent / 2, exponent - exponent / 2})
        space.axpby(std::ldexp(1., part), x, 0., x);
    }
    void subtract_mean(VectorType &x) const { make_space().subtract_mean(system.basis, x); }
    void check_memory(const SolverOptions &options) const
    {
      // The solution and the right-hand side, which are there, are part of the plan.
      const double here = 2. * sizeof(double) * static_cast<double>(level().block.size());
      tensormg::check_memory(system.grid, options, static_cast<double>(free_device_bytes()) + here,
          MemoryPlace::device);
    }
    void start_profile() const
    {
      if (system.parameters.output.level_times)
        launch_profile::start(outside);
    }
    static std::vector<launch_profile::Entry> stop_profile() { return launch_profile::stop(); }
    std::optional<double> joules() const { return energy.joules(); }
    void wait() const
    {
      kernels.wait();
      device::synchronize(stream);
    }

    Vector<double> on_host(const VectorType &x) const
    {
      Vector<double> result(x.block());
      copy_to_host(x, result, stream);
      return result;
    }

  private:
    void tell_of_host(const std::string &what) const
    {
      require_host_memory(system);
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

  bool will_be_written(const System &system)
  {
    const OutputOptions &output = system.parameters.output;
    return output.write_vtu && system.grid.finest().block.n_cells() <= output.vtu_max_cells;
  }
} // namespace

Vector<double> solve_on_device(const System &system, RunRecord &record)
{
  const bool for_output = will_be_written(system);
  if (for_output)
    require_host_memory(system);
  const double begin = now(system.communicator());
  const OwnedStream stream;
  const EnergyCounter energy;
  // While expressions are compiled and the right-hand side is assembled. What is solved directly has no smoother.
  const bool smooths = system.options().solver != OuterSolver::direct &&
      device_coarsest_level(system.grid) + 1 < system.grid.levels.size();
  const DeviceKernelsAhead kernels(system.backend, system.parameters.problem.dim,
      system.parameters.problem.degree, system.options(), smooths);
  const DevicePlace place{system, stream.get(), energy, kernels};
  // The library of the energy counter takes tens of milliseconds.
  record.device_start_seconds += now(system.communicator()) - begin;
  const DeviceVector<double> x = solve_in(system, place, record);
  if (!record.kernels.empty())
    record.scale_bytes_per_second = scale_bandwidth(*record.device, stream.get());
  return for_output ? place.on_host(x) : Vector<double>();
}
} // namespace tensormg
