// The vector kernels for vectors in device memory: formulas, arrays and order of arguments are those of
// kernels/vector/vector.h; what differs is said here.
//
// Every function queues its work in `stream` and returns; nothing is allocated. Arithmetic is in
// Compute<Number>, sums are taken in double, in an order that depends on the size alone: no atomics, the
// same input gives the same bits. Sums take two passes: at most `reduction_blocks` blocks leave one
// partial sum each in `scratch`, then one block per sum adds those.
//   scratch  device memory, scratch_size(sums) numbers; one call after the other may use the same
//   result   device memory, or pinned host memory (kernels/device/device.h)
// Bytes moved are those of vector.h: 16-byte accesses, each vector once (multi_dot reads w once per
// dots_per_pass vectors). Oracle: kernels/vector/cpu.cc. Test: tests/kernels/vector/cuda_test.cu.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/device/cuda_function.h"
#include "kernels/device/device.h"
#include "kernels/vector/vector.h"

namespace tensormg::vector_kernels::cuda
{
/// Blocks of the first pass: four for each of the 132 multiprocessors of an H100 or H200. A number that
/// asked the device would make the sums depend on it.
inline constexpr int reduction_blocks = 528;

/// Vectors whose dots one pass over w takes: their sums fit into registers.
inline constexpr int dots_per_pass = 7;

/// Numbers of scratch for so many sums.
constexpr std::int64_t scratch_size(int sums) { return std::int64_t(sums) * reduction_blocks; }

/// The factor of a conversion: `factor` or, if `largest` is given, factor * p, where p is the largest
/// power of two that is at most 1 / *largest (with `inverted` 1 / p; 1 where *largest is zero or not
/// finite). So the host need not know the largest entry of a vector that is to be scaled by it.
struct Scale
{
  double factor = 1.;
  const double *largest = nullptr; ///< device memory, as max_abs leaves it
  bool inverted = false;
};

/// A factor that the host need not know: factor * *numerator / *denominator.
struct Quotient
{
  double factor = 1.;
  const double *numerator = nullptr, *denominator = nullptr; ///< device memory
};

/// Where the rows of a block lie in the grid: the first of its planes and of its rows in each plane, and how many of these a plane of
/// the grid has.
struct RowsInGrid
{
  std::int64_t first_plane = 0, first_row = 0, rows_per_plane = 0;
};
/// x = pseudo_random(position): positions count the unknowns of the grid in the order of Block, without padding, which becomes zero.
TENSORMG_CUDA_FUNCTION void pseudo_random_vector(
    const Block &block, const RowsInGrid &rows, double *x, Stream stream);

/// copy: where the sum is left as well, or nullptr.
template <typename Number>
TENSORMG_CUDA_FUNCTION void dot(std::int64_t size, const Number *x, const Number *y,
    double *scratch, double *result, Stream stream, double *copy = nullptr);

template <typename Number>
TENSORMG_CUDA_FUNCTION void max_abs(
    std::int64_t size, const Number *x, double *scratch, double *result, Stream stream);

/// count + 1 sums. `v` is an array in host memory of pointers to device memory. copy: as for dot().
template <typename Number>
TENSORMG_CUDA_FUNCTION void multi_dot(std::int64_t size, int count, const Number *const *v,
    const Number *w, double *scratch, double *result, Stream stream, double *copy = nullptr);

/// One sum, or none if `result` is nullptr. `c` and `v` are arrays in host memory. `largest`: where max |w_i| of
/// the new w is left in device memory, as by max_abs; then scratch is needed for two sums. nullptr: nowhere; it
/// needs a result.
template <typename From, typename To>
TENSORMG_CUDA_FUNCTION void multi_update(std::int64_t size, int count, const double *c,
    const From *const *v, double factor, To *w, double *scratch, double *result, double *largest,
    Stream stream);

/// One sum, and max |dst_i| in `largest` (device memory); scratch for two sums.
template <typename To>
TENSORMG_CUDA_FUNCTION void convert_with_norm(std::int64_t size, double factor, const double *src,
    To *dst, double *scratch, double *result, double *largest, Stream stream);

/// One sum, and max |r_i| in `largest` (device memory); scratch for two sums. Where numerator and denominator of `a` are
/// not positive, or their quotient is not finite, x and r stay as they are.
template <typename Number>
TENSORMG_CUDA_FUNCTION void cg_update(std::int64_t size, const Quotient &a, double unit,
    const Number *p, const Number *q, double *x, Number *r, double *scratch, double *result,
    double *largest, Stream stream);

template <typename Number>
TENSORMG_CUDA_FUNCTION void axpby(
    std::int64_t size, double a, const Number *x, double b, Number *y, Stream stream);
template <typename Number>
TENSORMG_CUDA_FUNCTION void axpby(
    std::int64_t size, double a, const Number *x, const Quotient &b, Number *y, Stream stream);

template <typename To, typename From>
TENSORMG_CUDA_FUNCTION void convert(
    std::int64_t size, const Scale &scale, const From *src, To *dst, Stream stream);

/// x = alpha d b with the numbers of a diagonal, d, in the type of the arithmetic. x may be b. Test: tests/kernels/vector/steps_device_test.cu.
template <typename Number>
TENSORMG_CUDA_FUNCTION void multiply_by_diagonal(std::int64_t size, double alpha,
    const Compute<Number> *d, const Number *b, Number *x, Stream stream);
/// y = x + theta (x - old) + c, old = nullptr being zero. y may be old.
template <typename Number>
TENSORMG_CUDA_FUNCTION void add_to_step(std::int64_t size, double theta, const Number *x,
    const Number *old, const Number *c, Number *y, Stream stream);

template <typename To, typename From>
TENSORMG_CUDA_FUNCTION void convert_sum(
    std::int64_t size, const Scale &scale, const From *x, const From *d, To *dst, Stream stream);

template <typename To, typename From>
TENSORMG_CUDA_FUNCTION void convert_to_pair(
    std::int64_t size, const From *src, To *x, To *d, Stream stream);

template <typename Number>
TENSORMG_CUDA_FUNCTION void inverse_diagonal(const Block &block, const CellBasis &basis,
    const std::array<double, 3> &factor, double alpha, const Number *b, Number *x, Stream stream);

template <typename Number, typename From>
TENSORMG_CUDA_FUNCTION void convert_and_divide(const Block &block, const CellBasis &basis,
    const std::array<double, 3> &factor, double alpha, const Scale &scale, const From *src,
    Number *b, Number *x, Stream stream);

template <typename Number>
TENSORMG_CUDA_FUNCTION void add_constant(
    const Block &block, const CellBasis &basis, double shift, Number *u, Stream stream);

/// modes = factor times the tensor product of the n x n matrix (rows one after the other, in host memory) in all directions
/// applied to nodal, an array [cell][k][j][i] of the block's cells, lexicographic. Padding of modes is left as it is.
TENSORMG_CUDA_FUNCTION void nodes_to_modes(const Block &block, const double *matrix, double factor,
    const double *nodal, double *modes, Stream stream);
/// The other way: nodal = factor times that of modes.
TENSORMG_CUDA_FUNCTION void modes_to_nodes(const Block &block, const double *matrix, double factor,
    const double *modes, double *nodal, Stream stream);

/// u of cell (cx, cy, cz) times x[cx] y[cy] z[cz]: arrays in device memory, of as many numbers as there are cells.
TENSORMG_CUDA_FUNCTION void multiply_cells(const Block &block, const double *x, const double *y,
    const double *z, double *u, Stream stream);

/// One sum.
template <typename Number>
TENSORMG_CUDA_FUNCTION void sum_of_means(const Block &block, const CellBasis &basis,
    const Number *u, double *scratch, double *result, Stream stream);

/// x[places[i]] = sum_j matrix[i][j] b[places[j]], i, j < count; a matrix by rows. x must not alias b. Oracle: plain loops. Test:
/// tests/kernels/vector/dense_device_test.cu.
template <typename Number>
TENSORMG_CUDA_FUNCTION void dense_product(std::int64_t count, const double *matrix,
    const std::int64_t *places, const Number *b, Number *x, Stream stream);
} // namespace tensormg::vector_kernels::cuda
