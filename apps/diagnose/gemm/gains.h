// What products gain from tensor cores. Most kernels have the library as twin, which has them, too.
#pragma once

#include <cstddef>
#include <string>

#include "apps/diagnose/diagnose.h"

namespace tensormg::diagnose::gemm_class
{
/// The kernel on CUDA cores with the tiles and copies of those on tensor cores; empty: none for this precision.
std::string cuda_twin(const std::string &precision);

/// To measured entries of a device from number `first` on whose twin is another one, the figure "gain over cuda_fp64" and what theory
/// allows (overlapped and un-overlapped). Returns the gains in a line for each precision.
std::string add_gains(Diagnosis &diagnosis, std::size_t first);
} // namespace tensormg::diagnose::gemm_class
