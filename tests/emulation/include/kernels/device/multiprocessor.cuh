// kernels/device/multiprocessor.cuh of the emulation: every block has one of its own.
#pragma once

#include "tests/emulation/emulation.h"

namespace tensormg
{
inline unsigned multiprocessor() { return emulation::thread->block->index.x; }
} // namespace tensormg
