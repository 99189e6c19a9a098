// The functions of cuBLAS that the project calls, found when the first of them is needed. The library is not
// linked: with what it loads in turn it has half a gigabyte, which only the direct solver needs.
#pragma once

#include <cublas_v2.h>

namespace tensormg
{
struct CublasFunctions
{
  decltype(&::cublasCreate_v2) create = nullptr;
  decltype(&::cublasDestroy_v2) destroy = nullptr;
  decltype(&::cublasSetStream_v2) set_stream = nullptr;
  decltype(&::cublasSetAtomicsMode) set_atomics_mode = nullptr;
  decltype(&::cublasGetStatusString) status_string = nullptr;
  decltype(&::cublasDgemmStridedBatched) multiply = nullptr;
};

/// Throws DeviceError that says where the library was looked for. tests/emulation/cublas.cc has its own.
const CublasFunctions &cublas();
} // namespace tensormg
