// The device kernels of pointwise.h.
//
// A block of threads owns a brick of cells (brick.h). What is behind the sides of a cell comes from three places: from a cell of the brick, through
// shared memory; from a cell beside the brick, whose trace is computed from its modes once more (a halo, ends.cuh); and at the borders of the blocks of the
// mesh from memory, where borders.cuh has written the traces of all their sides. So u, which is a small part of the numbers, is read more than
// once, mostly from the second cache, and most traces never go through memory.
//
//   points  modes to points in x, y, z; derivatives; V and the outward derivative at the ends of all lines
//   sides   F; traces for the neighbours in the brick; what tests values and derivatives at the points of sides
//   fluxes  G times the gradient. What tests derivatives along a side joins it before these are transposed
//   modes   back in x, y, z; b - A u, or the step
#pragma once

#include <type_traits>

#include "kernels/laplace/pointwise/ends.cuh"

namespace tensormg::laplace
{
namespace pointwise
{
  template <typename Brick>
  class Operator : public Ends<Brick>
  {
    using Base = Ends<Brick>;
    using Number = typename Brick::Number;
    using C = typename Brick::C;
    using Trace = pointwise::Trace<C>;
    using Line = C[Brick::n];
    static constexpr int last = Brick::dim - 1;
    using Base::dim, Base::n, Base::X, Base::sides, Base::lines;
    using Base::p, Base::la, Base::lb, Base::line, Base::lane, Base::row_here;

    int at_[3]; ///< of the cell in the brick
    Cell cell_;
    bool is_there_; ///< otherwise the thread computes what nobody stores
    Trace halo_[Brick::halos];
    C v_[sides], slope_[sides];           ///< of u, and of its outward derivative
    C of_value_[sides], of_slope_[sides]; ///< what tests these
    C along_x_[2][dim - 1];               ///< what tests derivatives along the sides in x

  public:
    __device__ __forceinline__ explicit Operator(const PointwiseParameters<Brick> &parameters)
      : Base(parameters)
      , at_{lane, row_here % Brick::cells_y, row_here / Brick::cells_y}
    {
      int brick = int(blockIdx.x), first[3];
#pragma unroll
      for (int d = 0; d < 3; ++d)
      {
        first[d] = brick % p.bricks[d] * Brick::cells(d) + at_[d];
        brick /= p.bricks[d];
      }
      cell_ = {std::int64_t(brick) * p.per_direction + first[0], first[1], first[2]};
      is_there_ =
          cell_.x < p.block.pitch && cell_.y < p.block.cells[1] && cell_.z < p.block.cells[2];
      if (!is_there_)
        cell_ = {0, 0, 0};
    }

    __device__ __forceinline__ void run()
    {
      find_halo();
      to_points();
      for_directions([&](auto d) { find_flux(d); });
      __syncthreads();
      for_directions([&](auto d) { find_tests(d); });
      __syncthreads();
      find_fluxes();
      __syncthreads();
      for_directions([&](auto d) {
        if constexpr (d.value > 0)
          transpose(d);
      });
      __syncthreads();
      to_modes();
    }

  private:
    template <typename Use>
    __device__ __forceinline__ static void for_directions(const Use &use)
    {
      use(std::integral_constant<int, 0>());
      use(std::integral_constant<int, 1>());
      if constexpr (dim == 3)
        use(std::integral_constant<int, 2>());
    }
    // Shared memory.
    __device__ __forceinline__ C *array(int number) const
    {
      return this->shared() + number * Brick::line_numbers + row_here * Brick::cell_numbers * X;
    }
    __device__ __forceinline__ C *tests(int side, int tangent) const
    {
      constexpr int of_row = (sides - 2) * Brick::tangents;
      return this->shared() + Brick::tests_offset +
          (row_here * of_row + (side - 2) * Brick::tangents + tangent) * lines * X;
    }
    /// V at the point of the thread of a side, in a row of the brick; F is lines * X further.
    __device__ __forceinline__ C *trace(int row, int side) const
    {
      return this->shared() + Brick::traces_offset + ((row * sides + side) * 2 * lines + line) * X;
    }
    template <int d>
    static constexpr int stride_of = Brick::stride(d);
    template <int d>
    __device__ __forceinline__ int first_of_line() const
    {
      return Brick::first_of_line(d, line);
    }
    template <int d>
    __device__ __forceinline__ void read(const C *array, Line &to) const
    {
#pragma unroll
      for (int q = 0; q < n; ++q)
        to[q] = array[(first_of_line<d>() + q * stride_of<d>)*X];
    }
    template <int d>
    __device__ __forceinline__ void write(C *array, const Line &from) const
    {
#pragma unroll
      for (int q = 0; q < n; ++q)
        array[(first_of_line<d>() + q * stride_of<d>)*X] = from[q];
    }
    /// to = M from, or of the transposed matrix
    template <bool transposed>
    __device__ __forceinline__ static void multiply(
        const C (&matrix)[n * n], const Line &from, Line &to)
    {
#pragma unroll
      for (int q = 0; q < n; ++q)
      {
        C sum(0);
#pragma unroll
        for (int i = 0; i < n; ++i)
          sum = fma(matrix[transposed ? i * n + q : q * n + i], from[i], sum);
        to[q] = sum;
      }
    }

    // What is behind a side.
    __device__ __forceinline__ bool is_border(int d, int end) const
    {
      const int place = d == 0 ? int(cell_.x % p.per_direction) : int(cell_.in(d));
      return place == (end == 1 ? p.per_direction - 1 : 0);
    }
    __device__ __forceinline__ bool is_padding() const { return cell_.x >= p.block.cells[0]; }

    /// Of the cells beside the brick.
    __device__ __forceinline__ void find_halo()
    {
      bool has[Brick::halos];
      for_halos([&](int number, int d, int end, bool is_outside) {
        has[number] = is_there_ && !is_padding() && is_outside && !is_border(d, end);
        this->template write_end<Brick::halos>(
            number, has[number], cell_.moved(d, end == 1 ? 1 : -1), 2 * d + 1 - end);
      });
      __syncthreads();
      for_halos([&](int number, int, int, bool) {
        this->template interpolate_end<Brick::halos>(number);
      });
      __syncthreads();
      for_halos([&](int number, int d, int end, bool) {
        halo_[number] = this->template read_end<Brick::halos>(
            number, has[number], cell_.moved(d, end == 1 ? 1 : -1), 2 * d + 1 - end);
      });
      __syncthreads();
    }
    /// use(number, direction, end, whether the next cell there is outside of the brick)
    template <typename Use>
    __device__ __forceinline__ void for_halos(const Use &use) const
    {
      for_directions([&](auto direction) {
        constexpr int d = direction.value, count = Brick::halo_sides(d),
                      first = Brick::first_halo(d), cells = Brick::cells(d);
#pragma unroll
        for (int h = 0; h < count; ++h)
          use(first + h, d,
              count == 2        ? h
                  : at_[d] == 0 ? 0
                                : 1,
              at_[d] == 0 || at_[d] == cells - 1);
      });
    }
    template <int side>
    __device__ __forceinline__ Trace behind(const Trace &own) const
    {
      constexpr int d = side / 2, end = side % 2, step = end == 1 ? 1 : -1, cells = Brick::cells(d);
      if (is_border(d, end))
        return behind_border<side>(own);
      if (at_[d] + step < 0 || at_[d] + step >= cells)
        return halo_[Brick::first_halo(d) + (Brick::halo_sides(d) == 2 ? end : 0)];
      constexpr int rows = d == 0 ? 0 : d == 1 ? step : step * Brick::cells_y;
      const C *const from = trace(row_here + rows, side ^ 1) + (d == 0 ? step : 0);
      return {from[0], from[lines * X]};
    }
    template <int side>
    __device__ __forceinline__ Trace behind_border(const Trace &own) const
    {
      if (!is_there_ || is_padding())
        return own;
      const std::int64_t of_block = cell_.x / p.per_direction;
      const BlockLink &link = p.links[of_block * sides + side];
      if (link.kind == Side::dirichlet)
        return {-own.v, -own.f};
      if (link.kind != Side::ghost)
        return {own.v, own.f + C(2) * penalty(side) * own.v};
      const C *const from = p.borders + place_behind<side>(of_block, link);
      return {from[0], from[1]};
    }
    /// In the array of borders.
    template <int side>
    __device__ __forceinline__ std::int64_t place_behind(
        std::int64_t of_block, const BlockLink &link) const
    {
      constexpr int d = side / 2;
      const std::int64_t cells = p.per_direction, points = cells * n;
      const Cell in_block{cell_.x - of_block * cells, cell_.y, cell_.z};
      const auto place = link.map(in_block.in(tangent(d, 0)) * n + la,
          dim == 3 ? in_block.in(tangent(d, 1)) * n + lb : 0, points, dim == 3 ? points : 1);
      const std::int64_t number = link.block >= 0 ? link.block * std::int64_t(sides) + link.side
                                                  : p.block.cells[0] / cells * sides + link.remote;
      return border_index(p.block, cells, number, place[0], place[1]);
    }
    __device__ __forceinline__ C penalty(int side) const
    {
      return this->power(cell_, power_of_penalty(side)) * this->face_number(cell_, side, dim);
    }

    __device__ __forceinline__ void to_points()
    {
      Line modes, points;
      load_modes(modes);
      multiply<false>(p.value, modes, points);
      write<0>(array(0), points);
      __syncthreads();
      read<1>(array(0), modes);
      multiply<false>(p.value, modes, points);
      write<1>(array(0), points);
      if constexpr (dim == 3)
      {
        __syncthreads();
        read<2>(array(0), modes);
        multiply<false>(p.value, modes, points);
        write<2>(array(0), points);
      }
      differentiate<last>(points);
      __syncthreads();
      for_directions([&](auto d) {
        if constexpr (d.value < last)
        {
          read<d.value>(array(0), points);
          differentiate<d.value>(points);
        }
      });
      __syncthreads();
    }
    __device__ __forceinline__ void load_modes(Line &to) const
    {
      const Number *const from =
          p.src + p.block.index(cell_.x, cell_.y, cell_.z, 0, la, dim == 3 ? lb : 0);
#pragma unroll
      for (int i = 0; i < n; ++i)
        to[i] = load_pack<1>(from + i * p.block.pitch).at[0];
    }
    template <int d>
    __device__ __forceinline__ void differentiate(const Line &points)
    {
      Line result;
      multiply<false>(p.derivative, points, result);
      write<d>(array(1 + d), result);
      at_ends(p.end, points, v_[2 * d], v_[2 * d + 1]);
      at_ends(p.slope, points, slope_[2 * d], slope_[2 * d + 1]);
    }
    /// Numbers of the upper end are those of the lower one from the other side.
    __device__ __forceinline__ static void at_ends(
        const C (&end)[n], const Line &points, C &lower, C &upper)
    {
      lower = upper = C(0);
#pragma unroll
      for (int q = 0; q < n; ++q)
      {
        lower = fma(end[n - 1 - q], points[q], lower);
        upper = fma(end[q], points[q], upper);
      }
    }

    template <int d>
    __device__ __forceinline__ void find_flux(std::integral_constant<int, d>)
    {
      C along[2][dim - 1]; // derivatives of V, lower and upper end
#pragma unroll
      for (int t = 0; t < dim - 1; ++t)
      {
        Line g;
        read<d>(array(1 + tangent(d, t)), g);
        at_ends(p.end, g, along[0][t], along[1][t]);
      }
#pragma unroll
      for (int end = 0; end < 2; ++end)
      {
        const int side = 2 * d + end;
        C *const to = trace(row_here, side);
        to[0] = v_[side];
        to[lines * X] = this->flux(cell_, side, slope_[side], along[end]);
      }
    }
    template <int d>
    __device__ __forceinline__ void find_tests(std::integral_constant<int, d> direction)
    {
      find_tests_of<2 * d>(direction);
      find_tests_of<2 * d + 1>(direction);
    }
    template <int side, int d>
    __device__ __forceinline__ void find_tests_of(std::integral_constant<int, d>)
    {
      const C *const here = trace(row_here, side);
      const Trace own{here[0], here[lines * X]}, other = behind<side>(own);
      const C jump = own.v - other.v, beta = C(-0.5) * this->power(cell_, power_of_metric) * jump;
      of_value_[side] = fma(penalty(side), jump, C(-0.5) * (own.f - other.f));
      of_slope_[side] = beta * this->face_number(cell_, side, 0);
      const C outward = side % 2 == 1 ? beta : -beta;
#pragma unroll
      for (int t = 0; t < dim - 1; ++t)
      {
        const C test = outward * this->face_number(cell_, side, 1 + t);
        if constexpr (d == 0)
          along_x_[side][t] = test;
        else
          tests(side, t)[line * X] = test;
      }
    }

    /// By lines in x. The result of direction x is in array 1 afterwards, what tests the other derivatives in theirs.
    __device__ __forceinline__ void find_fluxes()
    {
      const C in_y[2] = {p.end[n - 1 - la], p.end[la]}, in_z[2] = {p.end[n - 1 - lb], p.end[lb]};
      Line of_x;
#pragma unroll
      for (int q = 0; q < n; ++q)
      {
        const int place = (first_of_line<0>() + q) * X;
        C flux[dim];
        times_metric(q, place, flux);
#pragma unroll
        for (int end = 0; end < 2; ++end)
        {
          const C here = end == 1 ? p.end[q] : p.end[n - 1 - q];
          flux[1] = fma(here, along_x_[end][0], flux[1]);
          flux[0] = fma(in_y[end], tests(2 + end, 0)[(q + n * lb) * X], flux[0]);
          if constexpr (dim == 3)
          {
            flux[2] = fma(here, along_x_[end][1], flux[2]);
            flux[2] = fma(in_y[end], tests(2 + end, 1)[(q + n * lb) * X], flux[2]);
            flux[0] = fma(in_z[end], tests(4 + end, 0)[(q + n * la) * X], flux[0]);
            flux[1] = fma(in_z[end], tests(4 + end, 1)[(q + n * la) * X], flux[1]);
          }
        }
        of_x[q] = flux[0];
#pragma unroll
        for (int d = 1; d < dim; ++d)
          array(1 + d)[place] = flux[d];
      }
      Line result;
      multiply<true>(p.derivative, of_x, result);
      add_ends<0>(result);
      if (p.numbers.reaction != nullptr)
        add_reaction(result);
      write<0>(array(1), result);
    }
    /// At point q of the line in x.
    __device__ __forceinline__ void times_metric(int q, int place, C (&flux)[dim]) const
    {
      C g[dim];
#pragma unroll
      for (int d = 0; d < dim; ++d)
        g[d] = array(1 + d)[place];
#pragma unroll
      for (int a = 0; a < dim; ++a)
      {
        flux[a] = C(0);
#pragma unroll
        for (int b = 0; b < dim; ++b)
          flux[a] =
              fma(volume_number(q, volume_place(dim, a < b ? a : b, a < b ? b : a)), g[b], flux[a]);
        flux[a] *= this->power(cell_, power_of_metric);
      }
    }
    __device__ __forceinline__ C volume_number(int q, int which) const
    {
      return this->number(
          p.numbers.volume + volume_index(p.block, this->row(cell_), q + n * line, which, cell_.x));
    }
    __device__ __forceinline__ void add_reaction(Line &result) const
    {
      Line u;
      read<0>(array(0), u);
      const C power = this->power(cell_, power_of_reaction);
      const auto *const from =
          p.numbers.reaction + reaction_index(p.block, this->row(cell_), n * line, cell_.x);
#pragma unroll
      for (int q = 0; q < n; ++q)
        result[q] = fma(power * this->number(from + q * group_cells), u[q], result[q]);
    }
    template <int d>
    __device__ __forceinline__ void add_ends(Line &result) const
    {
#pragma unroll
      for (int q = 0; q < n; ++q)
      {
        C sum = result[q];
        sum = fma(p.end[n - 1 - q], of_value_[2 * d], sum);
        sum = fma(p.end[q], of_value_[2 * d + 1], sum);
        sum = fma(p.slope[n - 1 - q], of_slope_[2 * d], sum);
        result[q] = fma(p.slope[q], of_slope_[2 * d + 1], sum);
      }
    }
    template <int d>
    __device__ __forceinline__ void transpose(std::integral_constant<int, d>)
    {
      Line flux, result;
      read<d>(array(1 + d), flux);
      multiply<true>(p.derivative, flux, result);
      add_ends<d>(result);
      write<d>(array(1 + d), result);
    }

    __device__ __forceinline__ void to_modes()
    {
      Line points, modes;
      read<0>(array(1), points);
#pragma unroll
      for (int d = 1; d < dim; ++d)
      {
        Line part;
        read<0>(array(1 + d), part);
#pragma unroll
        for (int q = 0; q < n; ++q)
          points[q] += part[q];
      }
      multiply<true>(p.value, points, modes);
      write<0>(array(0), modes);
      __syncthreads();
      read<1>(array(0), points);
      multiply<true>(p.value, points, modes);
      if constexpr (dim == 3)
      {
        write<1>(array(0), modes);
        __syncthreads();
        read<2>(array(0), points);
        multiply<true>(p.value, points, modes);
      }
      store(modes);
    }
    __device__ __forceinline__ void store(const Line &modes) const
    {
      if (!is_there_)
        return;
      const std::int64_t first = p.block.index(cell_.x, cell_.y, cell_.z, la, dim == 3 ? lb : 0, 0);
      const std::int64_t step = dim == 3 ? p.block.plane() : p.block.row();
#pragma unroll
      for (int k = 0; k < n; ++k)
      {
        const std::int64_t to = first + k * step;
        C value = modes[k];
        if (p.b != nullptr)
          value = load_pack<1>(p.b + to).at[0] - value;
        if (p.inverse_diagonal != nullptr)
        {
          const C x = load_pack<1>(p.src + to).at[0],
                  before = p.old != nullptr ? load_pack<1>(p.old + to).at[0] : C(0);
          value = x + p.theta * (x - before) + p.alpha * p.inverse_diagonal[to] * value;
        }
        store_pack(p.dst + to, Pack<C, 1>(value));
      }
    }
  };

  template <typename Brick>
  __global__ __launch_bounds__(Brick::threads) void operator_kernel(
      const __grid_constant__ PointwiseParameters<Brick> p)
  {
    Operator<Brick>(p).run();
  }
} // namespace pointwise
} // namespace tensormg::laplace
