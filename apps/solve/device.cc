// `tensormg solve` with vectors in device memory.
#include <memory>
#include <string>

#include "apps/common/measurement.h"
#include "apps/common/memory_plan.h"
#include "apps/common/output_level.h"
#include "apps/solve/run.h"
#include "kernels/device/meters/energy.h"
#include "kernels/device/meters/launch_profile.h"
#include "kernels/diagnostics/scale/scale.h"
#include "kernels/laplace/cuda.h"
#include "operators/constant/transfer_operator.h"
#include "operators/multigrid/device_kernels_ahead.h"

namespace tensormg
{
namespace
{
  /// Before vectors are copied between host and device.
  void require_host_memory(const System &system, const Grid &grid)
  {
    check_memory(grid, system.options(), available_memory(), MemoryPlace::beside_device);
  }

  class DevicePlace
  {
  public:
    using Context = DeviceContext;
    using VectorType = DeviceVector<double>;

  private:
    std::string exchange_; // before what sets it

  public:
    /// One scratch for the whole run: the first pinned memory takes the driver a millisecond, as long as there is none.
    const DeviceContext context;

    DevicePlace(const System &system, Stream stream, const EnergyCounter &energy,
        const DeviceKernelsAhead &kernels)
      : context(make_device_context(stream, system.grid.finest().communicator, exchange_))
      , system_(system)
      , energy_(energy)
      , kernels_(kernels)
      , space_(context.make_space(level().block, level().communicator))
      , data_(system.problem(), level(), system.basis, context, space_,
            [this](const std::string &what) { tell_of_host(what); })
    {}

    const LevelGrid &level() const { return system_.grid.finest(); }
    const DeviceVectorSpace &space() const { return space_; }
    const DataInContext<DeviceContext> &data() const { return data_; }
    SystemSettings settings() const
    {
      return {
          .cycle = {.level_times = system_.parameters.output.level_times, .one_allocation = true},
          .kernels_are_loaded = [this] { return kernels_.wait(); }};
    }
    VectorType restricted(const LevelGrid &fine, const LevelGrid &coarse, const VectorType &x) const
    {
      VectorType result(coarse.block, context.stream);
      TransferOperator<double, DeviceContext>(fine, coarse, system_.basis, system_.backend, context)
          .restrict_to(result, x, 1.);
      return result;
    }
    void check_memory(const SolverOptions &options) const
    {
      tensormg::check_memory(system_.grid, options, static_cast<double>(free_device_bytes()),
          MemoryPlace::device, bytes_kept(system_.grid, options));
    }
    /// If the user wants the times of the levels.
    std::unique_ptr<LaunchProfile> make_profile() const
    {
      return system_.parameters.output.level_times
          ? std::make_unique<LaunchProfile>(context.stream, outside)
          : nullptr;
    }
    /// How messages between ranks go; empty if there are none.
    const std::string &exchange() const { return exchange_; }
    /// Of one device: several ranks may have several, or share one.
    std::optional<double> joules() const
    {
      return system_.grid.n_ranks == 1 ? energy_.joules() : std::nullopt;
    }

    /// The cells of `part` of the vector of a level, which has all of a row or none; of a level on several ranks all local ones.
    Vector<double> on_host(const VectorType &x, const LevelGrid &part) const
    {
      Vector<double> result(part.block);
      const bool is_all = part.block == x.block();
      copy_part_to_host(
          x, is_all ? std::array<std::int64_t, 3>{} : part.offset, result, context.stream);
      return result;
    }

  private:
    void tell_of_host(const std::string &what) const
    {
      require_host_memory(system_, system_.grid);
      system_.console.normal(
          what + " is evaluated on the host: for its expressions the device lacks kernels\n");
    }

    const System &system_;
    const EnergyCounter &energy_;
    const DeviceKernelsAhead &kernels_;
    DeviceVectorSpace space_;
    DataInContext<DeviceContext> data_;
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
  const DevicePlace place(system, stream.get(), energy, kernels);
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
