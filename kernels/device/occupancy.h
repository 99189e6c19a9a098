// How many blocks of a kernel fit on the device.
#pragma once

namespace tensormg
{
/// Throws DeviceError if the kernel was compiled for less than `min_capability` (compute capability times ten): then it
/// is empty, or stops at once.
void require_compiled_for(int min_capability, const void *kernel);

/// Blocks of a kernel that can be resident at once on the current device; sets the kernel up for this
/// much shared memory on its first use there. Throws DeviceError if the kernel cannot run on the device, and as
/// require_compiled_for() does.
int resident_blocks(const void *kernel, int threads, int shared_bytes, int min_capability = 80);

/// The same for whole clusters of `blocks` blocks, which may leave multiprocessors without work; 0 where a cluster finds no
/// room; more shared memory than a block may have throws.
int clusters_with_room(
    const void *kernel, int blocks, int threads, int shared_bytes, int min_capability = 90);

/// The same for a kernel that must run: throws DeviceError instead.
int resident_clusters(
    const void *kernel, int blocks, int threads, int shared_bytes, int min_capability = 90);
} // namespace tensormg
