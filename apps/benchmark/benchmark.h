// What the solver costs on the CPU or on GPUs, by one or several ranks: scale bandwidth, operator, exchange and solve by degree and precision.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <mpi.h>
#include <nlohmann/json_fwd.hpp>

#include "apps/common/progress.h"
#include "kernels/basis/cell_basis.h"
#include "kernels/laplace/laplace.h"
#include "operators/mesh/grid.h"
#include "tensormg/options.h"

namespace tensormg
{
struct BenchmarkOptions
{
  std::vector<int> degrees{1, 2, 3, 4, 5, 6, 7, 8};
  std::int64_t dofs = 16'777'216; ///< wanted; the nearest cubic mesh is taken
  bool dofs_per_rank =
      false; ///< so many of each rank: as many such cubes as ranks, one upon the other (2D: side by side)
  std::string backend = "auto"; ///< as operator.backend
  int repetitions = 9;          ///< of every kernel; solves are run three times
  int dim = 3;
  bool curved = false; ///< curved cells, apps/benchmark/curved.h
};

/// Median and spread of repeated timings, in seconds.
struct Timing
{
  double median = 0.;
  double fastest = 0.;
  double slowest = 0.;
};

/// What is measured, and where.
struct BenchmarkPlace
{
  const Grid &grid;
  const CellBasis &basis;
  laplace::Backend backend;
  double bandwidth; ///< of a scaled copy on all ranks at once, bytes per second
};

/// a[i] = q b[i] on every rank at once, arrays far larger than the caches; bytes per second counted as
/// 2 x 8 per element, best of the repetitions. On the device of each rank likewise.
double measure_scale_bandwidth(MPI_Comm communicator, int repetitions);
double measure_device_bandwidth(MPI_Comm communicator, int repetitions);

/// Bytes per degree of freedom that a solve moves at least: every vector of a pass counted once, all
/// levels, `iterations` steps of FGMRES with a V(k, k)-cycle of fused Chebyshev steps.
double model_solve_bytes(int dim, int iterations, int k, Precision precision);

/// What each part gave, as a line, and what takes long meanwhile.
struct BenchmarkVoice
{
  std::function<void(const std::string &line)> say = [](const std::string &) {};
  Progress progress{}; ///< says nothing by default
};

/// "degree 3, 64^3 cells, "
std::string mesh_text(const Grid &grid);

/// What begins a result: version, date, processor, ranks.
nlohmann::json benchmark_head(const BenchmarkOptions &options, MPI_Comm communicator);

/// Measures a part, and says "  degree 3, 64^3 cells, operator, single: 1408 MDoF/s" by what `key` of the result has.
nlohmann::json announced(const std::string &what, BenchmarkVoice &voice, const std::string &key,
    const std::function<nlohmann::json()> &measure);

/// All of one degree.
nlohmann::json measure_on_host(const BenchmarkPlace &place, int repetitions, BenchmarkVoice &voice);
nlohmann::json measure_on_devices(
    const BenchmarkPlace &place, int repetitions, BenchmarkVoice &voice);

/// Runs everything; the same object on every rank. Each operator is compared with the reference on a
/// small mesh before it is timed. Throws std::runtime_error if a check or a solve fails, ParameterError if the backend cannot be used or memory does
/// not suffice.
nlohmann::json run_benchmark(
    const BenchmarkOptions &options, MPI_Comm communicator, BenchmarkVoice voice = {});

/// The table for docs/.
std::string benchmark_table(const nlohmann::json &result);
} // namespace tensormg
