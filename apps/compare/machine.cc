#include "apps/compare/machine.h"

#include <algorithm>
#include <chrono>

#include "kernels/device/device.h"
#include "kernels/diagnostics/scale/scale.h"
#include "operators/vectors/vector.h"

namespace tensormg
{
namespace
{
  constexpr std::int64_t device_scale_size = 128 * 1024 * 1024; ///< numbers, 1 GB
  constexpr int scale_repetitions = 20;

  /// Of `action`, on the slowest rank.
  double milliseconds_of(MPI_Comm communicator, const std::function<void()> &action)
  {
    MPI_Barrier(communicator);
    const auto start = std::chrono::steady_clock::now();
    action();
    double time =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    MPI_Allreduce(MPI_IN_PLACE, &time, 1, MPI_DOUBLE, MPI_MAX, communicator);
    return time;
  }

  double scale_on_host(MPI_Comm communicator)
  {
    int n_ranks = 1;
    MPI_Comm_size(communicator, &n_ranks);
    const Block block(3, 3, {64, 64, 64}); // 134 MB per vector, larger than caches
    Vector<double> a(block), b(block);
    std::fill_n(b.data(), b.size(), 1.);
    const Milliseconds time = measure(
        [&](int runs) {
          return milliseconds_of(communicator, [&] {
            for (int r = 0; r < runs; ++r)
              scale::cpu(b.size(), 1.5, b.data(), a.data());
          });
        },
        scale_repetitions, 5.);
    return scale::bytes_per_element * static_cast<double>(b.size()) * n_ranks /
        (1e-3 * time.fastest);
  }

  double scale_on_device()
  {
    // Both vectors take at most half of what is free.
    const std::int64_t size = std::min(device_scale_size, free_device_bytes() / 32);
    DeviceArray<double> a(size / row_granularity * row_granularity), b(a.size());
    device::synchronize(nullptr);
    const OwnedStream stream;
    DeviceTimer timer;
    const Milliseconds time = measure(
        [&](int runs) {
          timer.start(stream.get());
          for (int r = 0; r < runs; ++r)
            scale::cuda(a.size(), 1.5, b.data(), a.data(), stream.get());
          return timer.stop(stream.get());
        },
        scale_repetitions, 5.);
    return scale::bytes_per_element * static_cast<double>(a.size()) / (1e-3 * time.fastest);
  }
} // namespace

double measure_scale(Place place, MPI_Comm communicator)
{
  return place == Place::host ? scale_on_host(communicator) : scale_on_device();
}

Machine measure_host(MPI_Comm communicator)
{
  Machine machine;
  machine.place = Place::host;
  machine.name = cpu_model();
  int n_ranks = 1;
  MPI_Comm_size(communicator, &n_ranks);
  machine.detail = std::to_string(n_ranks) + (n_ranks == 1 ? " rank, " : " ranks, ") +
      laplace::cpu_instruction_set();
  machine.scale_bandwidth = scale_on_host(communicator);
  constexpr std::int64_t rounds = 200'000; // some milliseconds
  double sink = 0.;
  for (const peak::Unit unit : peak::all_units)
    if (peak::host_has(unit))
    {
      double flops = 0.;
      const Milliseconds time = measure(
          [&](int runs) {
            return milliseconds_of(communicator, [&] {
              for (int r = 0; r < runs; ++r)
                flops = peak::cpu(unit, rounds, sink = 0.);
            });
          },
          20, 1.);
      machine.peaks[unit] = flops * n_ranks / (1e-3 * time.fastest);
    }
  return machine;
}

Machine measure_device()
{
  if (device_count() == 0)
    throw DeviceError(why_no_device());
  use_device(0);
  const DeviceProperties properties = device_properties();
  Machine machine;
  machine.place = Place::device;
  machine.name = properties.name;
  machine.driver = properties.driver;
  machine.detail = std::to_string(properties.multiprocessors) +
      " multiprocessors, compute capability " + std::to_string(properties.major) + "." +
      std::to_string(properties.minor) + ", driver " + properties.driver;
  machine.scale_bandwidth = scale_on_device();
  DeviceArray<double> sink(peak::cuda_sink_size());
  device::synchronize(nullptr);
  const OwnedStream stream;
  DeviceTimer timer;
  constexpr int rounds = 2000;
  for (const peak::Unit unit : peak::all_units)
  {
    double amount = 0.;
    const Milliseconds time = measure(
        [&](int runs) {
          timer.start(stream.get());
          for (int r = 0; r < runs; ++r)
            amount = peak::cuda(unit, rounds, sink.data(), stream.get());
          return timer.stop(stream.get());
        },
        10, 1.);
    machine.peaks[unit] = amount / (1e-3 * time.fastest);
  }
  return machine;
}
} // namespace tensormg
