// The inner loops of the `cpu` backend: one row of one chunk, all modes in x and z (see cpu.h).
#pragma once

#include <array>
#include <type_traits>

#include "kernels/core/simd.h"
#include "kernels/laplace/cpu/coefficients.h"
#include "kernels/laplace/cpu/tables.h"
#include "kernels/laplace/laplace.h"

namespace tensormg::laplace
{
/// Traces of W lines; D with half the derivative.
template <typename C, int W>
struct CpuTraces
{
  simd::Vec<C, W> vl, vr, dl, dr;
};

/// Trace weights in registers: members could alias the stores of the loops.
template <int n, typename Number>
struct CpuTraceWeights
{
  using C = Compute<Number>;
  std::array<C, n> v, h;

  /// Traces of a line whose mode m lies at p + m * stride, for W neighbouring lines.
  template <int W>
  TENSORMG_INLINE CpuTraces<C, W> operator()(const Number *p, std::int64_t stride) const
  {
    simd::Vec<C, W> ev{}, ed{}, ov{}, od{};
#pragma GCC unroll 9
    for (int m = 0; m < n; ++m)
    {
      const simd::Vec<C, W> u = simd::load<W>(p + m * stride);
      if (m % 2 == 0)
      {
        ev += v[m] * u;
        ed += h[m] * u;
      }
      else
      {
        ov += v[m] * u;
        od += h[m] * u;
      }
    }
    return {ev - ov, ev + ov, od - ed, od + ed};
  }
};

template <int W, typename C>
TENSORMG_INLINE inline void store_pairs(C *to, std::int64_t stride, const CpuPairs<C, W> &pairs)
{
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i)
    simd::store<W>(to + i * stride, pairs[i]);
}

/// Everything that the inner loops read, as a local of their caller: a member of a longer-lived object could
/// alias their stores.
template <int dim, int n, Form form, typename Number, typename Coefficient>
struct CpuRow
{
  using C = Compute<Number>;
  template <int W>
  using V = simd::Vec<C, W>;
  static constexpr int nz = dim == 3 ? n : 1;
  static constexpr std::int64_t chunk = cpu_chunk_cells(n, sizeof(C)); ///< cells in x

  static constexpr int line_cells = simd::line_bytes / sizeof(Number);
  /// Whether what goes past the caches is gathered to whole lines first: processors with registers of 32 bytes do not combine parts
  /// that come by turns with those of other modes.
  static constexpr bool gathers_lines = simd::register_bytes < simd::line_bytes;

  /// What lies above a row: the next layer, a ghost or, from the own traces, a physical side.
  struct Above
  {
    const Number *next = nullptr; ///< row of the next layer
    const C *other = nullptr;     ///< otherwise V here and D at other + other_d, times the signs
    std::int64_t other_d = 0;
    C sign{}, sign_d{};
    const C *kappa = nullptr; ///< then D less so much of V
  };

  const Number *src;
  Number *dst;
  const Number *b;
  const Number *old;
  std::int64_t pitch, row, plane, x_line;
  std::int64_t end;      ///< cells of the row from the start of the chunk
  std::int64_t prefetch; ///< to the same place in the next strip
  const C *x_traces, *y_pairs;
  C *x_pairs;
  C *carry; ///< traces of the layer below, replaced by those of the layer above
  Above above;
  CpuTraceWeights<n, Number> traces;
  std::array<C, n> vx, gx;
  std::array<C, nz> vz, gz;
  C vy, gy, own, theta, alpha;
  using Coupling = typename Coefficient::template Coupling<n>;
  Coupling x_coupling, z_coupling;
  std::conditional_t<Coefficient::per_cell, CpuCellDiagonal<dim, n, C>, const C *> diagonal;

  /// The x coupling of W cells in every plane.
  template <int W>
  TENSORMG_INLINE void pair_x(std::int64_t x) const
  {
    for (int k = 0; k < nz; ++k)
    {
      const C *t = x_traces + k * n * 4 * x_line + x;
      store_pairs<W, C>(x_pairs + k * 4 * chunk + x, chunk,
          x_coupling.template with_own<W>(x, simd::load<W>(t), simd::load<W>(t + x_line),
              simd::load<W>(t + x_line - 1), simd::load<W>(t + 3 * x_line - 1),
              simd::load<W>(t + 1), simd::load<W>(t + 2 * x_line + 1)));
    }
  }

  /// Where results go.
  enum class To
  {
    dst,
    padded_dst,  ///< what is padding stays zero
    past_caches, ///< to dst
    line         ///< to line[k][..], an array of lines
  };

  /// Mode i in x of W cells of a row, all modes in z.
  template <int W, To to>
  TENSORMG_INLINE void finish_cells(int i, std::int64_t x, Number *line = nullptr) const
  {
    const std::int64_t at = i * pitch + x;
    CpuPairs<C, W> z_pairs;
    if constexpr (dim == 3)
      z_pairs = couple_z<W>(at, x);
    const auto own_parts = parts_in_cell<W>(i, x);
    const C *x_pair = x_pairs + (i % 2) * 2 * chunk + x;
    const C *y_pair = y_pairs + i * chunk + x;
#pragma GCC unroll 9
    for (int k = 0; k < nz; ++k)
    {
      V<W> face = vx[i] * simd::load<W>(x_pair + k * 4 * chunk);
      face += gx[i] * simd::load<W>(x_pair + (k * 4 + 1) * chunk);
      V<W> face_y = vy * simd::load<W>(y_pair + k * 4 * n * chunk);
      face_y += gy * simd::load<W>(y_pair + (k * 4 + 1) * n * chunk);
      if constexpr (dim == 3)
      {
        face += vz[k] * z_pairs[k % 2 * 2];
        face_y += gz[k] * z_pairs[k % 2 * 2 + 1];
      }
      V<W> result = combine<W>(at + k * plane, face + face_y, own_parts, k);
      if constexpr (to == To::padded_dst)
        result = simd::keep_first<W, C>(result, end - x);
      if constexpr (to == To::past_caches)
        simd::store_streaming<W>(dst + at + k * plane, result);
      else if constexpr (to == To::line)
        simd::store<W>(line + k * line_cells, result);
      else
        simd::store<W>(dst + at + k * plane, result);
    }
  }

  /// The same for the cells of a line of memory, none of them padding, past the caches.
  TENSORMG_INLINE void stream_line(int i, std::int64_t x) const
  {
    constexpr int W = simd::native_width<C>;
    alignas(simd::line_bytes) Number lines[nz][line_cells];
    for (int part = 0; part < line_cells; part += W)
      finish_cells<W, To::line>(i, x + part, &lines[0][part]);
    for (int k = 0; k < nz; ++k)
      simd::stream_line(dst + i * pitch + x + k * plane, &lines[k][0]);
  }

  /// The z coupling of W lines; the carried traces move on by one layer.
  template <int W>
  TENSORMG_INLINE CpuPairs<C, W> couple_z(std::int64_t at, std::int64_t x) const
  {
    C *carried = carry + at;
    const V<W> vm = simd::load<W>(carried), dm = simd::load<W>(carried + row);
    V<W> vp, dp;
    if (above.next)
    {
      const Number *next = above.next + at;
#pragma GCC unroll 9
      for (int m = 0; m < n; ++m)
        __builtin_prefetch(next + prefetch + m * plane, 0, 2);
      const CpuTraces<C, W> t = traces.template operator()<W>(next, plane);
      vp = t.vl;
      dp = t.dl;
      simd::store<W>(carried, t.vr);
      simd::store<W>(carried + row, t.dr);
    }
    else
    {
      vp = above.sign * simd::load<W>(above.other + at);
      dp = above.sign_d * simd::load<W>(above.other + above.other_d + at);
      if constexpr (Coefficient::per_cell)
        if (above.kappa)
          dp -= simd::load<W>(above.kappa + x) * vp;
    }
    return z_coupling.template of_line<W>(x, src + at, plane, vm, dm, vp, dp);
  }

  /// What belongs to a cell alone, for mode i in x and all modes in z.
  template <int W>
  TENSORMG_INLINE auto parts_in_cell(int i, [[maybe_unused]] std::int64_t x) const
  {
    if constexpr (Coefficient::per_cell)
      return diagonal.template line<W, form == Form::chebyshev>(i, x);
    else
      return diagonal + i;
  }

  /// The form.
  template <int W, typename Parts>
  TENSORMG_INLINE V<W> combine(std::int64_t at, V<W> face, const Parts &parts, int k) const
  {
    const V<W> u = simd::load<W>(src + at);
    // What the next strip reads once, from memory. Past the end of a vector this is harmless.
    if constexpr (form != Form::apply)
      __builtin_prefetch(b + prefetch + at, 0, 2);
    if constexpr (form == Form::chebyshev)
    {
      if (old)
        __builtin_prefetch(old + prefetch + at, 0, 2);
      V<W> result;
      if constexpr (Coefficient::per_cell)
        result = own * u + alpha * (simd::load<W>(b + at) - face - parts.of(k) * u) / parts.d_of(k);
      else // (b - B u) / diagonal = (b - face) / diagonal - u: src is not needed twice.
        result = own * u + parts[k * n * n] * (simd::load<W>(b + at) - face);
      if (old)
        result -= theta * simd::load<W>(old + at);
      return result;
    }
    V<W> product;
    if constexpr (Coefficient::per_cell)
      product = parts.of(k) * u + face;
    else
      product = parts[k * n * n] * u + face;
    if constexpr (form == Form::apply)
      return product;
    else
      return simd::load<W>(b + at) - product;
  }
};
} // namespace tensormg::laplace
