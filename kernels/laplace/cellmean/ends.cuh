// A thread of a brick of cells, and the traces at sides of cells from their modes: what the device kernels of cellmean.h share.
#pragma once

#include "kernels/device/pack.cuh"
#include "kernels/device/shared_memory.cuh"
#include "kernels/laplace/cellmean/brick.h"
#include "kernels/laplace/cellmean/cellmean.h"

namespace tensormg::laplace
{
template <typename Brick>
struct CellMeanParameters
{
  using C = typename Brick::C;
  static constexpr int n = Brick::n;

  C derivative[n * n];  ///< C of cellmean.h
  C value[n], slope[n]; ///< of modes at the upper end
  C lifted_slope[n];    ///< slope - C' of the values of the modes of the other parity
  CellMeanArguments<typename Brick::Number> a;
  int bricks
      [3]; ///< of a block of the mesh; in x of all of them, where these are not made of whole bricks
};

namespace cellmean
{
  template <typename C>
  struct Trace
  {
    C v, f;
  };
  /// Sums over the even and over the odd modes of a line: at the upper end they are added, at the lower one subtracted.
  template <typename C>
  struct Parts
  {
    C even{}, odd{};

    __device__ __forceinline__ void add(int i, C factor, C u)
    {
      C &sum = i % 2 == 0 ? even : odd;
      sum = fma(factor, u, sum);
    }
    __device__ __forceinline__ C value(int end) const { return end == 1 ? odd + even : even - odd; }
    __device__ __forceinline__ C slope(int end) const { return end == 1 ? odd + even : odd - even; }
  };
  using Cell = std::array<std::int64_t, 3>; ///< in the block of all cells

  /// The lower and the upper direction along sides normal to d.
  __device__ __forceinline__ constexpr int tangent(int d, int which)
  {
    return which == 0 ? (d == 0 ? 1 : 0) : (d == 2 ? 1 : 2);
  }
  __device__ __forceinline__ Cell moved(const Cell &cell, int d, int by)
  {
    return {cell[0] + (d == 0 ? by : 0), cell[1] + (d == 1 ? by : 0), cell[2] + (d == 2 ? by : 0)};
  }

  template <typename Brick>
  class Ends
  {
  protected:
    using Number = typename Brick::Number;
    using C = typename Brick::C;
    using Parameters = CellMeanParameters<Brick>;
    static constexpr int dim = Brick::dim, n = Brick::n, lines = Brick::lines, sides = Brick::sides,
                         X = Brick::cells_x;

    const Parameters &p;
    const Block &block;
    const int lane;     ///< of the cell in its row
    const int line;     ///< of the cell; the mode of a side, too
    const int la, lb;   ///< its places in the two other directions
    const int row_here; ///< of cells in the brick

  public:
    __device__ __forceinline__ explicit Ends(const Parameters &parameters)
      : p(parameters)
      , block(parameters.a.block)
      , lane(int(threadIdx.x) % X)
      , line(int(threadIdx.x) / X % lines)
      , la(line % n)
      , lb(line / n)
      , row_here(int(threadIdx.x) / X / lines)
    {}

  protected:
    __device__ __forceinline__ C *shared() const
    {
      return reinterpret_cast<C *>(dynamic_shared()) + lane;
    }
    __device__ __forceinline__ C number(const Cell &of, int which) const
    {
      return p.a.numbers[cell_mean_index(block, of[2] * block.cells[1] + of[1], which, of[0])];
    }
    __device__ __forceinline__ C metric(const Cell &of, int a, int b) const
    {
      return number(of, volume_place(dim, a < b ? a : b, a < b ? b : a));
    }
    /// F, from d_a u and the derivatives along the side.
    __device__ __forceinline__ C flux(
        const Cell &of, int d, int end, C slope, const C (&along)[dim - 1]) const
    {
      C sum = metric(of, d, d) * slope;
#pragma unroll
      for (int t = 0; t < dim - 1; ++t)
        sum = fma(metric(of, d, tangent(d, t)), along[t], sum);
      return end == 1 ? sum : -sum;
    }
    /// Mode 0 of the line in direction d of the thread, and from mode to mode.
    __device__ __forceinline__ std::int64_t first_mode(const Cell &of, int d) const
    {
      int mode[3] = {0, 0, 0};
      mode[tangent(d, 0)] = la;
      if (dim == 3)
        mode[tangent(d, 1)] = lb;
      return block.index(of[0], of[1], of[2], mode[0], mode[1], mode[2]);
    }
    __device__ __forceinline__ std::int64_t step(int d) const
    {
      return d == 0 ? block.pitch : d == 1 ? block.row() : block.plane();
    }

    /// The numbers of C in the rows of the mode of the thread, which couples even and odd modes alone.
    struct Rows
    {
      static constexpr int size = (n + 1) / 2;
      C a[size], b[size];
    };
    __device__ __forceinline__ static int coupled(int mode, int which)
    {
      return 2 * which + 1 - mode % 2;
    }
    __device__ __forceinline__ Rows rows_of_derivative() const
    {
      const auto entry = [&](int mode, int which) {
        const int i = coupled(mode, which);
        return i < n ? p.derivative[mode * n + i] : C(0);
      };
      Rows result;
#pragma unroll
      for (int m = 0; m < Rows::size; ++m)
      {
        result.a[m] = entry(la, m);
        result.b[m] = entry(lb, m);
      }
      return result;
    }

    /// V of end number `number` of `ends`: [row of cells][number][mode][cell]
    template <int ends>
    __device__ __forceinline__ C *of_end(int number) const
    {
      return shared() + (row_here * ends + number) * lines * X;
    }
    /// V, which goes to shared memory, too, and d_a u at an end in direction d of a cell; zero if there is no cell.
    template <int ends>
    __device__ __forceinline__ Trace<C> read_end(
        int number, bool has, const Cell &of, int d, int end) const
    {
      Parts<C> value, slope;
      if (has)
      {
        const Number *const from = p.a.src + first_mode(of, d);
        const std::int64_t next = step(d);
#pragma unroll
        for (int i = 0; i < n; ++i)
        {
          const C u = load_pack<1>(from + i * next).at[0];
          value.add(i, p.value[i], u);
          slope.add(i, p.slope[i], u);
        }
      }
      const C v = value.value(end);
      of_end<ends>(number)[line * X] = v;
      return {v, slope.slope(end)};
    }
    /// The trace, from V and d_a u. All threads of the cell have called read_end() and met.
    template <int ends>
    __device__ __forceinline__ Trace<C> trace_of_end(int number, bool has, const Cell &of, int d,
        int end, const Rows &rows, const Trace<C> &found) const
    {
      C along[dim - 1] = {};
      const C *const v = of_end<ends>(number);
#pragma unroll
      for (int m = 0; m < Rows::size; ++m)
      {
        if (const int i = coupled(la, m); i < n)
          along[0] = fma(rows.a[m], v[(i + n * lb) * X], along[0]);
        if constexpr (dim == 3)
          if (const int i = coupled(lb, m); i < n)
            along[1] = fma(rows.b[m], v[(la + n * i) * X], along[1]);
      }
      return {found.v, has ? flux(of, d, end, found.f, along) : C(0)};
    }
  };
} // namespace cellmean
} // namespace tensormg::laplace
