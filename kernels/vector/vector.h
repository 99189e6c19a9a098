// CONTRACT of the vector kernels of the CPU: contiguous arrays of `size` numbers, 64-byte aligned,
// size a multiple of row_granularity, padding zero (so sums need no mask). Sums are taken in double in
// an order that depends on the size alone: the same input gives the same bits. x and y may be the same
// array where a line says so. Single-threaded. Oracle and tests: tests/kernels/vector/vector_test.cc.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/basis/cell_basis.h"
#include "kernels/core/block.h"
#include "kernels/core/half.h"
#include "kernels/core/wide_float.h"

namespace tensormg::vector_kernels
{
/// Most vectors that one multi_dot or multi_update call takes.
inline constexpr int max_vectors = 64;

/// An entry of [-1, 1) that looks random, a function of the position alone.
/// Source: SplitMix64 (G. Steele, D. Lea, C. Flood, OOPSLA 2014).
constexpr double pseudo_random(std::uint64_t position)
{
  std::uint64_t x = position + 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  x ^= x >> 31;
  return static_cast<double>(x >> 11) * 0x1p-52 - 1.;
}

/// x'y. Reads 2 vectors.
template <typename Number>
double dot(std::int64_t size, const Number *x, const Number *y);

/// max_i |x_i|; infinity if an entry is NaN or infinite. Reads 1 vector.
template <typename Number>
double max_abs(std::int64_t size, const Number *x);

/// result[i] = v[i]'w for i < count, and result[count] = w'w. Reads count + 1 vectors. For double, WideFloat.
template <typename Number>
void multi_dot(
    std::int64_t size, int count, const Number *const *v, const Number *w, double *result);

/// w = factor w + sum_i c[i] v[i] in FP64, rounded once to the type of w; returns w'w of what is written. Reads
/// count + 1 vectors, writes one. From, To: double, double; WideFloat, WideFloat; WideFloat, double.
template <typename From, typename To>
double multi_update(
    std::int64_t size, int count, const double *c, const From *const *v, double factor, To *w);

/// y = a x + b y (b = 0: y is not read). x may be y. Reads 1-2, writes 1.
template <typename Number>
void axpby(std::int64_t size, double a, const Number *x, double b, Number *y);

/// dst = factor * src in FP64, rounded to the type of dst. Reads 1, writes 1.
template <typename To, typename From>
void convert(std::int64_t size, double factor, const From *src, To *dst);

/// dst = factor * (x + d), as convert(). Reads 2, writes 1.
template <typename To, typename From>
void convert_sum(std::int64_t size, double factor, const From *x, const From *d, To *dst);

/// x = src, rounded to the type of x, and d = src - x, rounded. Reads 1, writes 2.
template <typename To, typename From>
void convert_to_pair(std::int64_t size, const From *src, To *x, To *d);

/// dst = factor * src, as convert(); returns the square of the norm of factor * src before it is rounded.
/// Reads 1, writes 1.
template <typename To>
double convert_with_norm(std::int64_t size, double factor, const double *src, To *dst);

/// x += a unit p, r -= a q; returns r'r. The fused update of conjugate gradients: reads 4, writes 2. unit: what one
/// in p, q and r stands for, 1 unless they are kept in other units than x.
template <typename Number>
double cg_update(std::int64_t size, double a, double unit, const Number *p, const Number *q,
    double *x, Number *r);

/// x = alpha D^-1 b with D = sum_d factor_d lambda (see kernels/laplace/laplace.h); x may be b.
template <typename Number>
void inverse_diagonal(const Block &block, const CellBasis &basis,
    const std::array<double, 3> &factor, double alpha, const Number *b, Number *x);

/// b = scale * src, as convert(); x = alpha D^-1 b, as inverse_diagonal(). Reads 1, writes 2.
template <typename Number, typename From>
void convert_and_divide(const Block &block, const CellBasis &basis,
    const std::array<double, 3> &factor, double alpha, double scale, const From *src, Number *b,
    Number *x);

/// u += shift * (the coefficients of the constant function 1); in both, the constant's coefficients
/// are products of CellBasis::legendre row 0.
template <typename Number>
void add_constant(const Block &block, const CellBasis &basis, double shift, Number *u);

/// Sum over cells of the mean value: int u / |cell|.
template <typename Number>
double sum_of_means(const Block &block, const CellBasis &basis, const Number *u);
} // namespace tensormg::vector_kernels
