// Numbers of a cell, and the traces at its sides from its modes: what the device kernels of pointwise.h share.
#pragma once

#include <type_traits>

#include "kernels/device/pack.cuh"
#include "kernels/device/shared_memory.cuh"
#include "kernels/laplace/pointwise/brick.h"
#include "kernels/laplace/pointwise/cuda.h"
#include "kernels/laplace/pointwise/device_layout.h"

namespace tensormg::laplace
{
/// Divides numbers below 2^31.
struct Divisor
{
  unsigned by = 1, factor = 1u << 31, shift = 0;

  Divisor() = default;
  explicit Divisor(unsigned by_)
    : by(by_)
  {
    while ((std::uint64_t{1} << shift) < by)
      ++shift;
    factor = static_cast<unsigned>(((std::uint64_t{1} << (31 + shift)) + by - 1) / by);
  }
  /// number becomes the quotient; returns the remainder.
  __device__ __forceinline__ unsigned divide(unsigned &number) const
  {
    const unsigned dividend = number;
    number = static_cast<unsigned>((std::uint64_t{dividend} * factor) >> (31 + shift));
    return dividend - number * by;
  }
};

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
  int per_direction, cells_y, pitch, layer; ///< layer: cells of x-y, with padding
  std::int64_t next_mode[3], next_cell[3];  ///< how far they are in each direction
  int bricks
      [3]; ///< of a block of the mesh; in x of all of them, where these are not made of whole bricks
  Divisor tile[2], layers, tiles[2]; ///< how bricks follow one another: BrickOrder
  int of_cell, tests_offset;         ///< of shared memory
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
    int x, y, z; ///< in the block of all cells

    __device__ __forceinline__ int in(int d) const { return d == 0 ? x : d == 1 ? y : z; }
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
    using Line = C[Brick::n];
    static constexpr int dim = Brick::dim, n = Brick::n, lines = Brick::lines, sides = Brick::sides;
    static constexpr bool has_powers = std::is_same_v<Stored, Half>;
    static constexpr int metrics = face_numbers(dim), face_size = sides * metrics * lines;

    const Parameters &p;
    const BrickPlace place;
    const int line, la, lb; ///< the line, and its places in the two other directions

  public:
    __device__ __forceinline__ explicit Ends(const Parameters &parameters)
      : p(parameters)
      , place(Brick::place(int(threadIdx.x)))
      , line(place.line)
      , la(line % n)
      , lb(line / n)
    {}

  protected:
    // Shared memory.
    __device__ __forceinline__ static C *shared()
    {
      return reinterpret_cast<C *>(dynamic_shared());
    }
    __device__ __forceinline__ C *memory_of(int cell) const
    {
      return shared() + Brick::padded(Brick::table_numbers) + cell * p.of_cell;
    }
    __device__ __forceinline__ static void meet_in_cell()
    {
      if constexpr (Brick::in_warps)
        __syncwarp();
      else
        __syncthreads();
    }
    template <int count>
    __device__ __forceinline__ static void read_row(const C *from, C (&to)[count])
    {
      constexpr int width = Brick::vector;
#pragma unroll
      for (int i = 0; i < count; i += width)
      {
        const auto pack = load_pack<width>(from + i);
#pragma unroll
        for (int w = 0; w < width; ++w)
          to[i + w] = pack.at[w];
      }
    }
    template <int count>
    __device__ __forceinline__ static void write_row(C *to, const C (&from)[count])
    {
      constexpr int width = Brick::vector;
#pragma unroll
      for (int i = 0; i < count; i += width)
      {
        Pack<C, width> pack;
#pragma unroll
        for (int w = 0; w < width; ++w)
          pack.at[w] = from[i + w];
        write_pack(to + i, pack);
      }
    }
    /// Where each thread wants other numbers: rows of values and derivatives of modes, polynomials of points at the lower end. All threads of the block
    /// meet before these are read.
    __device__ __forceinline__ void write_tables() const
    {
      for (int at = int(threadIdx.x); at < n * n; at += Brick::threads)
      {
        C *const to = shared() + at / n * Brick::row_numbers + at % n;
        to[0] = p.value[at];
        to[n * Brick::row_numbers] = p.mode_derivative[at];
        if (at < n)
          shared()[Brick::end_table + at] = p.end[n - 1 - at];
      }
    }
    /// The polynomial of a point at an end of its line.
    __device__ __forceinline__ static C end_at(int q, int end)
    {
      return shared()[Brick::end_table + (end == 1 ? n - 1 - q : q)];
    }
    __device__ __forceinline__ static void read_tables(int row, Line &value, Line &derivative)
    {
      read_row(shared() + row * Brick::row_numbers, value);
      read_row(shared() + (n + row) * Brick::row_numbers, derivative);
    }

    // Numbers of cells in memory.
    __device__ __forceinline__ std::int64_t cell_number(const Cell &of) const
    {
      return std::int64_t(of.z * p.cells_y + of.y) * p.pitch + of.x;
    }
    __device__ __forceinline__ std::int64_t first_mode(const Cell &of) const
    {
      return of.x + std::int64_t(of.y) * p.next_cell[1] + of.z * p.next_cell[2];
    }
    __device__ __forceinline__ C power(std::int64_t cell, int which) const
    {
      if constexpr (has_powers)
        return __ldg(p.numbers.powers + cell * powers_of_cell(dim) + which);
      else
        return C(1);
    }
    /// Numbers of a point of a side as they are stored.
    struct FaceWords
    {
      static constexpr int chunk = DeviceLayout::face_chunk(dim, sizeof(Stored)),
                           count = metrics / chunk;
      using Word = typename WordOf<chunk * sizeof(Stored)>::type;
      Word word[count];

      /// of_cell: the first of those of a cell
      __device__ __forceinline__ void load(const Stored *of_cell, int side, int line)
      {
        const Stored *const from = of_cell + side * metrics * lines + line * chunk;
#pragma unroll
        for (int c = 0; c < count; ++c)
          word[c] = __ldg(reinterpret_cast<const Word *>(from + c * lines * chunk));
      }
      __device__ __forceinline__ C operator[](int number) const
      {
        return static_cast<C>(
            load_pack<chunk>(reinterpret_cast<const Stored *>(&word[number / chunk]))
                .at[number % chunk]);
      }
    };
    /// F, from the outward derivative and those along the side.
    __device__ __forceinline__ static C flux(
        const FaceWords &face, C power, bool is_upper, C slope, const C (&along)[dim - 1])
    {
      C sum(0);
#pragma unroll
      for (int t = 0; t < dim - 1; ++t)
        sum = fma(face[1 + t], along[t], sum);
      return power * fma(face[0], slope, is_upper ? sum : -sum);
    }

    // Traces from modes.
    /// The modes along a line that ends at a side, as they are stored.
    using Modes = Number[n];
    __device__ __forceinline__ static void load_modes(
        const Number *from, std::int64_t step, Modes &to)
    {
#pragma unroll
      for (int i = 0; i < n; ++i, from += step)
        to[i] = *from;
    }
    __device__ __forceinline__ static C as_computed(const Number &number)
    {
      return load_pack<1>(&number).at[0];
    }
    /// V and the outward derivative at the end of that line, for interpolate_end().
    template <int ends>
    __device__ __forceinline__ void write_end(
        const BrickPlace &of, int number, const Modes &modes, bool is_upper) const
    {
      C v[2] = {}, slope[2] = {}; // of even and of odd modes
#pragma unroll
      for (int i = 0; i < n; ++i)
      {
        v[i % 2] = fma(p.mode_end[i], as_computed(modes[i]), v[i % 2]);
        slope[i % 2] = fma(p.mode_slope[i], as_computed(modes[i]), slope[i % 2]);
      }
      C *const to =
          memory_of(of.cell) + Brick::end_modes_offset(ends) + number * Brick::of_modes + of.line;
      to[0] = is_upper ? v[0] + v[1] : v[0] - v[1];
      to[lines] = is_upper ? slope[0] + slope[1] : slope[0] - slope[1];
    }
    /// To points in the first direction along the sides, a line of modes at a time. All threads of the cell have called write_end() and met.
    template <int ends>
    __device__ __forceinline__ void interpolate_ends() const
    {
      constexpr int in_second = lines / n;
#pragma unroll
      for (int first = 0; first < ends * in_second; first += lines)
        if (const int of_all = first + line; of_all < ends * in_second)
        {
          const int number = of_all / in_second, mode = of_all % in_second;
          const C *const from = memory_of(place.cell) + Brick::end_modes_offset(ends) +
              number * Brick::of_modes + n * mode;
          C *const to = half_way(number) + mode;
          Line modes;
          read_row(from, modes);
          along_line(p.value, modes, to);
          along_line(p.mode_derivative, modes, to + lines);
          read_row(from + lines, modes);
          along_line(p.value, modes, to + 2 * lines);
        }
    }
    __device__ __forceinline__ static void along_line(
        const C (&matrix)[n * n], const Line &modes, C *to)
    {
#pragma unroll
      for (int q = 0; q < n; ++q)
      {
        C sum(0);
#pragma unroll
        for (int i = 0; i < n; ++i)
          sum = fma(matrix[q * n + i], modes[i], sum);
        to[q * (lines / n)] = sum;
      }
    }
    /// [V, its derivative, slope][point in the first direction][mode in the second one]
    __device__ __forceinline__ C *half_way(int number) const
    {
      return memory_of(place.cell) + Brick::ends_offset + number * Brick::half_way;
    }
    /// The trace at the point of the thread. All threads of the cell have called interpolate_ends() and met.
    __device__ __forceinline__ Trace<C> read_end(int number, const FaceWords &face, C power,
        bool is_upper, const Line &value, const Line &derivative) const
    {
      const C *const from = half_way(number) + la * lines / n;
      C v(0), slope(0), along[dim - 1] = {};
      if constexpr (dim == 2)
      {
        v = from[0];
        along[0] = from[lines];
        slope = from[2 * lines];
      }
      else
      {
        Line row;
        read_row(from, row);
#pragma unroll
        for (int i = 0; i < n; ++i)
        {
          v = fma(value[i], row[i], v);
          along[1] = fma(derivative[i], row[i], along[1]);
        }
        read_row(from + lines, row);
#pragma unroll
        for (int i = 0; i < n; ++i)
          along[0] = fma(value[i], row[i], along[0]);
        read_row(from + 2 * lines, row);
#pragma unroll
        for (int i = 0; i < n; ++i)
          slope = fma(value[i], row[i], slope);
      }
      return {v, flux(face, power, is_upper, slope, along)};
    }
  };
} // namespace pointwise
} // namespace tensormg::laplace
