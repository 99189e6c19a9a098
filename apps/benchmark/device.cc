#include "apps/benchmark/measure.h"
#include "kernels/diagnostics/scale/scale.h"
#include "kernels/laplace/cuda.h"

namespace tensormg
{
nlohmann::json measure_on_devices(
    const BenchmarkPlace &place, int repetitions, BenchmarkVoice &voice)
{
  const OwnedStream stream;
  if (place.grid.problem.dim == 3 && device_properties().code_capability >= 90)
    laplace::measure_device(place.grid.finest().block, stream.get());
  std::string exchange;
  const DeviceContext context =
      make_device_context(stream.get(), place.grid.finest().communicator, exchange);
  nlohmann::json entry = measure_degree(place, context, repetitions, voice);
  if (!exchange.empty())
    entry["exchange"] = exchange;
  return entry;
}

double measure_device_bandwidth(MPI_Comm communicator, int repetitions)
{
  constexpr std::int64_t size = 1 << 27;
  const OwnedStream stream;
  DeviceArray<double> a(size, stream.get()), b(size, stream.get());
  int n_ranks = 1;
  MPI_Comm_size(communicator, &n_ranks);
  const DeviceContext context(stream.get());
  const Timing t = timing_of(context, communicator, repetitions,
      [&] { scale::cuda(size, 1.5, b.data(), a.data(), stream.get()); });
  return 16. * static_cast<double>(size) * n_ranks / t.fastest;
}
} // namespace tensormg
