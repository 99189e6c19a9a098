// Work that is queued in streams. Without a capture it is done at once.
#pragma once

#include <cstddef>
#include <functional>

#include <cuda_runtime_api.h>

namespace tensormg::emulation
{
/// Does the work, or records it if the stream is being captured for a graph.
void queue(cudaStream_t stream, std::function<void()> work);

/// emulation::run() whose errors are DeviceError with the name of the launch in front.
void launch(const char *name, const std::function<void()> &body, dim3 grid, dim3 block,
    std::size_t shared_bytes, bool cooperative);
} // namespace tensormg::emulation
