#include "apps/benchmark/measure.h"
#include "kernels/diagnostics/scale/scale.h"

namespace tensormg
{
nlohmann::json measure_on_host(const BenchmarkPlace &place, int repetitions, BenchmarkVoice &voice)
{
  return measure_degree(place, HostContext(), repetitions, voice);
}

double measure_scale_bandwidth(MPI_Comm communicator, int repetitions)
{
  const Block block(3, 3, {64, 64, 64});
  Vector<double> a(block), b(block);
  std::fill_n(b.data(), b.size(), 1.);
  int n_ranks = 1;
  MPI_Comm_size(communicator, &n_ranks);
  const Timing t = timing_of(HostContext(), communicator, repetitions,
      [&] { scale::cpu(block.size(), 1.5, b.data(), a.data()); });
  return 16. * static_cast<double>(block.size()) * n_ranks / t.fastest;
}
} // namespace tensormg
