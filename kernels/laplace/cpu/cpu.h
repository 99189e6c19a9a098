// The `cpu` backend of the Laplace operator for one dimension, degree, form and number type.
//
// March: tiles of cell rows in y; within a tile layers of cells in z, within a layer strips (all cells of
// one row in x), within a strip chunks of cells, small enough that everything below stays in the
// first-level cache. For a chunk the traces of its six neighbours are combined into two numbers per
// line, direction and parity (the rank-2 coupling of CellBasis):
//   y: the traces of strip cy + 1 are computed one strip ahead, those of cy and cy - 1 are carried;
//   x: the same with chunks, neighbours are lanes shifted by one;
//   z: the traces of layer cz + 1 are computed from src one layer ahead (this is the pass that streams
//      src from memory); those of cz and cz - 1 are carried in a buffer of the tile's size. This coupling
//      stays in registers while the n entries of its line are finished, with 2 FMA per direction.
// src comes from memory once and from the cache afterwards; the tile is chosen such that a layer and the
// carried traces stay there.
#pragma once

#include <algorithm>
#include <utility>

#include "kernels/core/simd.h"
#include "kernels/laplace/cpu/coefficients.h"
#include "kernels/laplace/cpu/row.h"
#include "kernels/laplace/cpu/tables.h"
#include "kernels/laplace/laplace.h"

namespace tensormg::laplace
{
template <int dim, int n, Form form, typename Number, typename Coefficient = OneCoefficient<Number>>
class CpuMarch
{
  using C = Compute<Number>;
  template <int W>
  using V = simd::Vec<C, W>;
  using Row = CpuRow<dim, n, form, Number, Coefficient>;
  using Above = typename Row::Above;
  using TraceWeights = CpuTraceWeights<n, Number>;
  template <int W>
  using Traces = CpuTraces<C, W>;
  static constexpr int nz = dim == 3 ? n : 1;

public:
  CpuMarch(const Arguments<Number> &arguments, const Coefficient &coefficient_)
    : a(arguments)
    , coefficient(coefficient_)
    , block(a.block)
    , range(clipped(a.range, block))
    , row(block.row())
    , plane(block.plane())
    , pitch(block.pitch)
    , covered(padded_cells(3, block.cells[0]))
    , x_line(pitch + 2 * margin)
    , weights(a, coefficient)
  {
    streaming = use_streaming_stores(a);
    tile = tile_rows(block, range.y_end - range.y_begin, sizeof(Number), sizeof(C));
    CpuScratch<C> &scratch = CpuScratch<C>::of_this_thread();
    C *p = scratch.require(
        4 * tile * n * row + 4 * nz * row + 4 * nz * (n + 1) * chunk + 4 * nz * n * x_line);
    const auto take = [&p](std::int64_t count) { return std::exchange(p, p + count); };
    for (int b = 0; b < 2; ++b)
    {
      z_carry[b] = take(2 * tile * n * row);
      y_carry[b] = take(2 * nz * row);
    }
    y_pairs = take(4 * nz * n * chunk);
    x_pairs = take(4 * nz * chunk);
    x_traces = take(4 * nz * n * x_line) + margin;
  }

  void run()
  {
    for (std::int64_t y0 = range.y_begin; y0 < range.y_end; y0 += tile)
    {
      const std::int64_t y1 = std::min(y0 + tile, range.y_end);
      if constexpr (dim == 3)
        start_z(y0, y1);
      for (std::int64_t cz = range.z_begin; cz < range.z_end; ++cz)
      {
        start_y(y0, cz);
        for (std::int64_t cy = y0; cy < y1; ++cy)
        {
          strip(cy, cy - y0, cz);
          if constexpr (dim == 2)
            a.between_layers();
        }
        std::swap(z_carry[0], z_carry[1]);
        if constexpr (dim == 3)
          a.between_layers();
      }
    }
    if (streaming)
      streaming_fence();
  }

private:
  static constexpr std::int64_t margin = 16;
  static constexpr std::int64_t chunk = Row::chunk; ///< cells in x
  static_assert(chunk % simd::native_width<C> == 0, "chunks are whole registers");

  TraceWeights trace_weights() const { return {weights.v, weights.h}; }

  /// f(offset in a row, offset in a chunk buffer, cell, width) for all modes i and cells [x0, x1).
  template <typename Function>
  TENSORMG_INLINE static void for_each_in_chunk(
      std::int64_t pitch, std::int64_t x0, std::int64_t x1, Function &&f)
  {
    const std::int64_t count = x1 - x0;
    for (int i = 0; i < n; ++i)
      if (count == chunk) // the loop length is a constant
        simd::for_each_vector<C>(chunk, [&](std::int64_t x, auto width) TENSORMG_INLINE {
          f(i * pitch + x0 + x, i * chunk + x, x0 + x, width);
        });
      else
        simd::for_each_vector<C>(count, [&](std::int64_t x, auto width) TENSORMG_INLINE {
          f(i * pitch + x0 + x, i * chunk + x, x0 + x, width);
        });
  }

  /// Fills "previous" (z_carry[0]) with what lies below the first layer and "current" (z_carry[1]) with
  /// the upper traces of that layer. Inside the block the layer before it is read.
  void start_z(std::int64_t y0, std::int64_t y1)
  {
    for (std::int64_t r = y0 * n; r < y1 * n; ++r)
    {
      const Number *own = a.src + range.z_begin * nz * plane + r * row;
      const std::int64_t local = 2 * (r - y0 * n) * row;
      start_line(own, plane, a.sides[4], a.ghost[4] ? a.ghost[4] + r * row : nullptr, plane,
          range.z_begin > 0 ? own - nz * plane : nullptr, kappa(4, r / n, -1), z_carry[0] + local,
          z_carry[1] + local);
    }
  }

  /// The same in y, for all planes of one layer. Inside the block the row before the tile is read.
  void start_y(std::int64_t y0, std::int64_t cz)
  {
    for (int k = 0; k < nz; ++k)
    {
      const std::int64_t z = cz * nz + k;
      const Number *own = a.src + z * plane + y0 * n * row;
      start_line(own, row, a.sides[2], a.ghost[2] ? a.ghost[2] + z * row : nullptr,
          block.planes() * row, y0 > 0 ? own - n * row : nullptr, kappa(2, -1, cz),
          y_carry[0] + 2 * k * row, y_carry[1] + 2 * k * row);
    }
  }

  /// One row: `previous` and `current` get [V][row], [D][row].
  void start_line(const Number *own, std::int64_t stride, Side side, const C *ghost,
      std::int64_t ghost_d, const Number *before, const C *kappa, C *previous, C *current) const
  {
    const C sign = value_reflection<C>(side);
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
    if constexpr (Coefficient::per_cell)
      if (kappa && !before)
        for (std::int64_t first = 0; first < row; first += pitch)
          for (std::int64_t x = 0; x < pitch; ++x)
            previous[row + first + x] += kappa[x] * previous[first + x];
  }

  /// Where numbers kappa lie behind side s: of the row of places (cy, cz) there. nullptr: they are zero.
  const C *kappa(int s, std::int64_t cy, std::int64_t cz) const
  {
    if constexpr (Coefficient::per_cell)
      if (a.sides[s] == Side::neumann)
        return coefficient.of_cells(coefficient.cells.jump[s / 2], cy, cz);
    return nullptr;
  }

  /// One chunk of strip cy in plane z = cz nz + k: the pairs that couple it to both neighbours in y; the
  /// carried traces move on by one cell.
  void couple_y(std::int64_t cy, std::int64_t z, int k, std::int64_t x0, std::int64_t x1) const
  {
    constexpr std::int64_t pair_stride = n * chunk;
    const std::int64_t row = this->row; // a local: a member could alias the stores
    C *previous = y_carry[0] + 2 * k * row;
    C *pairs = y_pairs + k * 4 * pair_stride;
    const typename Coefficient::template Coupling<n> coupling =
        coefficient.template coupling<n>(trace_weights(), 1, cy, z / nz);
    const Number *own = a.src + z * plane + cy * n * row;
    if (cy + 1 < block.cells[1])
    {
      const Number *next = a.src + z * plane + (cy + 1) * n * row;
      const TraceWeights traces = trace_weights();
      for_each_in_chunk(pitch, x0, x1,
          [&](std::int64_t x, std::int64_t at, std::int64_t cell, auto width) TENSORMG_INLINE {
            constexpr int W = width;
            const Traces<W> t = traces.template operator()<W>(next + x, row);
            store_pairs<W, C>(pairs + at, pair_stride,
                coupling.template of_line<W>(cell, own + x, row, simd::load<W>(previous + x),
                    simd::load<W>(previous + row + x), t.vl, t.dl));
            simd::store<W>(previous + x, t.vr);
            simd::store<W>(previous + row + x, t.dr);
          });
      return;
    }
    const bool has_ghost = a.sides[3] == Side::ghost;
    const C *current = y_carry[1] + 2 * k * row;
    const C *other = has_ghost ? a.ghost[3] + z * row : current;
    const std::int64_t other_d = has_ghost ? block.planes() * row : row;
    const C sign = has_ghost ? C(1) : value_reflection<C>(a.sides[3]),
            sign_d = has_ghost ? C(1) : -sign;
    const C *const kappa = this->kappa(3, cy + 1, z / nz);
    for_each_in_chunk(pitch, x0, x1,
        [&](std::int64_t x, std::int64_t at, std::int64_t cell, auto width) TENSORMG_INLINE {
          constexpr int W = width;
          const V<W> vp = sign * simd::load<W>(other + x);
          V<W> dp = sign_d * simd::load<W>(other + other_d + x);
          if constexpr (Coefficient::per_cell)
            if (kappa)
              dp -= simd::load<W>(kappa + cell) * vp;
          store_pairs<W, C>(pairs + at, pair_stride,
              coupling.template of_line<W>(cell, own + x, row, simd::load<W>(previous + x),
                  simd::load<W>(previous + row + x), vp, dp));
        });
  }

  void strip(std::int64_t cy, std::int64_t local_cy, std::int64_t cz)
  {
    const std::int64_t start = cz * nz * plane + cy * n * row;
    // The first chunk needs the trace of the last cell where x is periodic.
    if (a.sides[0] == Side::wrap)
      for (int k = 0; k < nz; ++k)
        trace_x(start + k * plane, k, (covered - 1) / chunk * chunk, covered);
    for (int k = 0; k < nz; ++k)
      trace_x(start + k * plane, k, 0, std::min(chunk, covered));
    for (std::int64_t x0 = 0; x0 < covered; x0 += chunk)
    {
      const std::int64_t x1 = std::min(x0 + chunk, covered);
      for (int k = 0; k < nz; ++k)
      {
        couple_y(cy, cz * nz + k, k, x0, x1);
        if (x1 < covered)
          trace_x(start + k * plane, k, x1, std::min(x1 + chunk, covered));
        for (int j = 0; j < n; ++j)
          close_x(cy, cz, k, j, x0, x1);
      }
      for (int j = 0; j < n; ++j)
        finish(cy, local_cy, cz, j, x0, x1);
    }
    if (covered < pitch)
      clear_padding(a.dst + start);
    std::swap(y_carry[0], y_carry[1]);
  }

  /// What lies behind the chunks in the rows of a strip.
  void clear_padding(Number *strip) const
  {
    for (int k = 0; k < nz; ++k)
      for (int line = 0; line < n * n; ++line)
        std::fill(strip + k * plane + line * pitch + covered,
            strip + k * plane + (line + 1) * pitch, Number{});
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
  void close_x(
      std::int64_t cy, std::int64_t cz, int k, int j, std::int64_t x0, std::int64_t x1) const
  {
    C *vl = x_traces + (k * n + j) * 4 * x_line;
    C *vr = vl + x_line, *dl = vr + x_line, *dr = dl + x_line;
    const std::int64_t end = block.cells[0];
    const bool wrap = a.sides[0] == Side::wrap;
    if (x0 == 0)
    {
      vr[-1] = wrap ? vr[end - 1] : value_reflection<C>(a.sides[0]) * vl[0];
      dr[-1] = wrap ? dr[end - 1] : -value_reflection<C>(a.sides[0]) * dl[0];
    }
    if (x1 == covered)
    {
      vl[end] = wrap ? vl[0] : value_reflection<C>(a.sides[1]) * vr[end - 1];
      dl[end] = wrap ? dl[0] : -value_reflection<C>(a.sides[1]) * dr[end - 1];
    }
    if constexpr (Coefficient::per_cell)
    {
      if (const C *of_row = kappa(0, cy, cz); of_row && x0 == 0)
        dr[-1] += of_row[-1] * vr[-1];
      if (const C *of_row = kappa(1, cy, cz); of_row && x1 == covered)
        dl[end] -= of_row[end] * vl[end];
    }
  }

  /// From cell x0 on; `current` is there.
  Above above(std::int64_t r, std::int64_t cz, std::int64_t x0, const C *current) const
  {
    if (cz + 1 < block.cells[2])
      return {a.src + (cz + 1) * nz * plane + r * row + x0, nullptr, 0, C(0), C(0), nullptr};
    if (a.sides[5] == Side::ghost)
      return {nullptr, a.ghost[5] + r * row + x0, plane, C(1), C(1), nullptr};
    const C sign = value_reflection<C>(a.sides[5]);
    const C *of_side = kappa(5, r / n, cz + 1);
    return {nullptr, current, row, sign, -sign, of_side ? of_side + x0 : nullptr};
  }

  /// Row j of a strip, one chunk of cells, all modes in x and z.
  void finish(std::int64_t cy, std::int64_t local_cy, std::int64_t cz, int j, std::int64_t x0,
      std::int64_t x1) const
  {
    const std::int64_t r = cy * n + j, line = cz * nz * plane + r * row + x0;
    Row w;
    w.src = a.src + line;
    w.dst = a.dst + line;
    w.b = a.b ? a.b + line : nullptr;
    w.old = a.old ? a.old + line : nullptr;
    w.pitch = pitch;
    w.row = row;
    w.plane = plane;
    w.x_line = x_line;
    w.end = block.cells[0] - x0;
    w.prefetch = n * row;
    w.x_traces = x_traces + j * 4 * x_line + x0;
    w.x_pairs = x_pairs;
    w.y_pairs = y_pairs + (j % 2) * 2 * n * chunk;
    w.traces = trace_weights();
    w.vx = weights.vd[0];
    w.gx = weights.gd[0];
    w.vy = weights.vd[1][j];
    w.gy = weights.gd[1][j];
    if constexpr (dim == 3)
    {
      const std::int64_t local = 2 * (local_cy * n + j) * row;
      w.carry = z_carry[0] + local + x0;
      w.above = above(r, cz, x0, z_carry[1] + local + x0);
      w.vz = weights.vd[2];
      w.gz = weights.gd[2];
    }
    w.x_coupling = coefficient.template coupling<n>(trace_weights(), 0, cy, cz, x0);
    if constexpr (dim == 3)
      w.z_coupling = coefficient.template coupling<n>(trace_weights(), 2, cy, cz, x0);
    w.own = weights.own;
    w.theta = weights.theta;
    w.alpha = weights.alpha;
    w.diagonal = weights.diagonal.at(j, cy, cz, x0);
    simd::for_each_vector<C>(
        x1 - x0, [&](std::int64_t x, auto width) TENSORMG_INLINE { w.template pair_x<width>(x); });
    const bool streaming = this->streaming;
    for (int i = 0; i < n; ++i)
    {
      std::int64_t begin = 0;
      if constexpr (Row::gathers_lines)
        if (streaming)
          for (const std::int64_t whole = std::min(x1 - x0, w.end) - Row::line_cells;
               begin <= whole; begin += Row::line_cells)
            w.stream_line(i, begin);
      simd::for_each_vector<C>(x1 - x0 - begin, [&](std::int64_t at, auto width) TENSORMG_INLINE {
        const std::int64_t x = begin + at;
        if (w.end - x < width)
          w.template finish_cells<width, Row::To::padded_dst>(i, x);
        else if (!Row::gathers_lines && streaming && width == simd::native_width<C>)
          w.template finish_cells<width, Row::To::past_caches>(i, x);
        else
          w.template finish_cells<width, Row::To::dst>(i, x);
      });
    }
  }

  const Arguments<Number> a;
  const Coefficient coefficient;
  const Block block;
  const RowRange range;
  const std::int64_t row, plane, pitch;
  const std::int64_t covered; ///< cells in chunks: padded to whole registers
  const std::int64_t x_line;  ///< pitch and a margin on each side
  const CpuWeights<dim, n, form, Number, Coefficient> weights;
  bool streaming = false;
  std::int64_t tile = 1;
  C *z_carry[2] = {};    ///< [tile rows][V, D][row]: traces of the previous and the current layer
  C *y_carry[2] = {};    ///< [planes of a layer][V, D][row]
  C *y_pairs = nullptr;  ///< [k][pair][i][chunk]
  C *x_pairs = nullptr;  ///< [k][pair][chunk] of one row
  C *x_traces = nullptr; ///< [k][j][VL, VR, DL, DR][x_line]
};
} // namespace tensormg::laplace
