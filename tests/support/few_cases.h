// Where a device is slow, tests take a part of their cases: every degree some, every case some degrees.
#pragma once

#include <cstdlib>

#include "kernels/device/device.h"

namespace tensormg::test
{
/// The device code is compiled as C++ and run on the CPU (tests/emulation).
inline bool is_emulated()
{
  static const bool emulated = device_properties().name == "emulated device";
  return emulated;
}

/// The emulation, or the environment has TENSORMG_TEST_FEW_CASES: compute-sanitizer takes a hundred times as long.
inline bool has_few_cases()
{
  static const bool few = is_emulated() || std::getenv("TENSORMG_TEST_FEW_CASES") != nullptr;
  return few;
}

/// compute-sanitizer looks at every access, so one block that is full and one that is not are enough.
inline bool is_sanitized() { return has_few_cases() && !is_emulated(); }

/// Whether a kernel is run again to see the same bits. In the emulation nothing runs at the same time, and compute-sanitizer has
/// seen all there is.
inline bool runs_again() { return !has_few_cases(); }
} // namespace tensormg::test
