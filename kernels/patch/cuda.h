// CONTRACT of the vertex-patch corrections in device memory: the formula, the patches and their colours are those
// of patch.h, for a block that has all cells of the grid,
//   x += damping * sum_patches R' A^+ R r     over the patches of one colour.
//
// One launch takes all patches of the colour. A block of threads takes a group of patches that follow each other
// in x: their unknowns are gathered into shared memory with lanes side by side along x, contracted there by the
// code of kernels/patch_inverse, and added to x as they were read. So r is read and x read and written once; what
// no patch of the colour has stays as it is.
//
// Arithmetic. `cuda`: in Compute<Number>, on CUDA cores. `mma`: the contractions on tensor cores, FP64 by m8n8k4
// (2 n <= 8) or m16n8k4; FP32 in three products of TF32 (two-term split), so that nothing of single precision is
// lost; FP16 with operands rounded to FP16 and sums in FP32. The addition to x is in Compute<Number>, rounded once.
//
// Arrays. r, x: Block::size() numbers in device memory; padding is neither read nor written. tables: what
// DeviceKernel::pack makes of make_factors(), in device memory. `patches` is read before the call returns.
//
// Queued in `stream`, nothing is allocated; no atomics: the same input gives the same bits. There are kernels for
// dim 2 and 3, degree 1..8. Oracle: reference.cc. Test: tests/kernels/patch_device_test.cu.
#pragma once

#include <cstddef>

#include "kernels/core/device.h"
#include "kernels/patch/patches.h"

namespace tensormg::patch
{
template <typename Number>
struct DeviceArguments
{
  const Patches *patches = nullptr; ///< in groups of DeviceKernel::group_size
  const std::byte *tables = nullptr;
  double damping = 1.;
  const Number *r = nullptr;
  Number *x = nullptr; ///< must not alias r
  Stream stream = nullptr;
};

template <typename Number>
struct DeviceKernel
{
  void (*correct)(const DeviceArguments<Number> &) = nullptr;
  /// Takes make_factors() and 2 n.
  patch_inverse::PackFactors *pack = nullptr;
  int group_size = 1;
  tensor::Resources (*resources)() = nullptr; ///< on the current device
};

/// For patches of 2 n unknowns per direction; `backend` is cuda or mma. Throws std::invalid_argument for others
/// and for degrees that do not exist, DeviceError if this build or machine has no device.
template <typename Number>
DeviceKernel<Number> select_device(patch_inverse::Backend backend, int dim, int n);

/// Bytes of the tables of a level at most, whatever the backend.
constexpr std::int64_t device_table_bytes(int n)
{
  // 24 matrices; fragments of FP64 are padded to multiples of 16 x 4, the split of FP32 has two terms.
  const std::int64_t padded = (2 * n + 15) / 16 * 16;
  return 24 * (padded + 1) * padded * 8;
}

/// (x, old) = ((1 + theta) x - theta old, x): extrapolation of the three-term steps. theta = 0: old = x, whatever
/// old was.
template <typename Number>
void extrapolate_cuda(std::int64_t size, double theta, Number *x, Number *old, Stream stream);

/// What select_device() chooses from.
template <typename Number>
DeviceKernel<Number> correct_lines(int dim, int n);
template <typename Number>
DeviceKernel<Number> correct_tensor(int dim, int n);
} // namespace tensormg::patch
