// CONTRACT of the solution by fast diagonalisation on a device, for blocks that are small in every direction.
//
//   x = Q (Lambda_x + Lambda_y + Lambda_z)^+ Q' b,   Q = Q_z (x) Q_y (x) Q_x,
// where a vanishing sum of eigenvalues has the inverse zero. Source: Lynch, Rice, Thomas, Numer. Math. 6 (1964).
//
// Arrays: everything in device memory. b and x in Block's order, x may be b; every entry of x is written,
// its padding with zero. Eigenvectors are row-major with one column per eigenvalue, rows in storage order
// of the direction: block.row() rows in x (zero rows for padding), cells * n in y and z; 1 x 1 in z in 2D.
// `transposed` holds the same matrices with rows and columns exchanged. work: length(x) * length(y) *
// length(z) numbers.
//
// Three kernels: x and y of a plane, there; z there, division, and back; y and x of a plane, back. Blocks of
// threads own 16 columns, so that even a block of 16^3 unknowns keeps many multiprocessors busy, and no
// intermediate vector but `work` leaves shared memory. For 64^3 unknowns: 0.2 GFLOP, 3 launches; the
// alternative, V-cycles on three coarser levels, has some 40 launches.
// Sums in a fixed order: the same input gives the same bits. Queued in `stream`, nothing allocated.
// Oracle: operators/constant/box_solver.h. Test: tests/operators/constant/device_box_solver_test.cu.
#pragma once

#include <array>

#include "kernels/core/block.h"
#include "kernels/core/half.h"
#include "kernels/device/cuda_function.h"
#include "kernels/device/device.h"

namespace tensormg::fast_diagonalisation
{
/// Unknowns of a line in direction d (padding excluded).
constexpr std::int64_t length(const Block &block, int d)
{
  return d < block.dim ? block.cells[d] * block.n : 1;
}

/// Largest length, so that a panel of 64 rows and the columns fit into shared memory.
inline constexpr std::int64_t longest = 128;

constexpr bool is_small(const Block &block)
{
  for (int d = 0; d < block.dim; ++d)
    if (length(block, d) > longest)
      return false;
  return true;
}

template <typename Number>
struct Arguments
{
  using C = Compute<Number>;
  Block block;
  std::array<const C *, 3> vectors{}, transposed{}, eigenvalues{};
  const Number *b = nullptr;
  Number *x = nullptr;
  C *work = nullptr;
  Stream stream = nullptr;
};

/// Throws std::invalid_argument unless is_small(block).
template <typename Number>
TENSORMG_CUDA_FUNCTION void solve_cuda(const Arguments<Number> &);

/// The division alone, for blocks that are not small and whose products cuBLAS makes:
/// u[z][y][x] /= the sum of the eigenvalues, or 0 where that vanishes. Reads and writes u once.
TENSORMG_CUDA_FUNCTION void divide_cuda(const std::array<std::int64_t, 3> &lengths,
    const std::array<const double *, 3> &eigenvalues, double *u, Stream stream);
} // namespace tensormg::fast_diagonalisation
