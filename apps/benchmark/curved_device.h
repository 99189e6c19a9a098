// What operator and solve cost on curved cells on a GPU.
#pragma once

#include <cstdint>
#include <string>

#include <mpi.h>
#include <nlohmann/json_fwd.hpp>

#include "apps/benchmark/benchmark.h"

namespace tensormg
{
/// Wanted if nobody says it: more than the caches of a GPU hold, and still soon made by the host.
inline constexpr std::int64_t dofs_of_curved_device_benchmark = 16'777'216;

/// For each degree a cube of about options.dofs unknowns, blocks of 16^3 cells, moved by sines so that no cell is affine, K = 1: the operator and the
/// Chebyshev step with the metric at points and with one per cell, in double, single and half; solves. Of this process' device. Each operator is compared with that of
/// the host before it is timed. Percent of scale: of the bytes that a pass must move, 8 + 21/n numbers per unknown for A u at points. Throws as run_benchmark().
nlohmann::json run_curved_benchmark_on_device(
    const BenchmarkOptions &options, const BenchmarkVoice &voice = {});

std::string curved_device_benchmark_table(const nlohmann::json &result);
} // namespace tensormg
