// The inner loops of the `cpu` backend: one row of one chunk, all modes in x and z (see cpu.h).
#pragma once

#include <array>

#include "kernels/core/simd.h"
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

/// The four numbers that couple a line to its neighbours: two for even, two for odd modes.
template <int W, typename C>
TENSORMG_INLINE inline void store_pairs(C *pairs, std::int64_t stride, simd::Vec<C, W> vm,
    simd::Vec<C, W> dm, simd::Vec<C, W> vp, simd::Vec<C, W> dp)
{
  simd::store<W>(pairs, dm - dp);
  simd::store<W>(pairs + stride, vp + vm);
  simd::store<W>(pairs + 2 * stride, -(dm + dp));
  simd::store<W>(pairs + 3 * stride, vp - vm);
}

/// Everything that the inner loops read, as a local of their caller: a member of a longer-lived object could
/// alias their stores.
template <int dim, int n, Form form, typename Number>
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
  C vy, gy, own, theta;
  const C *diagonal;

  /// The x coupling of W cells in every plane.
  template <int W>
  TENSORMG_INLINE void pair_x(std::int64_t x) const
  {
    for (int k = 0; k < nz; ++k)
    {
      const C *t = x_traces + k * n * 4 * x_line + x;
      store_pairs<W, C>(x_pairs + k * 4 * chunk + x, chunk, simd::load<W>(t + x_line - 1),
          simd::load<W>(t + 3 * x_line - 1), simd::load<W>(t + 1),
          simd::load<W>(t + 2 * x_line + 1));
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
    V<W> z_pairs[2][2];
    if constexpr (dim == 3)
      couple_z<W>(at, z_pairs);
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
        face += vz[k] * z_pairs[k % 2][0];
        face_y += gz[k] * z_pairs[k % 2][1];
      }
      V<W> result = combine<W>(at + k * plane, face + face_y, diagonal[k * n * n + i]);
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
  TENSORMG_INLINE void couple_z(std::int64_t at, V<W> (&pairs)[2][2]) const
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
    }
    pairs[0][0] = dm - dp;
    pairs[0][1] = vp + vm;
    pairs[1][0] = -(dm + dp);
    pairs[1][1] = vp - vm;
  }

  /// The form: `weight` is the diagonal entry, for chebyshev alpha divided by it.
  template <int W>
  TENSORMG_INLINE V<W> combine(std::int64_t at, V<W> face, C weight) const
  {
    const V<W> u = simd::load<W>(src + at);
    // What the next strip reads once, from memory. Past the end of a vector this is harmless.
    if constexpr (form != Form::apply)
      __builtin_prefetch(b + prefetch + at, 0, 2);
    if constexpr (form == Form::chebyshev)
      if (old)
        __builtin_prefetch(old + prefetch + at, 0, 2);
    if constexpr (form == Form::apply)
      return weight * u + face;
    else if constexpr (form == Form::residual)
      return simd::load<W>(b + at) - (weight * u + face);
    else
    {
      // (b - B u) / diagonal = (b - face) / diagonal - u: src is not needed twice.
      V<W> result = own * u + weight * (simd::load<W>(b + at) - face);
      if (old)
        result -= theta * simd::load<W>(old + at);
      return result;
    }
  }
};
} // namespace tensormg::laplace
