// CONTRACT of the vertex-patch corrections in device memory: the patches and their colours are those of patch.h,
// for a block that has all cells of the grid. Two formulas, each over the patches of one colour:
//   correct   x += damping * sum_patches R' A^+ R r
//   replace   y = x + sum_patches R' A^-1 R (b - B x)        the same with r = b - B x and damping = 1.
//
// replace needs no residual: of R B x = A R x + C x the first part is what A^-1 undoes, so that on a patch
//   R y = A^-1 (R b - C x),   C x: what the cells beside the patch contribute.
// A neighbour enters by two numbers per line and face, its value V and half its normal derivative D (kernels/basis/
// cell_basis.h): with s_i = (-1)^i, the sums running over the line's modes u_i of the neighbour,
//   below   V = sum v_i u_i,      D = sum h_i u_i,       C_i = c_d s_i (g_i V + v_i D)    in the lower cell,
//   above   V = sum s_i v_i u_i,  D = sum s_i h_i u_i,   C_i = c_d (g_i V + v_i D)        in the upper cell.
// It asks for A without a kernel, which only patches that touch or wrap around all ends of the grid can have.
//
// One launch takes all patches of the colour. A block of threads takes a group of patches that follow each other
// in x: their unknowns are gathered into shared memory with lanes side by side along x, contracted there by the
// code of kernels/patch_inverse, and written as they were read. Numbers read and written per unknown: correct 3
// (r, x, x); replace 3 (b, x, y; of x each cell up to three times, by patches beside it: from caches). Cells that no
// patch of the colour has: correct leaves them as they are, replace copies them by a launch before.
//
// Arithmetic. `cuda`: in Compute<Number>, on CUDA cores. `mma`: the contractions on tensor cores, FP64 by m8n8k4
// (2 n <= 8) or m16n8k4; FP32 and FP16 in three products of TF32 (two-term split), so that nothing of single precision
// is lost: replace computes x itself, not a small correction. Results are rounded once.
//
// Arrays. r, b, x, y: Block::size() numbers in device memory; padding is neither read nor written. tables: what
// DeviceKernel::pack makes of make_factors(), in device memory. `patches` is read before the call returns.
//
// Queued in `stream`, nothing is allocated; no atomics: the same input gives the same bits. There are kernels for
// dim 2 and 3, degree 1..8. Oracle: reference.cc. Test: tests/kernels/patch/device_test.cu.
#pragma once

#include <cstddef>

#include "kernels/device/cuda_function.h"
#include "kernels/device/device.h"
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
struct ReplaceArguments
{
  const Patches *patches = nullptr; ///< in groups of DeviceKernel::group_size
  const std::byte *tables = nullptr;
  Block block;
  const CellBasis *basis = nullptr;
  std::array<double, 3> factor{1., 1., 1.}; ///< c_d
  const Number *b = nullptr;
  /// nullptr: zero; then what no patch of the colour has stays as it is in y.
  const Number *x = nullptr;
  Number *y = nullptr; ///< neither b nor x
  Stream stream = nullptr;
};

template <typename Number>
struct DeviceKernel
{
  void (*correct)(const DeviceArguments<Number> &) = nullptr;
  void (*replace)(const ReplaceArguments<Number> &) = nullptr;
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

/// y = x in all cells that no patch of the colour has.
template <typename Number>
TENSORMG_CUDA_FUNCTION void copy_uncovered_cuda(
    const Block &block, const Patches &patches, const Number *x, Number *y, Stream stream);

/// (x, old) = ((1 + theta) x - theta old, x): extrapolation of the three-term steps. theta = 0: old = x, whatever
/// old was.
template <typename Number>
TENSORMG_CUDA_FUNCTION void extrapolate_cuda(
    std::int64_t size, double theta, Number *x, Number *old, Stream stream);

/// What select_device() chooses from.
template <typename Number>
TENSORMG_CUDA_FUNCTION DeviceKernel<Number> correct_lines(int dim, int n);
template <typename Number>
TENSORMG_CUDA_FUNCTION DeviceKernel<Number> correct_tensor(int dim, int n);
} // namespace tensormg::patch
