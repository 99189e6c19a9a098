// kernels/device/shared_memory.cuh of the emulation.
#pragma once

#include "tests/emulation/emulation.h"

namespace tensormg
{
inline unsigned char *dynamic_shared() { return emulation::thread->block->shared; }
} // namespace tensormg
