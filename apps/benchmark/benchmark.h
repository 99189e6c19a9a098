// What the CPU solver costs: scale bandwidth, operator and solve by degree and precision.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <mpi.h>
#include <nlohmann/json_fwd.hpp>

#include "apps/common/progress.h"
#include "kernels/laplace/laplace.h"
#include "tensormg/options.h"

namespace tensormg
{
struct BenchmarkOptions
{
  std::vector<int> degrees{1, 2, 3, 4, 5, 6, 7, 8};
  std::int64_t dofs = 16'777'216; ///< wanted; the nearest cubic mesh is taken
  int repetitions = 9;            ///< of every kernel; solves are run three times
  int dim = 3;
};

/// Median and spread of repeated timings, in seconds.
struct Timing
{
  double median = 0.;
  double fastest = 0.;
  double slowest = 0.;
};

/// a[i] = q b[i] on every rank at once, arrays far larger than the caches; bytes per second counted as
/// 2 x 8 per element, best of the repetitions.
double measure_scale_bandwidth(MPI_Comm communicator, int repetitions);

/// Bytes per degree of freedom that a solve moves at least: every vector of a pass counted once, all
/// levels, `iterations` steps of FGMRES with a V(k, k)-cycle of fused Chebyshev steps.
double model_solve_bytes(int dim, int iterations, int k, Precision precision);

/// What each part gave, as a line, and what takes long meanwhile.
struct BenchmarkVoice
{
  std::function<void(const std::string &line)> say = [](const std::string &) {};
  Progress progress{}; ///< says nothing by default
};

/// Runs everything; the same object on every rank. Each operator is compared with the reference on a
/// small mesh before it is timed. Throws std::runtime_error if a check or a solve fails.
nlohmann::json run_benchmark(
    const BenchmarkOptions &options, MPI_Comm communicator, BenchmarkVoice voice = {});

/// The table for docs/.
std::string benchmark_table(const nlohmann::json &result);
} // namespace tensormg
