// Device kernel of LineRelaxation. A thread eliminates a row of cells, and the threads of a warp 32 rows: neighbours in x, where the row
// runs in y or z, so that accesses are neighbours. Rows in x are brought through shared memory, 32 cells at a time. What elimination
// leaves of the cells lies in global memory: LineRelaxation::work [group of rows][cell][number][thread]. What the next cell needs is
// read before the work on a cell.
#pragma once

#include <algorithm>

#include "kernels/device/launch.cuh"
#include "kernels/device/occupancy.h"
#include "kernels/device/pack.cuh"
#include "kernels/laplace/cellwise/inverse.cuh"
#include "kernels/laplace/cellwise/line_elimination.h"
#include "kernels/laplace/cellwise/relaxation_cuda.h"
#include "kernels/laplace/dispatch.h"

namespace tensormg::laplace::line
{
template <int n_, typename Number_, bool along_x_>
struct Shape
{
  using Number = Number_;
  using C = Compute<Number>;
  static constexpr int n = n_;
  static constexpr bool along_x = along_x_;
  static constexpr int lanes = 32;
  /// Warps of a block work for themselves.
  static constexpr int threads = along_x ? lanes : 2 * lanes;
  /// Cells that are brought at a time, for 32 rows with all modes: within what a block has without asking.
  static constexpr bool fits = lanes * n * (lanes + 1) * int{sizeof(C)} <= 48 * 1024;
  static constexpr int chunk = !along_x ? 1 : fits ? lanes : lanes / 2;
  static constexpr int staged_row = along_x ? chunk + 1 : 0; ///< odd: no two lanes meet in a bank
};

template <typename S>
struct Parameters
{
  using C = typename S::C;
  LineRelaxation<typename S::Number> a;
  struct Tables
  {
    C v[S::n], h[S::n], lambda[S::n], square[S::n];
  } tables;
  C half_penalty, weight;
  std::int64_t rows, groups; ///< rows of cells, in groups of a warp's
};

/// One row of cells and where its numbers are.
template <typename S>
struct Row
{
  using C = typename S::C;
  std::int64_t first, cell_stride, mode_stride; ///< of vectors
  std::int64_t at, step;                        ///< of numbers of cells
  const C *c, *jump, *c_lanes, *jump_lanes, *c_other, *jump_other, *reaction;
  C lambda_lanes, square_lanes, lambda_other, square_other;

  /// Row number `row`: along y or z those that are neighbours in x follow each other, along x as in memory.
  __device__ Row(const Parameters<S> &p, std::int64_t row)
  {
    const LineRelaxation<typename S::Number> &a = p.a;
    const Block &block = a.block;
    std::int64_t cell[3] = {0, 0, 0};
    int mode[3] = {0, 0, 0};
    const int d = S::along_x ? 0 : a.d, lanes = S::along_x ? 1 : 0, other = 3 - d - lanes;
    const int modes = other == 2 ? block.nz() : block.n;
    if constexpr (S::along_x)
    {
      const std::int64_t y = row % block.rows_per_plane(), z = row / block.rows_per_plane();
      cell[1] = y / block.n;
      mode[1] = int(y % block.n);
      cell[2] = z / block.nz();
      mode[2] = int(z % block.nz());
    }
    else
    {
      cell[0] = row % block.pitch;
      row /= block.pitch;
      mode[0] = int(row % block.n);
      row /= block.n;
      mode[other] = int(row % modes);
      cell[other] = row / modes;
    }
    first = block.index(cell[0], cell[1], cell[2], mode[0], mode[1], mode[2]);
    mode_stride = d == 0 ? block.pitch : d == 1 ? block.row() : block.plane();
    cell_stride = d == 0 ? 1 : S::n * mode_stride;
    at = cell[0] + cell[1] * a.cells.row + cell[2] * a.cells.plane;
    step = a.cells.stride(d);
    c = a.cells.c[d];
    jump = a.cells.jump[d];
    reaction = a.cells.reaction;
    const bool has_other = other < block.dim;
    c_lanes = a.cells.c[lanes];
    jump_lanes = a.cells.jump[lanes];
    c_other = has_other ? a.cells.c[other] : nullptr;
    jump_other = has_other ? a.cells.jump[other] : nullptr;
    lambda_lanes = p.tables.lambda[mode[lanes]];
    square_lanes = p.tables.square[mode[lanes]];
    lambda_other = p.tables.lambda[mode[other]];
    square_other = p.tables.square[mode[other]];
  }

  __device__ C coefficient(std::int64_t i) const { return c[at + i * step]; }
  __device__ C kappa(std::int64_t i) const { return jump[at + i * step]; }
  /// What the other directions and the reaction add to the diagonal.
  __device__ C shift(std::int64_t i) const
  {
    const std::int64_t place = at + i * step;
    C sum = reaction[place] + lambda_lanes * c_lanes[place] + square_lanes * jump_lanes[place];
    if (c_other != nullptr)
      sum += lambda_other * c_other[place] + square_other * jump_other[place];
    return sum;
  }
};

/// The numbers of a thread's row, brought through shared memory or as they are asked for.
template <typename S>
class Numbers
{
  using C = typename S::C;
  using Number = typename S::Number;

public:
  __device__ Numbers(const Parameters<S> &p, const Row<S> &row, std::int64_t group, C *staged)
    : p_(p)
    , row_(row)
    , group_(group)
    , staged_(staged)
  {}

  /// All lanes; `cell` is a multiple of S::chunk.
  __device__ void bring(std::int64_t cell)
  {
    if constexpr (S::along_x)
      for_chunk(cell, [&](std::int64_t from, int to) {
        C values[S::n];
        read(p_.a.r, from, p_.a.block.pitch, values);
#pragma unroll
        for (int m = 0; m < S::n; ++m)
          staged_[to + m * S::lanes * S::staged_row] = values[m];
      });
  }
  __device__ C operator()(std::int64_t cell, int mode) const
  {
    if constexpr (S::along_x)
      return staged_[place(int(threadIdx.x), mode, int(cell % S::chunk))];
    else
      return load_pack<1>(p_.a.r + row_.first + cell * row_.cell_stride + mode * row_.mode_stride)
          .at[0];
  }
  /// For a cell that is not asked for again.
  __device__ void results(std::int64_t cell, const C (&values)[S::n])
  {
    if constexpr (S::along_x)
#pragma unroll
      for (int m = 0; m < S::n; ++m)
        staged_[place(int(threadIdx.x), m, int(cell % S::chunk))] = values[m];
    else
      write(row_.first + cell * row_.cell_stride, row_.mode_stride, values);
  }
  /// All lanes, after the results of a chunk.
  __device__ void leave(std::int64_t cell)
  {
    if constexpr (S::along_x)
      for_chunk(cell, [&](std::int64_t to, int from) {
        C values[S::n];
#pragma unroll
        for (int m = 0; m < S::n; ++m)
          values[m] = staged_[from + m * S::lanes * S::staged_row];
        write(to, p_.a.block.pitch, values);
      });
  }

private:
  __device__ static int place(int row, int mode, int cell)
  {
    return (mode * S::lanes + row) * S::staged_row + cell;
  }
  /// use(place of the first mode in the vector, in shared memory): lanes are neighbouring cells of one row after the other.
  template <typename Use>
  __device__ void for_chunk(std::int64_t cell, const Use &use)
  {
    __syncwarp();
    constexpr int rows = S::lanes / S::chunk;
    const int in_chunk = int(threadIdx.x) % S::chunk;
    const std::int64_t at = cell + in_chunk;
#pragma unroll 4
    for (int row = int(threadIdx.x) / S::chunk; row < S::lanes; row += rows)
      if (const std::int64_t which = group_ * S::lanes + row;
          which < p_.rows && at < p_.a.block.cells[0])
        use(which * p_.a.block.row() + at, place(row, 0, in_chunk));
    __syncwarp();
  }
  __device__ static void read(
      const Number *from, std::int64_t at, std::int64_t stride, C (&values)[S::n])
  {
#pragma unroll
    for (int m = 0; m < S::n; ++m)
      values[m] = load_pack<1>(from + at + m * stride).at[0];
  }
  /// Reads before it writes: otherwise accesses would wait for each other.
  __device__ void write(std::int64_t at, std::int64_t stride, const C (&values)[S::n])
  {
    C before[S::n] = {};
    if (p_.a.adds)
      read(p_.a.z, at, stride, before);
#pragma unroll
    for (int m = 0; m < S::n; ++m)
      store_pack(p_.a.z + at + m * stride, Pack<C, 1>(fma(p_.weight, values[m], before[m])));
  }

  const Parameters<S> &p_;
  const Row<S> &row_;
  std::int64_t group_;
  C *staged_;
};

/// What elimination leaves of the cells of a thread's row: their right traces.
template <typename C>
class Work
{
public:
  __device__ Work(C *of_thread, std::int64_t threads)
    : work_(of_thread)
    , threads_(threads)
  {}
  __device__ void write(std::int64_t cell, const Affine<C> &t) const
  {
    C *to = work_ + cell * numbers_of_condensed * threads_;
    const C *from = &t.v;
#pragma unroll
    for (int i = 0; i < numbers_of_condensed; ++i)
      to[i * threads_] = from[i];
  }
  __device__ Affine<C> read(std::int64_t cell) const
  {
    static_assert(sizeof(Affine<C>) == numbers_of_condensed * sizeof(C));
    const C *from = work_ + cell * numbers_of_condensed * threads_;
    Affine<C> t;
    C *to = &t.v;
#pragma unroll
    for (int i = 0; i < numbers_of_condensed; ++i)
      to[i] = from[i * threads_];
    return t;
  }

private:
  C *work_;
  std::int64_t threads_;
};

/// What is read for a cell: the numbers of its row, unless they are in shared memory, c of the cell to which the way leads, and what is added
/// to the diagonal.
template <typename S>
struct Input
{
  using C = typename S::C;
  C r[S::n];
  C next, shift;
};

template <typename S>
class RowSolver
{
  using C = typename S::C;
  static constexpr int n = S::n;

public:
  __device__ RowSolver(
      const Parameters<S> &p, const Row<S> &row, Numbers<S> &numbers, const Work<C> &work)
    : p_(p)
    , row_(row)
    , numbers_(numbers)
    , work_(work)
    , d_(S::along_x ? 0 : p.a.d)
    , length_(p.a.block.cells[d_])
    , begin_(reflection(p.a.sides[2 * d_], row.kappa(-1)))
  {}

  __device__ void run()
  {
    const Affine<C> last = eliminate();
    go_back(last_face(p_.a.sides[2 * d_ + 1], row_.kappa(length_), last));
  }

private:
  /// Of cell i, on the way to cell i + step.
  __device__ Input<S> read(std::int64_t i, int step) const
  {
    Input<S> input;
    if constexpr (!S::along_x)
#pragma unroll
      for (int m = 0; m < n; ++m)
        input.r[m] = numbers_(i, m);
    input.next = row_.coefficient(i + step);
    input.shift = row_.shift(i);
    return input;
  }
  __device__ void take_shared(std::int64_t i, Input<S> &input) const
  {
    if constexpr (S::along_x)
#pragma unroll
      for (int m = 0; m < n; ++m)
        input.r[m] = numbers_(i, m);
  }
  __device__ LineSums<C> sums(C own, const Input<S> &input, C (&g)[n]) const
  {
    return sums_of<n>(
        p_.tables, own, input.shift, g, [&](int m) { return input.r[m]; }, Reciprocal());
  }

  struct Reciprocal
  {
    __device__ C operator()(C x) const { return cellwise::inverse(x); }
  };

  /// Returns the right traces of the last cell.
  __device__ Affine<C> eliminate() const
  {
    Affine<C> t = begin_;
    C lower = row_.coefficient(-1), own = row_.coefficient(0), g[n];
    Input<S> ahead = read(0, 1);
    for (std::int64_t i = 0; i < length_; ++i)
    {
      if (i % S::chunk == 0)
        numbers_.bring(i);
      Input<S> input = ahead;
      if (i + 1 < length_)
        ahead = read(i + 1, 1);
      take_shared(i, input);
      const LineCell<C> e(own, lower, input.next, p_.half_penalty);
      t = condense(e, sums(own, input, g), t, Reciprocal());
      work_.write(i, t);
      lower = own;
      own = input.next;
    }
    return t;
  }

  __device__ void go_back(Face<C> face) const
  {
    C upper = row_.coefficient(length_), own = row_.coefficient(length_ - 1), g[n];
    Input<S> ahead = read(length_ - 1, -1);
    Affine<C> right_ahead = length_ > 1 ? work_.read(length_ - 2) : begin_;
    for (std::int64_t i = length_ - 1; i >= 0; --i)
    {
      if (i % S::chunk == S::chunk - 1) // the last cells are still there
        numbers_.bring(i / S::chunk * S::chunk);
      Input<S> input = ahead;
      const Affine<C> before = right_ahead;
      if (i > 0)
        ahead = read(i - 1, -1);
      right_ahead = i > 1 ? work_.read(i - 2) : begin_;
      take_shared(i, input);
      const LineCell<C> e(own, input.next, upper, p_.half_penalty);
      const Coupling<C> by = resolve(e, sums(own, input, g), before, face, Reciprocal());
      C values[n];
#pragma unroll
      for (int m = 0; m < n; ++m)
        values[m] =
            g[m] * (input.r[m] - p_.tables.v[m] * by.p[m % 2] - p_.tables.h[m] * by.q[m % 2]);
      numbers_.results(i, values);
      if (i % S::chunk == 0)
        numbers_.leave(i);
      upper = own;
      own = input.next;
    }
  }

  const Parameters<S> &p_;
  const Row<S> &row_;
  Numbers<S> &numbers_;
  const Work<C> &work_;
  int d_;
  std::int64_t length_;
  Affine<C> begin_;
};

template <typename S>
__global__ void __launch_bounds__(S::threads) line_kernel(const __grid_constant__ Parameters<S> p)
{
  using C = typename S::C;
  __shared__ C staged[S::along_x ? S::lanes * S::n * S::staged_row : 1];
  const std::int64_t d = S::along_x ? 0 : p.a.d, length = p.a.block.cells[d];
  constexpr int warps = S::threads / S::lanes;
  const std::int64_t warp = std::int64_t(blockIdx.x) * warps + threadIdx.x / S::lanes;
  const int lane = int(threadIdx.x) % S::lanes;
  const Work<C> work(p.a.work + warp * length * numbers_of_condensed * S::lanes + lane, S::lanes);
  for (std::int64_t group = warp; group < p.groups; group += std::int64_t(gridDim.x) * warps)
  {
    const std::int64_t number = group * S::lanes + lane;
    const bool exists = number < p.rows; // all lanes of a warp take part in what it brings
    const Row<S> row(p, exists ? number : p.rows - 1);
    if (S::along_x || exists)
    {
      Numbers<S> numbers(p, row, group, staged);
      RowSolver<S>(p, row, numbers, work).run();
    }
  }
}

template <typename S>
void launch_lines(const LineRelaxation<typename S::Number> &a, Stream stream)
{
  using C = typename S::C;
  Parameters<S> p{};
  p.a = a;
  for (int i = 0; i < S::n; ++i)
  {
    p.tables.v[i] = static_cast<C>(a.basis->v[i]);
    p.tables.h[i] = static_cast<C>(a.basis->h[i]);
    p.tables.lambda[i] = static_cast<C>(a.basis->lambda[i]);
    p.tables.square[i] = static_cast<C>(a.basis->v[i] * a.basis->v[i]);
  }
  p.half_penalty = static_cast<C>(a.basis->penalty / 2);
  p.weight = static_cast<C>(a.weight);
  p.rows = a.block.size() / (S::n * (a.d == 0 ? a.block.pitch : a.block.cells[a.d]));
  p.groups = (p.rows + S::lanes - 1) / S::lanes;
  constexpr int warps = S::threads / S::lanes;
  const auto kernel = &line_kernel<S>;
  const std::int64_t with_work = std::max<std::int64_t>(
      line_work_size(a.block, a.d) / (a.block.cells[a.d] * numbers_of_condensed * S::threads), 1);
  // All at once, since each block has as much to do.
  const std::int64_t blocks = std::min({(p.groups + warps - 1) / warps, with_work,
      std::int64_t{resident_blocks(reinterpret_cast<const void *>(kernel), S::threads, 0)}});
  launch("launching the inverses of lines", kernel, unsigned(blocks), S::threads, 0, stream, p);
}
} // namespace tensormg::laplace::line

namespace tensormg::laplace
{
template <typename Number>
void line_inverse_cuda(const LineRelaxation<Number> &a, Stream stream)
{
  by_degree<1, max_degree>(a.block.degree(), [&](auto degree) {
    if (a.d == 0)
      line::launch_lines<line::Shape<degree.value + 1, Number, true>>(a, stream);
    else
      line::launch_lines<line::Shape<degree.value + 1, Number, false>>(a, stream);
  });
}
} // namespace tensormg::laplace
