// The approximate inverses of relaxation.h in device memory: formulas and arrays are those there; what differs is said here. Queued in the
// stream; all pointers but the basis in device memory. No two threads write the same number: the same input gives the same bits.
//
// A line turns where it goes on in another block, and may meet itself, so no order of lines by directions keeps them apart. All are solved
// at once, and what those in direction d of a cell give to it goes to a vector of its own: [d][block.size()]. Who writes z adds these up.
//
// Per unknown, with s bytes per number of vectors and c of the arithmetic, dim vectors of lines, n modes:
//   cells   2 s + dim (n + 1) / n^(dim-1) c, and dim s to add lines
//   lines   of each direction 3 s: r there and back, the result; 96 / (4 n) bytes of elimination; numbers of cells and places of lines,
//           (5 c + 16) / n bytes there and back, mostly from caches: all pairs of modes of a line read the same ones
//   sum     (dim + 1) s
// Oracle: the host's. Test: tests/operators/curved/relaxation_device_test.cu.
#pragma once

#include "kernels/device/cuda_function.h"
#include "kernels/laplace/pointwise/device_lines.h"

namespace tensormg::laplace
{
/// z = weight F r, and with `lines` plus their sum. Padding of z becomes zero; that of the others is not read.
template <typename Number>
TENSORMG_CUDA_FUNCTION void apply_separable_inverse_cuda(const Block &block,
    const Compute<Number> *numbers, double weight, const Number *lines, const Number *r, Number *z,
    Stream stream);

template <typename Number>
struct SeparableLines
{
  Block block;
  const CellBasis *basis = nullptr;
  DeviceCellLines::View lines{};
  const Compute<Number> *numbers = nullptr;
  double weight = 1.;
  const Number *r = nullptr;
  /// dim vectors, weight L r of the lines in each direction of cells; not r. Padding stays as it is.
  Number *results = nullptr;
  double *work = nullptr; ///< DeviceCellLines::work_size() numbers, scratch
};
template <typename Number>
TENSORMG_CUDA_FUNCTION void solve_separable_lines_cuda(
    const SeparableLines<Number> &a, Stream stream);

/// z = sum of the dim vectors of lines. Padding of z becomes zero.
template <typename Number>
TENSORMG_CUDA_FUNCTION void sum_lines_cuda(
    const Block &block, const Number *lines, Number *z, Stream stream);
} // namespace tensormg::laplace
