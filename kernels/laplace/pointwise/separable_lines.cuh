// Device kernels of solve_separable_lines_cuda() and sum_lines_cuda(). A lane eliminates a line for one pair of modes across, a warp 32 lines,
// neighbours where there are some; the warps of a block take pairs of modes of the same lines one after the other.
//   there   chunks of cells --> shared memory, what belongs to a line in its order; elimination; what it knows before each chunk --> work
//   back    the chunks again, elimination inside of the chunk from what was left before it, then from its end to its beginning --> memory
// Lanes read neighbours in x: lines, or, where these run in x, the cells of a chunk. Everything is eliminated in double.
#pragma once

#include "kernels/device/launch.cuh"
#include "kernels/device/pack.cuh"
#include "kernels/laplace/cellwise/inverse.cuh"
#include "kernels/laplace/cellwise/line_elimination.h"
#include "kernels/laplace/dispatch.h"
#include "kernels/laplace/pointwise/relaxation_cuda.h"

namespace tensormg::laplace::separable_lines
{
using line::Affine;
using line::Coupling;
using line::Face;
using line::LineCell;
using line::LineSums;

template <int n_, typename Number_>
struct Shape
{
  using Number = Number_;
  using C = Compute<Number>;
  static constexpr int n = n_, lanes = line_lanes, chunk = line_chunk;
  static constexpr int warps = 2, threads = warps * lanes;
  /// Of a cell: r, later the result, then these.
  static constexpr int coefficient = n, tau_lower = n + 1, tau_upper = n + 2, shift = n + 3,
                       values = n + 4;
  /// Of a warp.
  struct Memory
  {
    double before[chunk][numbers_of_elimination][lanes];
    C staged[values][lanes][chunk + 1]; ///< an odd number: no two lanes meet in a bank
  };
};

template <typename S>
struct Parameters
{
  SeparableLines<typename S::Number> a;
  struct Tables
  {
    double v[S::n], h[S::n], lambda[S::n], square[S::n];
  } tables;
  double penalty;
  int modes; ///< pairs of modes across a line
  std::int64_t items;
};

/// [number][lane]
__device__ inline void keep(double *to, const Affine<double> &t)
{
  const double numbers[numbers_of_elimination] = {t.v, t.vv, t.vd, t.d, t.dv, t.dd};
#pragma unroll
  for (int i = 0; i < numbers_of_elimination; ++i)
    to[i * line_lanes] = numbers[i];
}
__device__ inline Affine<double> kept(const double *from)
{
  return {from[0], from[line_lanes], from[2 * line_lanes], from[3 * line_lanes],
      from[4 * line_lanes], from[5 * line_lanes]};
}

/// Brings the cells of lines to shared memory and back.
template <typename S>
class Stage
{
  using C = typename S::C;
  using Number = typename S::Number;
  static constexpr int n = S::n;

public:
  __device__ Stage(
      const Parameters<S> &p, const LineGroup &group, int mode, typename S::Memory &memory)
    : p_(p)
    , places_(p.a.lines.places + group.first * S::lanes)
    , length_(int(group.length))
    , j_(mode % n)
    , k_(mode / n)
    , lane_(int(threadIdx.x) % S::lanes)
    , memory_(memory)
  {}

  __device__ void bring(int first)
  {
    // All is read before anything is used, without asking whether it is of a line: accesses do not wait for each other.
    C values[S::chunk][S::values];
    const bool along_x = run_along_x(first);
#pragma unroll
    for (int step = 0; step < S::chunk; ++step)
      read(at(first, along_x, step), values[step]);
    __syncwarp();
#pragma unroll
    for (int step = 0; step < S::chunk; ++step)
#pragma unroll
      for (int i = 0; i < S::values; ++i)
        staged(along_x, step, i) = values[step][i];
    __syncwarp();
  }
  __device__ void leave(int first)
  {
    const bool along_x = run_along_x(first);
    __syncwarp();
#pragma unroll
    for (int step = 0; step < S::chunk; ++step)
      if (const PackedPlace place = at(first, along_x, step);
          place.is_of_line() && first + cell(along_x, step) < length_)
      {
        Number *to = p_.a.results + place.axis(0) * p_.a.block.size();
#pragma unroll
        for (int i = 0; i < n; ++i)
          store_pack(to + entry(place, i), Pack<C, 1>(sign(place, i) * staged(along_x, step, i)));
      }
  }

private:
  __device__ bool run_along_x(int first) const
  {
    return __any_sync(~0u, places_[first * S::lanes + lane_].axis(0) == 0) != 0;
  }
  __device__ int line(bool along_x, int step) const
  {
    return along_x ? (step * S::lanes + lane_) / S::chunk : lane_;
  }
  __device__ int cell(bool along_x, int step) const { return along_x ? lane_ % S::chunk : step; }
  __device__ C &staged(bool along_x, int step, int i)
  {
    return memory_.staged[i][line(along_x, step)][cell(along_x, step)];
  }
  /// Beyond the end of the group that of its last cell.
  __device__ PackedPlace at(int first, bool along_x, int step) const
  {
    const int beyond = first + cell(along_x, step), c = beyond < length_ ? beyond : length_ - 1;
    const uint4 word =
        __ldg(reinterpret_cast<const uint4 *>(places_ + c * S::lanes + line(along_x, step)));
    PackedPlace place;
    place.x = word.x;
    place.vector_row = word.y;
    place.cell_row = word.z;
    place.turn = word.w;
    return place;
  }

  __device__ std::int64_t stride(int axis) const
  {
    const Block &block = p_.a.block;
    return axis == 0 ? block.pitch : axis == 1 ? block.row() : block.plane();
  }
  __device__ std::int64_t entry(const PackedPlace &place, int i) const
  {
    return place.vector_row * p_.a.block.pitch + place.x + i * stride(place.axis(0)) +
        j_ * stride(place.axis(1)) + k_ * stride(place.axis(2));
  }
  /// Of mode i: odd ones change it where an axis is reversed.
  __device__ C sign(const PackedPlace &place, int i) const
  {
    const bool is_negative =
        (j_ % 2 == 1 && place.is_reversed(1)) != (k_ % 2 == 1 && place.is_reversed(2));
    return is_negative != (i % 2 == 1 && place.is_reversed(0)) ? C(-1) : C(1);
  }
  __device__ void read(const PackedPlace &place, C (&values)[S::values]) const
  {
    const Block &block = p_.a.block;
#pragma unroll
    for (int i = 0; i < n; ++i)
      values[i] = sign(place, i) * load_pack<1>(p_.a.r + entry(place, i)).at[0];
    const C *numbers = p_.a.numbers +
        relaxation_index(block, line_inverse_numbers(n), place.cell_row, 0, 0, place.x);
    const auto number = [&](int axis, int which) {
      return __ldg(numbers + (place.axis(axis) * line_inverse_numbers(n) + which) * block.pitch);
    };
    const bool is_reversed = place.is_reversed(0);
    values[S::coefficient] = number(0, 0);
    values[S::tau_lower] = number(0, is_reversed ? 2 : 1);
    values[S::tau_upper] = number(0, is_reversed ? 1 : 2);
    values[S::shift] = number(1, 3 + j_);
    if (block.dim == 3)
      values[S::shift] += number(2, 3 + k_);
  }

  const Parameters<S> &p_;
  const PackedPlace *places_;
  int length_, j_, k_, lane_;
  typename S::Memory &memory_;
};

/// The line of a lane, with c times derivatives in the place of derivatives: then no cell asks for c of its neighbours.
template <typename S>
class LineSolver
{
  using C = typename S::C;
  static constexpr int n = S::n;

public:
  __device__ LineSolver(const Parameters<S> &p, const PackedLine &line, typename S::Memory &memory)
    : p_(p)
    , line_(line)
    , memory_(memory)
    , lane_(int(threadIdx.x) % S::lanes)
  {}

  __device__ Affine<double> begin() const { return line::reflection(reflected(0)); }
  __device__ Face<double> end(const Affine<double> &t) const
  {
    return line::last_face(reflected(1), t);
  }

  /// Right traces of the last cell of the chunk; what is before each cell stays in shared memory.
  __device__ Affine<double> eliminate(int first, Affine<double> t)
  {
    for (int c = first; c < first + S::chunk && c < line_.length; ++c)
    {
      double g[n];
      const LineCell<double> e = cell(c, c - first);
      t.vd *= e.c;
      t.dd *= e.c;
      keep(&memory_.before[c - first][0][lane_], t);
      t = line::condense(e, sums(e.c, c - first, g), t, Reciprocal());
      t.d *= e.c;
      t.dv *= e.c;
      t.dd *= e.c;
    }
    return t;
  }
  /// After eliminate().
  __device__ void go_back(int first, Face<double> &face)
  {
    const int count = line_.length - first < S::chunk ? line_.length - first : S::chunk;
    for (int c = count - 1; c >= 0; --c)
    {
      double g[n];
      const LineCell<double> e = cell(first + c, c);
      const LineSums<double> s = sums(e.c, c, g);
      const Coupling<double> by =
          line::resolve(e, s, kept(&memory_.before[c][0][lane_]), face, Reciprocal());
      face.next.d *= e.c;
#pragma unroll
      for (int i = 0; i < n; ++i)
      {
        C &value = staged(i, c);
        value = static_cast<C>(p_.a.weight * g[i] *
            (value - p_.tables.v[i] * by.p[i % 2] - p_.tables.h[i] * by.q[i % 2]));
      }
    }
  }

private:
  struct Reciprocal
  {
    __device__ double operator()(double x) const { return cellwise::inverse(x); }
  };
  __device__ double reflected(int end) const
  {
    return is_closed(line_.ends[end]) ? value_reflection<double>(line_.ends[end]) : 0.;
  }
  __device__ C &staged(int i, int c) { return memory_.staged[i][lane_][c]; }
  __device__ LineSums<double> sums(double own, int c, double (&g)[n])
  {
    return line::sums_of<n>(
        p_.tables, own, double(staged(S::shift, c)), g, [&](int i) { return double(staged(i, c)); },
        Reciprocal());
  }
  /// Cell number `c` of the line, which is in that place of the chunk.
  __device__ LineCell<double> cell(int c, int place)
  {
    LineCell<double> e(double(staged(S::coefficient, place)), 1., 1., p_.penalty,
        double(staged(S::tau_lower, place)), double(staged(S::tau_upper, place)));
    // What tau adds stays, and nothing is behind it.
    if (c == 0 && line_.ends[0] == Side::neumann)
      e.tau_l = 0.;
    if (c + 1 == line_.length && line_.ends[1] == Side::neumann)
      e.tau_r = 0.;
    return e;
  }

  const Parameters<S> &p_;
  const PackedLine line_;
  typename S::Memory &memory_;
  int lane_;
};

template <typename S>
__global__ void __launch_bounds__(S::threads) kernel(const __grid_constant__ Parameters<S> p)
{
  __shared__ typename S::Memory memory[S::warps];
  const int warp = int(threadIdx.x) / S::lanes, lane = int(threadIdx.x) % S::lanes;
  const std::int64_t item = std::int64_t(blockIdx.x) * S::warps + warp;
  if (item >= p.items)
    return;
  const auto which = unsigned(item) / unsigned(p.modes);
  const int mode = int(unsigned(item) % unsigned(p.modes));
  const LineGroup group = p.a.lines.groups[which];
  const int length = int(group.length), chunks = (length + S::chunk - 1) / S::chunk;
  constexpr int kept_numbers = numbers_of_elimination * S::lanes;
  double *work =
      p.a.work + (group.chunks * p.modes + mode * std::int64_t(chunks)) * kept_numbers + lane;
  Stage<S> stage(p, group, mode, memory[warp]);
  LineSolver<S> solver(p, p.a.lines.lines[which * S::lanes + lane], memory[warp]);
  Affine<double> t = solver.begin();
  for (int chunk = 0; chunk < chunks; ++chunk)
  {
    keep(work + chunk * kept_numbers, t);
    stage.bring(chunk * S::chunk);
    t = solver.eliminate(chunk * S::chunk, t);
  }
  Face<double> face = solver.end(t);
  for (int chunk = chunks - 1; chunk >= 0; --chunk)
  {
    if (chunk + 1 < chunks) // the last one is still there
    {
      stage.bring(chunk * S::chunk);
      solver.eliminate(chunk * S::chunk, kept(work + chunk * kept_numbers));
    }
    solver.go_back(chunk * S::chunk, face);
    stage.leave(chunk * S::chunk);
  }
}

template <typename S>
void launch_lines(const SeparableLines<typename S::Number> &a, Stream stream)
{
  Parameters<S> p{};
  p.a = a;
  for (int i = 0; i < S::n; ++i)
  {
    p.tables.v[i] = a.basis->v[i];
    p.tables.h[i] = a.basis->h[i];
    p.tables.lambda[i] = a.basis->lambda[i];
    p.tables.square[i] = a.basis->v[i] * a.basis->v[i];
  }
  p.penalty = a.basis->penalty;
  p.modes = S::n * a.block.nz();
  p.items = a.lines.n_groups * p.modes;
  launch("launching the inverses of lines through curved cells", &kernel<S>,
      unsigned((p.items + S::warps - 1) / S::warps), S::threads, 0, stream, p);
}

inline constexpr int sum_threads = 256;

/// A thread for 16 bytes of neighbouring cells, which are in one row.
template <typename Number>
__global__ void __launch_bounds__(sum_threads)
    sum_kernel(const __grid_constant__ Block block, const Number *lines, Number *z)
{
  constexpr int width = 16 / int{sizeof(Number)};
  using V = Pack<Compute<Number>, width>;
  const unsigned pack = blockIdx.x * sum_threads + threadIdx.x; // 32 bits divide sooner
  const std::int64_t at = std::int64_t(pack) * width;
  if (at >= block.size())
    return;
  V sum = load_pack<width>(lines + at);
  for (int d = 1; d < block.dim; ++d)
    sum = sum + load_pack<width>(lines + d * block.size() + at);
  const int x = int(pack % unsigned(block.pitch / width)) * width;
#pragma unroll
  for (int w = 0; w < width; ++w)
    if (x + w >= block.cells[0])
      sum.at[w] = 0;
  store_pack(z + at, sum);
}
} // namespace tensormg::laplace::separable_lines

namespace tensormg::laplace
{
template <typename Number>
void solve_separable_lines_cuda(const SeparableLines<Number> &a, Stream stream)
{
  by_degree<1, max_degree>(a.block.degree(), [&](auto degree) {
    separable_lines::launch_lines<separable_lines::Shape<degree.value + 1, Number>>(a, stream);
  });
}

template <typename Number>
void sum_lines_cuda(const Block &block, const Number *lines, Number *z, Stream stream)
{
  using separable_lines::sum_threads;
  const std::int64_t packs = block.size() * std::int64_t{sizeof(Number)} / 16;
  launch("launching the sum of lines", &separable_lines::sum_kernel<Number>,
      unsigned((packs + sum_threads - 1) / sum_threads), sum_threads, 0, stream, block, lines, z);
}
} // namespace tensormg::laplace
