// The names of kernels that a library queues: its calls are recorded in a graph, which is read and not run.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/device/cuda_function.h"
#include "kernels/device/device.h"

namespace tensormg::precision
{
/// The kernels that queue(stream) queues, in the order of the graph, as the driver names them. `queue` is called twice:
/// first for real, since libraries load what they need in their first call. Throws DeviceError if it cannot be recorded,
/// if the driver is older than CUDA 12.3.
TENSORMG_CUDA_FUNCTION std::vector<std::string> recorded_kernels(
    const std::function<void(Stream)> &queue);

/// Whether a kernel of cuBLAS works on tensor cores, by the words that its names have had so far: shapes of
/// instructions (tensor16x8x8, s16816, d884), "tensorop", "gmma", "nvjet" against "simt", "ffma", "sgemm", "gemv",
/// ...; nothing if there is none of them.
std::optional<bool> uses_tensor_cores(const std::string &kernel);
} // namespace tensormg::precision
