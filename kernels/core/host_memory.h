// Memory of the host for large arrays.
#pragma once

#include <cstddef>

namespace tensormg::host_memory
{
/// Zeroed memory, aligned to a cache line; from 2 MiB on in huge pages, all of them present.
/// @throws std::bad_alloc
void *allocate(std::size_t bytes);

/// Gives back what allocate(bytes) returned.
void release(void *memory, std::size_t bytes);
} // namespace tensormg::host_memory
