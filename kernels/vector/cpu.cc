// Vectors wider than a register have no fixed calling convention; here they never leave inlined code.
#pragma GCC diagnostic ignored "-Wpsabi"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "kernels/core/simd.h"
#include "kernels/vector/vector.h"

namespace tensormg::vector_kernels
{
namespace
{
  constexpr int W = static_cast<int>(row_granularity);
  using VD = simd::Vec<double, W>;

  template <typename Number>
  TENSORMG_INLINE inline VD load(const Number *p)
  {
    if constexpr (std::is_same_v<Number, double>)
      return simd::load<W>(p);
    else if constexpr (std::is_same_v<Number, WideFloat>)
      return __builtin_convertvector(simd::load<W>(&p->value), VD);
    else
      return __builtin_convertvector(simd::load<W>(p), VD);
  }

  template <typename Number>
  TENSORMG_INLINE inline void store(Number *p, VD v)
  {
    if constexpr (std::is_same_v<Number, double>)
      simd::store<W, double>(p, v);
    else
    {
      const simd::Vec<float, W> single = __builtin_convertvector(v, simd::Vec<float, W>);
      if constexpr (std::is_same_v<Number, WideFloat>)
        simd::store<W>(&p->value, single);
      else
        simd::store<W>(p, single);
    }
  }

  double sum(VD v)
  {
    double s = 0.;
    for (int i = 0; i < W; ++i)
      s += v[i];
    return s;
  }

  /// Adds the blocks' sums: rounding errors grow with the block length, not with the size.
  template <typename Body>
  TENSORMG_INLINE inline double blocked_sum(std::int64_t size, Body &&body)
  {
    constexpr std::int64_t block = 4096;
    double total = 0.;
    for (std::int64_t start = 0; start < size; start += block)
    {
      const std::int64_t end = std::min(start + block, size);
      VD s0{}, s1{};
      std::int64_t i = start;
      for (; i + 2 * W <= end; i += 2 * W)
      {
        s0 += body(i);
        s1 += body(i + W);
      }
      for (; i < end; i += W)
        s0 += body(i);
      total += sum(s0 + s1);
    }
    return total;
  }
} // namespace

template <typename Number>
double dot(std::int64_t size, const Number *x, const Number *y)
{
  return blocked_sum(
      size, [=](std::int64_t i) TENSORMG_INLINE { return load(x + i) * load(y + i); });
}

template <typename Number>
double max_abs(std::int64_t size, const Number *x)
{
  using C = Compute<Number>;
  C largest = 0;
  bool finite = true;
  for (std::int64_t i = 0; i < size; ++i)
  {
    const C value = std::abs(static_cast<C>(x[i]));
    largest = value > largest ? value : largest;
    finite &= value <= std::numeric_limits<C>::max();
  }
  return finite ? static_cast<double>(largest) : std::numeric_limits<double>::infinity();
}

template <typename Number>
void multi_dot(
    std::int64_t size, int count, const Number *const *v, const Number *w, double *result)
{
  // Blocks of w stay in the first-level cache while all v pass over them.
  constexpr std::int64_t block = 2048;
  for (int i = 0; i <= count; ++i)
    result[i] = 0.;
  for (std::int64_t start = 0; start < size; start += block)
  {
    const std::int64_t length = std::min(block, size - start);
    for (int i = 0; i <= count; ++i)
      result[i] += dot(length, (i < count ? v[i] : w) + start, w + start);
  }
}

template <typename From, typename To>
double multi_update(
    std::int64_t size, int count, const double *c, const From *const *v, double factor, To *w)
{
  constexpr bool in_place = std::is_same_v<To, double>;
  constexpr std::int64_t block = 2048;
  double norm = 0.;
  alignas(64) std::array<double, in_place ? 1 : block> sums;
  for (std::int64_t start = 0; start < size; start += block)
  {
    const std::int64_t length = std::min(block, size - start);
    double *sum = sums.data(); // in FP64, until all vectors are added
    if constexpr (in_place)
      sum = w + start;
    if (!in_place || factor != 1.)
      for (std::int64_t at = 0; at < length; at += W)
        store(sum + at, factor * load(w + start + at));
    int i = 0;
    for (; i + 2 <= count; i += 2)
    {
      const double c0 = c[i], c1 = c[i + 1];
      const From *v0 = v[i] + start, *v1 = v[i + 1] + start;
      for (std::int64_t at = 0; at < length; at += W)
        store(sum + at, load(sum + at) + c0 * load(v0 + at) + c1 * load(v1 + at));
    }
    for (; i < count; ++i)
      for (std::int64_t at = 0; at < length; at += W)
        store(sum + at, load(sum + at) + c[i] * load(v[i] + start + at));
    if constexpr (!in_place)
      for (std::int64_t at = 0; at < length; at += W)
        store(w + start + at, load(sum + at));
    norm += dot(length, w + start, w + start);
  }
  return norm;
}

template <typename Number>
void axpby(std::int64_t size, double a, const Number *x, double b, Number *y)
{
  if (b == 0.)
    for (std::int64_t i = 0; i < size; i += W)
      store(y + i, a * load(x + i));
  else
    for (std::int64_t i = 0; i < size; i += W)
      store(y + i, a * load(x + i) + b * load(y + i));
}

template <typename To, typename From>
void convert(std::int64_t size, double factor, const From *src, To *dst)
{
  for (std::int64_t i = 0; i < size; i += W)
    store(dst + i, factor * load(src + i));
}

template <typename To, typename From>
void convert_sum(std::int64_t size, double factor, const From *x, const From *d, To *dst)
{
  for (std::int64_t i = 0; i < size; i += W)
    store(dst + i, factor * (load(x + i) + load(d + i)));
}

template <typename To, typename From>
void convert_to_pair(std::int64_t size, const From *src, To *x, To *d)
{
  for (std::int64_t i = 0; i < size; i += W)
  {
    const VD value = load(src + i);
    store(x + i, value);
    store(d + i, value - load(x + i));
  }
}

template <typename To>
double convert_with_norm(std::int64_t size, double factor, const double *src, To *dst)
{
  return blocked_sum(size, [=](std::int64_t i) TENSORMG_INLINE {
    const VD value = factor * load(src + i);
    store(dst + i, value);
    return value * value;
  });
}

template <typename Number>
double cg_update(std::int64_t size, double a, double unit, const Number *p, const Number *q,
    double *x, Number *r)
{
  return blocked_sum(size, [=, of_x = a * unit](std::int64_t i) TENSORMG_INLINE {
    store(x + i, load(x + i) + of_x * load(p + i));
    store(r + i, load(r + i) - a * load(q + i));
    const VD residual = load(r + i);
    return residual * residual;
  });
}

namespace
{
  /// f(position of the first cell of a line, alpha / diagonal) for all lines: all cells of one mode of x in a row.
  template <typename C, typename Function>
  TENSORMG_INLINE inline void for_each_line(const Block &block, const CellBasis &basis,
      const std::array<double, 3> &factor, double alpha, Function &&f)
  {
    const int n = block.n, nz = block.nz();
    for (std::int64_t z = 0; z < block.planes(); ++z)
      for (std::int64_t y = 0; y < block.rows_per_plane(); ++y)
        for (int i = 0; i < n; ++i)
        {
          double diagonal = factor[0] * basis.lambda[i] + factor[1] * basis.lambda[y % n];
          if (block.dim == 3)
            diagonal += factor[2] * basis.lambda[z % nz];
          f(z * block.plane() + y * block.row() + i * block.pitch,
              static_cast<C>(alpha / diagonal));
        }
  }
} // namespace

template <typename Number>
void inverse_diagonal(const Block &block, const CellBasis &basis,
    const std::array<double, 3> &factor, double alpha, const Number *b, Number *x)
{
  using C = Compute<Number>;
  for_each_line<C>(block, basis, factor, alpha, [&](std::int64_t at, C weight) TENSORMG_INLINE {
    simd::for_each_vector<C>(block.pitch, [&](std::int64_t cx, auto width) TENSORMG_INLINE {
      constexpr int lanes = width;
      const simd::Vec<C, lanes> value = weight * simd::load<lanes>(b + at + cx);
      simd::store<lanes>(x + at + cx, value);
    });
  });
}

template <typename Number, typename From>
void convert_and_divide(const Block &block, const CellBasis &basis,
    const std::array<double, 3> &factor, double alpha, double scale, const From *src, Number *b,
    Number *x)
{
  using C = Compute<Number>;
  for_each_line<C>(block, basis, factor, alpha, [&](std::int64_t at, C weight) TENSORMG_INLINE {
    for (std::int64_t cx = 0; cx < block.pitch; cx += W)
    {
      store(b + at + cx, scale * load(src + at + cx));
      // From the rounded b, in the numbers in which inverse_diagonal() computes.
      const simd::Vec<C, W> value = weight * simd::load<W>(b + at + cx);
      simd::store<W>(x + at + cx, value);
    }
  });
}

namespace
{
  /// f(position of cell 0 of a line of cells, weight of its mode in the constant function 1).
  template <typename Function>
  void for_each_constant_mode(const Block &block, const CellBasis &basis, Function &&f)
  {
    const int n = block.n, nz = block.nz();
    for (std::int64_t z = 0; z < block.planes(); ++z)
      for (std::int64_t y = 0; y < block.rows_per_plane(); ++y)
        for (int i = 0; i < n; ++i)
        {
          double weight = basis.legendre[i] * basis.legendre[y % n];
          if (block.dim == 3)
            weight *= basis.legendre[z % nz];
          if (weight != 0.) // odd modes have mean zero
            f(z * block.plane() + y * block.row() + i * block.pitch, weight);
        }
  }
} // namespace

template <typename Number>
void add_constant(const Block &block, const CellBasis &basis, double shift, Number *u)
{
  using C = Compute<Number>;
  for_each_constant_mode(block, basis, [&](std::int64_t at, double weight) {
    const C value = static_cast<C>(shift * weight);
    for (std::int64_t cx = 0; cx < block.cells[0]; ++cx)
      u[at + cx] = Number(static_cast<C>(u[at + cx]) + value);
  });
}

template <typename Number>
double sum_of_means(const Block &block, const CellBasis &basis, const Number *u)
{
  double total = 0.;
  for_each_constant_mode(block, basis, [&](std::int64_t at, double weight) {
    VD line{};
    for (std::int64_t cx = 0; cx < block.pitch; cx += W)
      line += load(u + at + cx);
    total += weight * sum(line);
  });
  return total;
}

template double dot(std::int64_t, const double *, const double *);
template double dot(std::int64_t, const float *, const float *);
template double dot(std::int64_t, const Half *, const Half *);
template double max_abs(std::int64_t, const double *);
template double max_abs(std::int64_t, const float *);
template double max_abs(std::int64_t, const WideFloat *);
template double max_abs(std::int64_t, const Half *);
template void axpby(std::int64_t, double, const double *, double, double *);
template void axpby(std::int64_t, double, const float *, double, float *);
template void axpby(std::int64_t, double, const WideFloat *, double, WideFloat *);
template void axpby(std::int64_t, double, const Half *, double, Half *);
template double cg_update(
    std::int64_t, double, double, const double *, const double *, double *, double *);
template double cg_update(
    std::int64_t, double, double, const WideFloat *, const WideFloat *, double *, WideFloat *);
template double dot(std::int64_t, const WideFloat *, const WideFloat *);
template void multi_dot(std::int64_t, int, const double *const *, const double *, double *);
template void multi_dot(std::int64_t, int, const WideFloat *const *, const WideFloat *, double *);
template double multi_update(
    std::int64_t, int, const double *, const double *const *, double, double *);
template double multi_update(
    std::int64_t, int, const double *, const WideFloat *const *, double, WideFloat *);
template double multi_update(
    std::int64_t, int, const double *, const WideFloat *const *, double, double *);
template double convert_with_norm(std::int64_t, double, const double *, WideFloat *);

// Between the vectors of the outer method (double, WideFloat) and those of a cycle.
template void convert(std::int64_t, double, const double *, double *);
template void convert(std::int64_t, double, const double *, float *);
template void convert(std::int64_t, double, const double *, Half *);
template void convert(std::int64_t, double, const double *, WideFloat *);
template void convert(std::int64_t, double, const float *, double *);
template void convert(std::int64_t, double, const Half *, double *);
template void convert(std::int64_t, double, const WideFloat *, double *);
template void convert(std::int64_t, double, const WideFloat *, float *);
template void convert(std::int64_t, double, const WideFloat *, Half *);
template void convert(std::int64_t, double, const float *, WideFloat *);
template void convert(std::int64_t, double, const Half *, WideFloat *);
template void convert_sum(std::int64_t, double, const double *, const double *, double *);
template void convert_sum(std::int64_t, double, const float *, const float *, double *);
template void convert_sum(std::int64_t, double, const Half *, const Half *, double *);
template void convert_sum(std::int64_t, double, const double *, const double *, WideFloat *);
template void convert_sum(std::int64_t, double, const float *, const float *, WideFloat *);
template void convert_sum(std::int64_t, double, const Half *, const Half *, WideFloat *);
template void convert(std::int64_t, double, const Half *, float *); // between levels
template void convert(std::int64_t, double, const float *, float *);
template void convert_to_pair(std::int64_t, const float *, Half *, Half *);
template void convert_to_pair(std::int64_t, const float *, float *, float *);
template void convert_and_divide(const Block &, const CellBasis &, const std::array<double, 3> &,
    double, double, const double *, double *, double *);
template void convert_and_divide(const Block &, const CellBasis &, const std::array<double, 3> &,
    double, double, const double *, float *, float *);
template void convert_and_divide(const Block &, const CellBasis &, const std::array<double, 3> &,
    double, double, const double *, Half *, Half *);
template void convert_and_divide(const Block &, const CellBasis &, const std::array<double, 3> &,
    double, double, const WideFloat *, double *, double *);
template void convert_and_divide(const Block &, const CellBasis &, const std::array<double, 3> &,
    double, double, const WideFloat *, float *, float *);
template void convert_and_divide(const Block &, const CellBasis &, const std::array<double, 3> &,
    double, double, const WideFloat *, Half *, Half *);
template void inverse_diagonal(const Block &, const CellBasis &, const std::array<double, 3> &,
    double, const double *, double *);
template void inverse_diagonal(const Block &, const CellBasis &, const std::array<double, 3> &,
    double, const float *, float *);
template void inverse_diagonal(
    const Block &, const CellBasis &, const std::array<double, 3> &, double, const Half *, Half *);
template void add_constant(const Block &, const CellBasis &, double, double *);
template void add_constant(const Block &, const CellBasis &, double, float *);
template void add_constant(const Block &, const CellBasis &, double, Half *);
template double sum_of_means(const Block &, const CellBasis &, const double *);
template double sum_of_means(const Block &, const CellBasis &, const float *);
template double sum_of_means(const Block &, const CellBasis &, const Half *);
} // namespace tensormg::vector_kernels
