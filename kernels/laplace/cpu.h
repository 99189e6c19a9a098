// The `cpu` backend of the Laplace operator for one dimension, degree, form and number type.
//
// March: tiles of cell rows in y; within a tile layers of cells in z, within a layer strips (all cells of
// one row in x), within a strip chunks of cells, small enough that everything below stays in the
// first-level cache. For a chunk the traces of its six neighbours are combined into two numbers per
// line, direction and parity (the rank-2 coupling of CellBasis):
//   z: the traces of layer cz + 1 are computed from src one layer ahead (this is the pass that streams
//      src from memory); those of cz and cz - 1 are carried in a buffer of the tile's size;
//   y: the same with strips; x: the same with chunks, neighbours are lanes shifted by one.
// Then every entry is finished with 2 FMA per direction. src comes from memory once and from the cache
// afterwards; the tile is chosen such that a layer and the carried traces stay there.
#pragma once

#include <algorithm>
#include <utility>

#include "kernels/core/simd.h"
#include "kernels/laplace/cpu_tables.h"
#include "kernels/laplace/laplace.h"

namespace tensormg::laplace
{
template <int dim, int n, Form form, typename Number>
class CpuMarch
{
  using C = Compute<Number>;
  template <int W>
  using V = simd::Vec<C, W>;
  static constexpr int nz = dim == 3 ? n : 1;

public:
  explicit CpuMarch(const Arguments<Number> &arguments)
    : a(arguments)
    , block(a.block)
    , row(block.row())
    , plane(block.plane())
    , pitch(block.pitch)
    , x_line(pitch + 2 * margin)
    , weights(a)
  {
    streaming = use_streaming_stores(a.dst, block);
    tile = tile_rows(block, sizeof(Number), sizeof(C));
    CpuScratch<C> &scratch = CpuScratch<C>::of_this_thread();
    C *p = scratch.require(
        4 * tile * n * row + 4 * nz * row + 4 * n * (n + 1) * chunk + 4 * nz * n * x_line);
    const auto take = [&p](std::int64_t count) { return std::exchange(p, p + count); };
    for (int b = 0; b < 2; ++b)
    {
      z_carry[b] = take(2 * tile * n * row);
      y_carry[b] = take(2 * nz * row);
    }
    z_pairs = take(4 * n * n * chunk);
    y_pairs = take(4 * n * chunk);
    x_traces = take(4 * nz * n * x_line) + margin;
  }

  void run()
  {
    for (std::int64_t y0 = 0; y0 < block.cells[1]; y0 += tile)
    {
      const std::int64_t y1 = std::min(y0 + tile, block.cells[1]);
      if constexpr (dim == 3)
        start_z(y0, y1);
      for (std::int64_t cz = 0; cz < block.cells[2]; ++cz)
      {
        start_y(y0, cz);
        for (std::int64_t cy = y0; cy < y1; ++cy)
          strip(cy, cy - y0, cz);
        std::swap(z_carry[0], z_carry[1]);
      }
    }
    if (streaming)
      streaming_fence();
  }

private:
  static constexpr std::int64_t margin = 16;
  static constexpr std::int64_t chunk = cpu_chunk_cells(n, sizeof(C)); ///< cells in x

  template <int W>
  struct Traces
  {
    V<W> vl, vr, dl, dr;
  };

  /// Trace weights in registers: members could alias the stores of the loops.
  struct TraceWeights
  {
    std::array<C, n> v, h;

    /// Traces of a line whose mode m lies at p + m * stride, for W neighbouring lines.
    template <int W>
    TENSORMG_INLINE Traces<W> operator()(const Number *p, std::int64_t stride) const
    {
      V<W> ev{}, ed{}, ov{}, od{};
#pragma GCC unroll 9
      for (int m = 0; m < n; ++m)
      {
        const V<W> u = simd::load<W>(p + m * stride);
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
  TraceWeights trace_weights() const { return {weights.v, weights.h}; }

  /// Ghost trace behind a physical side from the own trace: Dirichlet (-V, D), Neumann (V, -D).
  static C value_sign(Side side) { return side == Side::dirichlet ? C(-1) : C(1); }

  /// The four numbers that couple a line to its neighbours: two for even, two for odd modes.
  template <int W>
  static void store_pairs(C *pairs, std::int64_t stride, V<W> vm, V<W> dm, V<W> vp, V<W> dp)
  {
    simd::store<W>(pairs, dm - dp);
    simd::store<W>(pairs + stride, vp + vm);
    simd::store<W>(pairs + 2 * stride, -(dm + dp));
    simd::store<W>(pairs + 3 * stride, vp - vm);
  }

  /// f(offset in a row, offset in a chunk buffer, width) for all modes i and cells [x0, x1).
  template <typename Function>
  TENSORMG_INLINE static void for_each_in_chunk(
      std::int64_t pitch, std::int64_t x0, std::int64_t x1, Function &&f)
  {
    const std::int64_t count = x1 - x0;
    for (int i = 0; i < n; ++i)
      if (count == chunk) // the loop length is a constant
        simd::for_each_vector<C>(
            chunk, [&](std::int64_t x, auto width) TENSORMG_INLINE {
              f(i * pitch + x0 + x, i * chunk + x, width);
            });
      else
        simd::for_each_vector<C>(
            count, [&](std::int64_t x, auto width) TENSORMG_INLINE {
              f(i * pitch + x0 + x, i * chunk + x, width);
            });
  }

  /// Fills "previous" (z_carry[0]) with what lies below the block and "current" (z_carry[1]) with the
  /// upper traces of layer 0.
  void start_z(std::int64_t y0, std::int64_t y1)
  {
    for (std::int64_t r = y0 * n; r < y1 * n; ++r)
      start_line(a.src + r * row, plane, a.sides[4],
          a.ghost[4] ? a.ghost[4] + r * row : nullptr, plane, nullptr,
          z_carry[0] + 2 * (r - y0 * n) * row, z_carry[1] + 2 * (r - y0 * n) * row);
  }

  /// The same in y, for all planes of one layer. Inside the block the row before the tile is read.
  void start_y(std::int64_t y0, std::int64_t cz)
  {
    for (int k = 0; k < nz; ++k)
    {
      const std::int64_t z = cz * nz + k;
      const Number *own = a.src + z * plane + y0 * n * row;
      start_line(own, row, a.sides[2], a.ghost[2] ? a.ghost[2] + z * row : nullptr,
          block.planes() * row, y0 > 0 ? own - n * row : nullptr, y_carry[0] + 2 * k * row,
          y_carry[1] + 2 * k * row);
    }
  }

  /// One row: `previous` and `current` get [V][row], [D][row].
  void start_line(const Number *own, std::int64_t stride, Side side, const C *ghost,
      std::int64_t ghost_d, const Number *before, C *previous, C *current) const
  {
    const C sign = value_sign(side);
    const TraceWeights traces = trace_weights();
    const std::int64_t row = this->row; // a local: a member could alias the stores
    simd::for_each_vector<C>(row, [&](std::int64_t x, auto width) TENSORMG_INLINE {
      constexpr int W = width;
      const Traces<W> t = traces.template operator()<W>(own + x, stride);
      V<W> vm = sign * t.vl, dm = -sign * t.dl;
      if (before)
      {
        const Traces<W> other = traces.template operator()<W>(before + x, stride);
        vm = other.vr;
        dm = other.dr;
      }
      else if (side == Side::ghost)
      {
        vm = simd::load<W>(ghost + x);
        dm = simd::load<W>(ghost + ghost_d + x);
      }
      simd::store<W>(previous + x, vm);
      simd::store<W>(previous + row + x, dm);
      simd::store<W>(current + x, t.vr);
      simd::store<W>(current + row + x, t.dr);
    });
  }

  /// One chunk of one row: the pairs that couple it to both neighbours; `previous` gets the upper traces
  /// of the next cell. `next` is null at the end of the block, where `side` closes it.
  void couple(const Number *next, std::int64_t stride, Side side, const C *ghost,
      std::int64_t ghost_d, C *previous, const C *current, C *pairs, std::int64_t x0,
      std::int64_t x1, std::int64_t prefetch) const
  {
    constexpr std::int64_t pair_stride = n * chunk;
    const std::int64_t row = this->row; // a local: a member could alias the stores
    if (next)
    {
      const TraceWeights traces = trace_weights();
      for_each_in_chunk(pitch, x0, x1, [&](std::int64_t x, std::int64_t at, auto width) TENSORMG_INLINE {
        constexpr int W = width;
        if (prefetch)
#pragma GCC unroll 9
          for (int m = 0; m < n; ++m)
            __builtin_prefetch(next + prefetch + m * stride + x, 0, 2);
        const Traces<W> t = traces.template operator()<W>(next + x, stride);
        store_pairs<W>(pairs + at, pair_stride, simd::load<W>(previous + x),
            simd::load<W>(previous + row + x), t.vl, t.dl);
        simd::store<W>(previous + x, t.vr);
        simd::store<W>(previous + row + x, t.dr);
      });
      return;
    }
    const C sign = value_sign(side);
    for_each_in_chunk(pitch, x0, x1, [&](std::int64_t x, std::int64_t at, auto width) TENSORMG_INLINE {
      constexpr int W = width;
      V<W> vp = sign * simd::load<W>(current + x), dp = -sign * simd::load<W>(current + row + x);
      if (side == Side::ghost)
      {
        vp = simd::load<W>(ghost + x);
        dp = simd::load<W>(ghost + ghost_d + x);
      }
      store_pairs<W>(pairs + at, pair_stride, simd::load<W>(previous + x),
          simd::load<W>(previous + row + x), vp, dp);
    });
  }

  void strip(std::int64_t cy, std::int64_t local_cy, std::int64_t cz)
  {
    const std::int64_t start = cz * nz * plane + cy * n * row;
    const bool last_z = cz + 1 == block.cells[2], last_y = cy + 1 == block.cells[1];
    // The first chunk needs the trace of the last cell where x is periodic.
    if (a.sides[0] == Side::wrap)
      for (int k = 0; k < nz; ++k)
        trace_x(start + k * plane, k, (pitch - 1) / chunk * chunk, pitch);
    for (int k = 0; k < nz; ++k)
      trace_x(start + k * plane, k, 0, std::min(chunk, pitch));
    for (std::int64_t x0 = 0; x0 < pitch; x0 += chunk)
    {
      const std::int64_t x1 = std::min(x0 + chunk, pitch);
      if constexpr (dim == 3)
        for (int j = 0; j < n; ++j)
        {
          const std::int64_t line = 2 * (local_cy * n + j) * row, r = (cy * n + j) * row;
          couple(last_z ? nullptr : a.src + (cz + 1) * nz * plane + r, plane, a.sides[5],
              a.ghost[5] ? a.ghost[5] + r : nullptr, plane, z_carry[0] + line, z_carry[1] + line,
              z_pairs + j * 4 * n * chunk, x0, x1, last_y ? 0 : n * row);
        }
      for (int k = 0; k < nz; ++k)
      {
        const std::int64_t z = cz * nz + k;
        couple(last_y ? nullptr : a.src + z * plane + (cy + 1) * n * row, row, a.sides[3],
            a.ghost[3] ? a.ghost[3] + z * row : nullptr, block.planes() * row,
            y_carry[0] + 2 * k * row, y_carry[1] + 2 * k * row, y_pairs, x0, x1, 0);
        if (x1 < pitch)
          trace_x(start + k * plane, k, x1, std::min(x1 + chunk, pitch));
        for (int j = 0; j < n; ++j)
        {
          close_x(k, j, x0, x1);
          finish(start + k * plane + j * row, j, k, x0, x1);
        }
      }
    }
    std::swap(y_carry[0], y_carry[1]);
  }

  /// x traces (VL, VR, DL, DR) of plane k of a strip for the cells [x0, x1).
  void trace_x(std::int64_t start, int k, std::int64_t x0, std::int64_t x1) const
  {
    const TraceWeights traces = trace_weights();
    const std::int64_t pitch = this->pitch, x_line = this->x_line, row = this->row;
    for (int j = 0; j < n; ++j)
    {
      const Number *u = a.src + start + j * row + x0;
      C *t = x_traces + (k * n + j) * 4 * x_line + x0;
      simd::for_each_vector<C>(x1 - x0, [&](std::int64_t x, auto width) TENSORMG_INLINE {
        constexpr int W = width;
        const Traces<W> value = traces.template operator()<W>(u + x, pitch);
        simd::store<W>(t + x, value.vl);
        simd::store<W>(t + x_line + x, value.vr);
        simd::store<W>(t + 2 * x_line + x, value.dl);
        simd::store<W>(t + 3 * x_line + x, value.dr);
      });
    }
  }

  /// What lies beyond the ends of a line in x, once the chunk at that end is there.
  void close_x(int k, int j, std::int64_t x0, std::int64_t x1)
  {
    C *vl = x_traces + (k * n + j) * 4 * x_line;
    C *vr = vl + x_line, *dl = vr + x_line, *dr = dl + x_line;
    const std::int64_t end = block.cells[0];
    const bool wrap = a.sides[0] == Side::wrap;
    if (x0 == 0)
    {
      vr[-1] = wrap ? vr[end - 1] : value_sign(a.sides[0]) * vl[0];
      dr[-1] = wrap ? dr[end - 1] : -value_sign(a.sides[0]) * dl[0];
    }
    if (x1 == pitch)
    {
      vl[end] = wrap ? vl[0] : value_sign(a.sides[1]) * vr[end - 1];
      dl[end] = wrap ? dl[0] : -value_sign(a.sides[1]) * dr[end - 1];
    }
  }

  /// One chunk of one row of dst.
  void finish(std::int64_t line, int j, int k, std::int64_t x0, std::int64_t x1) const
  {
    const C *vl = x_traces + (k * n + j) * 4 * x_line + x0;
    const C *y = y_pairs + (j % 2) * 2 * n * chunk;
    const C *z = z_pairs + (j * 4 + (k % 2) * 2) * n * chunk;
    const C *diagonal = weights.diagonal.data() + (k * n + j) * n;
    const FinishWeights w = {weights.vd[0], weights.gd[0], weights.vd[1][j], weights.gd[1][j],
        dim == 3 ? weights.vd[2][k] : C(0), dim == 3 ? weights.gd[2][k] : C(0), weights.own,
        weights.theta};
    const Rows rows{a.src + line + x0, a.dst + line + x0, a.b ? a.b + line + x0 : nullptr,
        a.old ? a.old + line + x0 : nullptr, n * row};
    const std::int64_t pitch = this->pitch, x_line = this->x_line;
    const std::int64_t end = block.cells[0] - x0;
    const auto cells = [&](std::int64_t x, auto width, auto padded, auto stream) TENSORMG_INLINE {
      constexpr int W = width;
      const V<W> vp = simd::load<W>(vl + x + 1), vm = simd::load<W>(vl + x_line + x - 1);
      const V<W> dp = simd::load<W>(vl + 2 * x_line + x + 1),
                 dm = simd::load<W>(vl + 3 * x_line + x - 1);
      const V<W> even_d = dm - dp, even_v = vp + vm, odd_d = -(dm + dp), odd_v = vp - vm;
      std::int64_t at = x;
#pragma GCC unroll 9
      for (int i = 0; i < n; ++i)
      {
        const C *yi = y + i * chunk + x, *zi = z + i * chunk + x;
        V<W> face = w.vx[i] * (i % 2 == 0 ? even_d : odd_d);
        face += w.gx[i] * (i % 2 == 0 ? even_v : odd_v);
        V<W> face_y = w.vy * simd::load<W>(yi);
        face_y += w.gy * simd::load<W>(yi + n * chunk);
        if constexpr (dim == 3)
        {
          face += w.vz * simd::load<W>(zi);
          face_y += w.gz * simd::load<W>(zi + n * chunk);
        }
        V<W> result = combine<W>(rows, at, face + face_y, diagonal[i], w);
        if constexpr (padded) // padding stays zero
          result = simd::keep_first<W, C>(result, end - x);
        if constexpr (stream)
          simd::store_streaming<W>(rows.dst + at, result);
        else
          simd::store<W>(rows.dst + at, result);
        at += pitch;
      }
    };
    constexpr std::bool_constant<true> yes;
    constexpr std::bool_constant<false> no;
    const bool streaming = this->streaming;
    simd::for_each_vector<C>(x1 - x0, [&](std::int64_t x, auto width) TENSORMG_INLINE {
      if (end - x < width)
        cells(x, width, yes, no);
      else if (streaming && width == simd::native_width<C>)
        cells(x, width, no, yes);
      else
        cells(x, width, no, no);
    });
  }

  /// Where a row of each vector starts.
  struct Rows
  {
    const Number *src;
    Number *dst;
    const Number *b;
    const Number *old;
    std::int64_t ahead; ///< to the next strip
  };

  struct FinishWeights
  {
    std::array<C, n> vx, gx;
    C vy, gy, vz, gz, own, theta;
  };

  /// The form: `weight` is the diagonal entry, for chebyshev alpha divided by it.
  template <int W>
  TENSORMG_INLINE static V<W> combine(
      const Rows &rows, std::int64_t at, V<W> face, C weight, const FinishWeights &w)
  {
    const V<W> u = simd::load<W>(rows.src + at);
    // What the next strip reads once, from memory. Past the end of a vector this is harmless.
    if constexpr (form != Form::apply)
      __builtin_prefetch(rows.b + rows.ahead + at, 0, 2);
    if constexpr (form == Form::chebyshev)
      __builtin_prefetch(rows.old + rows.ahead + at, 0, 2);
    if constexpr (form == Form::apply)
      return weight * u + face;
    else if constexpr (form == Form::residual)
      return simd::load<W>(rows.b + at) - (weight * u + face);
    else
    {
      // (b - B u) / diagonal = (b - face) / diagonal - u: src is not needed twice.
      V<W> result = w.own * u + weight * (simd::load<W>(rows.b + at) - face);
      if (rows.old)
        result -= w.theta * simd::load<W>(rows.old + at);
      return result;
    }
  }

  const Arguments<Number> a;
  const Block block;
  const std::int64_t row, plane, pitch;
  const std::int64_t x_line; ///< pitch and a margin on each side
  const CpuWeights<dim, n, form, C> weights;
  bool streaming = false;
  std::int64_t tile = 1;
  C *z_carry[2] = {};    ///< [tile rows][V, D][row]: traces of the previous and the current layer
  C *y_carry[2] = {};    ///< [planes of a layer][V, D][row]
  C *z_pairs = nullptr;  ///< [j][pair][i][chunk]
  C *y_pairs = nullptr;  ///< [pair][i][chunk]
  C *x_traces = nullptr; ///< [k][j][VL, VR, DL, DR][x_line]
};
} // namespace tensormg::laplace
