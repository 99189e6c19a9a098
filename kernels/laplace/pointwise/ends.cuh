// Numbers of a cell, and the traces at its sides from its modes: what the device kernels of pointwise.h share.
#pragma once

#include <type_traits>

#include "kernels/device/pack.cuh"
#include "kernels/device/shared_memory.cuh"
#include "kernels/laplace/pointwise/brick.h"
#include "kernels/laplace/pointwise/cuda.h"

namespace tensormg::laplace
{
template <typename Brick>
struct PointwiseParameters
{
  using Number = typename Brick::Number;
  using C = typename Brick::C;
  static constexpr int n = Brick::n;

  /// Of modes: at the points, and at the upper end, the derivatives there outward.
  C value[n * n], mode_derivative[n * n], mode_end[n], mode_slope[n];
  C derivative[n * n], end[n], slope[n]; ///< of the polynomials through the points, likewise
  Block block;
  int per_direction;
  int bricks
      [3]; ///< of a block of the mesh; in x of all of them, where these are not made of whole bricks
  const BlockLink *links;
  PointNumbers<typename Brick::Stored> numbers;
  const Number *src, *b, *old;
  Number *dst;
  const C *inverse_diagonal;
  C theta, alpha;
  C *borders;
};

namespace pointwise
{
  template <typename C>
  struct Trace
  {
    C v, f;
  };
  struct Cell
  {
    std::int64_t x, y, z; ///< in the block of all cells

    __device__ __forceinline__ std::int64_t in(int d) const { return d == 0 ? x : d == 1 ? y : z; }
    __device__ __forceinline__ Cell moved(int d, int by) const
    {
      return {x + (d == 0 ? by : 0), y + (d == 1 ? by : 0), z + (d == 2 ? by : 0)};
    }
  };
  /// The lower and the upper direction along sides normal to d.
  __device__ __forceinline__ constexpr int tangent(int d, int which)
  {
    return which == 0 ? (d == 0 ? 1 : 0) : (d == 2 ? 1 : 2);
  }

  template <typename Brick>
  class Ends
  {
  protected:
    using Number = typename Brick::Number;
    using Stored = typename Brick::Stored;
    using C = typename Brick::C;
    using Parameters = PointwiseParameters<Brick>;
    static constexpr int dim = Brick::dim, n = Brick::n, lines = Brick::lines, sides = Brick::sides,
                         X = Brick::cells_x;
    static constexpr bool has_powers = std::is_same_v<Stored, Half>;

    const Parameters &p;
    const int lane;     ///< of the cell in its row
    const int line;     ///< of the cell; the point of a side, too
    const int la, lb;   ///< its places in the two other directions
    const int row_here; ///< of cells in the brick

  public:
    __device__ __forceinline__ explicit Ends(const Parameters &parameters)
      : p(parameters)
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

    __device__ __forceinline__ std::int64_t row(const Cell &of) const
    {
      return of.z * p.block.cells[1] + of.y;
    }
    __device__ __forceinline__ static C number(const Stored *from)
    {
      return static_cast<C>(load_pack<1>(from).at[0]);
    }
    __device__ __forceinline__ C power(const Cell &of, int which) const
    {
      if constexpr (has_powers)
        return p.numbers.powers[power_index(p.block, row(of), which, of.x)];
      else
        return C(1);
    }
    __device__ __forceinline__ C face_number(const Cell &of, int side, int which) const
    {
      return number(p.numbers.face + face_index(p.block, row(of), side, line, which, of.x));
    }
    /// F, from the outward derivative and those along the side.
    __device__ __forceinline__ C flux(
        const Cell &of, int side, C slope, const C (&along)[dim - 1]) const
    {
      C sum(0);
#pragma unroll
      for (int t = 0; t < dim - 1; ++t)
        sum = fma(face_number(of, side, 1 + t), along[t], sum);
      return power(of, power_of_metric) *
          fma(face_number(of, side, 0), slope, side % 2 == 1 ? sum : -sum);
    }

    /// [row of cells][end][V, slope in modes; V, its derivative, slope at the points of the first direction][line][cell]
    template <int ends>
    __device__ __forceinline__ C *of_end(int number, int which) const
    {
      return shared() + ((row_here * ends + number) * Brick::end_arrays + which) * lines * X;
    }
    /// V and the outward derivative, in modes along a side of a cell; zero if there is no cell.
    template <int ends>
    __device__ __forceinline__ void write_end(int number, bool has, const Cell &of, int side) const
    {
      C v(0), slope(0);
      if (has)
      {
        const int d = side / 2;
        int mode[3] = {0, 0, 0};
        mode[tangent(d, 0)] = la;
        if (dim == 3)
          mode[tangent(d, 1)] = lb;
        const Number *const from =
            p.src + p.block.index(of.x, of.y, of.z, mode[0], mode[1], mode[2]);
        const std::int64_t step = d == 0 ? p.block.pitch : d == 1 ? p.block.row() : p.block.plane();
#pragma unroll
        for (int i = 0; i < n; ++i)
        {
          const C u = load_pack<1>(from + i * step).at[0];
          const C reflected = side % 2 == 0 && i % 2 == 1 ? -u : u;
          v = fma(p.mode_end[i], reflected, v);
          slope = fma(p.mode_slope[i], reflected, slope);
        }
      }
      of_end<ends>(number, 0)[line * X] = v;
      of_end<ends>(number, 1)[line * X] = slope;
    }
    /// To points in the first direction along the side. All threads of the cell have called write_end() and met.
    template <int ends>
    __device__ __forceinline__ void interpolate_end(int number) const
    {
      C v(0), derivative(0), slope(0);
#pragma unroll
      for (int i = 0; i < n; ++i)
      {
        const C u = of_end<ends>(number, 0)[(i + n * lb) * X], value = p.value[la * n + i];
        v = fma(value, u, v);
        derivative = fma(p.mode_derivative[la * n + i], u, derivative);
        slope = fma(value, of_end<ends>(number, 1)[(i + n * lb) * X], slope);
      }
      of_end<ends>(number, 2)[line * X] = v;
      of_end<ends>(number, 3)[line * X] = derivative;
      of_end<ends>(number, 4)[line * X] = slope;
    }
    /// The trace at the point of the thread. All threads of the cell have called interpolate_end() and met.
    template <int ends>
    __device__ __forceinline__ Trace<C> read_end(
        int number, bool has, const Cell &of, int side) const
    {
      C v(0), slope(0), along[dim - 1] = {};
      const C *const values = of_end<ends>(number, 2), *const derivatives = of_end<ends>(number, 3),
                     *const slopes = of_end<ends>(number, 4);
      if constexpr (dim == 2)
      {
        v = values[line * X];
        along[0] = derivatives[line * X];
        slope = slopes[line * X];
      }
      else
#pragma unroll
        for (int i = 0; i < n; ++i)
        {
          const int from = (la + n * i) * X;
          const C value = p.value[lb * n + i];
          v = fma(value, values[from], v);
          along[0] = fma(value, derivatives[from], along[0]);
          along[1] = fma(p.mode_derivative[lb * n + i], values[from], along[1]);
          slope = fma(value, slopes[from], slope);
        }
      return {v, has ? flux(of, side, slope, along) : C(0)};
    }
  };
} // namespace pointwise
} // namespace tensormg::laplace
