// What operator and solve cost on curved cells on the CPU, beside the same operator written with deal.II's MatrixFree.
#pragma once

#include <cstdint>
#include <string>

#include <mpi.h>
#include <nlohmann/json_fwd.hpp>

#include "apps/benchmark/benchmark.h"

namespace tensormg
{
/// Wanted of each rank if nobody says it.
inline constexpr std::int64_t dofs_of_curved_benchmark = 2'097'152;

/// For each degree a cube of about options.dofs unknowns, moved by sines so that no cell is affine, K = 1: operator and Chebyshev step in double and
/// single, the operator of deal.II by turns with ours (degrees up to 7), setup and solve with cycles in both. Every rank measures a mesh of its own, all
/// at once. Both operators are compared before they are timed. Throws as run_benchmark().
nlohmann::json run_curved_benchmark(
    const BenchmarkOptions &options, MPI_Comm communicator, const BenchmarkVoice &voice = {});

std::string curved_benchmark_table(const nlohmann::json &result);
} // namespace tensormg
