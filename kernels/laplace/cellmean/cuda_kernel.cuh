// The second device kernel of cellmean.h.
//
// A block of threads owns a brick of cells (brick.h). What is behind the sides of a cell comes from three places: from a cell of the brick, through
// shared memory; from a cell beside the brick, whose trace is computed from its modes once more (a halo, ends.cuh); and at the borders of the blocks of
// the mesh from memory, where borders.cuh has written the traces of all their sides, or who brings those of other ranks.
//
//   gradient  C_a u for all directions, with V and d_a u at the ends of all lines
//   sides     F; traces for the neighbours in the brick; alpha and beta. D_a = C_a u + s v beta of both ends: what jumps add to it
//   fluxes    lines in x: G D for all directions
//   result    sum over a of C_a' (G D)_a, v alpha, and G_aa beta times the slopes. These have D_a instead of C_a u to make up for: lifted_slope
#pragma once

#include <type_traits>

#include "kernels/laplace/cellmean/ends.cuh"

namespace tensormg::laplace::cellmean
{
template <typename Brick>
class Operator : public Ends<Brick>
{
  using Base = Ends<Brick>;
  using Number = typename Brick::Number;
  using C = typename Brick::C;
  using Trace = cellmean::Trace<C>;
  using Line = C[Brick::n];
  using Base::dim, Base::n, Base::X, Base::sides, Base::lines;
  using Base::p, Base::block, Base::la, Base::lb, Base::line, Base::lane, Base::row_here;

  int at_[3]; ///< of the cell in the brick
  Cell cell_;
  bool is_there_; ///< otherwise the thread computes what nobody stores
  Trace halo_[Brick::halos];
  C v_[sides], slope_[sides];    ///< of u, and of d_a u
  C alpha_[sides], beta_[sides]; ///< what tests these

public:
  __device__ __forceinline__ explicit Operator(const CellMeanParameters<Brick> &parameters)
    : Base(parameters)
    , at_{lane, row_here % Brick::cells_y, row_here / Brick::cells_y}
  {
    int brick = int(blockIdx.x);
#pragma unroll
    for (int d = 0; d < 3; ++d)
    {
      cell_[d] = brick % p.bricks[d] * Brick::cells(d) + at_[d];
      brick /= p.bricks[d];
    }
    const bool is_in_block = cell_[1] < block.cells[1] && cell_[2] < block.cells[2];
    cell_[0] += brick * p.a.per_direction;
    is_there_ = is_in_block && cell_[0] < block.pitch;
    if (!is_there_)
      cell_ = {0, 0, 0};
  }

  __device__ __forceinline__ void run()
  {
    find_halo();
    find_gradient();
    for_directions([&](auto d) { find_flux(d); });
    __syncthreads();
    for_directions([&](auto d) { find_tests(d); });
    add_jumps<1>();
    if constexpr (dim == 3)
      add_jumps<2>();
    __syncthreads();
    find_fluxes();
    __syncthreads();
    if constexpr (dim == 3)
    {
      Line result;
      transpose<1>(result);
      write<1>(array(0), result);
      __syncthreads();
    }
    Line result;
    transpose<dim - 1>(result);
    store(result);
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
    return this->shared() + number * Brick::array_numbers + row_here * Brick::cell_numbers * X;
  }
  /// V in the mode of the thread of a side, in a row of the brick; F is lines * X further.
  __device__ __forceinline__ C *trace(int row, int side) const
  {
    return this->shared() + Brick::traces_offset + ((row * sides + side) * 2 * lines + line) * X;
  }
  template <int d>
  __device__ __forceinline__ C *place(C *array, int mode) const
  {
    return array + (Brick::first_of_line(d, line) + mode * Brick::stride(d)) * X;
  }
  template <int d>
  __device__ __forceinline__ void read(C *array, Line &to) const
  {
#pragma unroll
    for (int i = 0; i < n; ++i)
      to[i] = *place<d>(array, i);
  }
  template <int d>
  __device__ __forceinline__ void write(C *array, const Line &from) const
  {
#pragma unroll
    for (int i = 0; i < n; ++i)
      *place<d>(array, i) = from[i];
  }

  // What is behind a side.
  __device__ __forceinline__ bool is_padding() const { return cell_[0] >= block.cells[0]; }
  __device__ __forceinline__ bool is_border(int d, int end) const
  {
    const int inside = d == 0 ? int(cell_[0] % p.a.per_direction) : int(cell_[d]);
    return inside == (end == 1 ? p.a.per_direction - 1 : 0);
  }
  /// Of the cells beside the brick.
  __device__ __forceinline__ void find_halo()
  {
    bool has[Brick::halos];
    for_halos([&](int number, int d, int end, bool is_outside) {
      has[number] = is_there_ && !is_padding() && is_outside && !is_border(d, end);
      halo_[number] = this->template read_end<Brick::halos>(
          number, has[number], moved(cell_, d, end == 1 ? 1 : -1), d, 1 - end);
    });
    const auto rows = this->rows_of_derivative();
    __syncthreads();
    for_halos([&](int number, int d, int end, bool) {
      halo_[number] = this->template trace_of_end<Brick::halos>(
          number, has[number], moved(cell_, d, end == 1 ? 1 : -1), d, 1 - end, rows, halo_[number]);
    });
    __syncthreads();
  }
  /// use(number, direction, end, whether the next cell there is outside of the brick)
  template <typename Use>
  __device__ __forceinline__ void for_halos(const Use &use) const
  {
    for_directions([&](auto direction) {
      constexpr int d = direction.value, count = Brick::halo_sides(d), first = Brick::first_halo(d),
                    cells = Brick::cells(d);
#pragma unroll
      for (int h = 0; h < count; ++h)
        use(first + h, d, count == 2 ? h : at_[d] == 0 ? 0 : 1, at_[d] == 0 || at_[d] == cells - 1);
    });
  }
  template <int d, int end>
  __device__ __forceinline__ Trace behind(const Trace &own) const
  {
    constexpr int step = end == 1 ? 1 : -1, cells = Brick::cells(d), side = 2 * d + end;
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
    const auto [place, map] = cell_behind(block, p.a.per_direction, p.a.links, cell_, side);
    if (place.kind == Side::dirichlet)
      return {-own.v, -own.f};
    if (place.kind != Side::ghost)
    {
      const C robin = C(2) * this->number(cell_, penalty_place(dim, side));
      return {own.v, own.f + robin * own.v};
    }
    const C *const from = place.remote >= 0
        ? p.a.remote_traces + place.remote * 2 * lines
        : p.a.traces + border_index(block, p.a.per_direction, place.cell, place.side);
    const ModeBehind mode = mode_behind(map, n, la, lb);
    const C sign(mode.sign);
    return {sign * from[mode.q], sign * from[lines + mode.q]};
  }

  /// C_a u, in the array of direction a.
  __device__ __forceinline__ void find_gradient()
  {
    Line in_x;
    {
      Line u;
      const Number *const from = p.a.src + this->first_mode(cell_, 0);
#pragma unroll
      for (int i = 0; i < n; ++i)
        u[i] = load_pack<1>(from + i * block.pitch).at[0];
      write<0>(array(0), u);
      differentiate<0>(u, in_x);
    }
    __syncthreads();
    for_directions([&](auto d) {
      if constexpr (d.value > 0)
      {
        Line u, result;
        read<d.value>(array(0), u);
        differentiate<d.value>(u, result);
        write<d.value>(array(d.value), result);
      }
    });
    __syncthreads();
    write<0>(array(0), in_x);
    __syncthreads();
  }
  template <int d>
  __device__ __forceinline__ void differentiate(const Line &u, Line &result)
  {
    Parts<C> value, slope;
#pragma unroll
    for (int i = 0; i < n; ++i)
    {
      value.add(i, p.value[i], u[i]);
      slope.add(i, p.slope[i], u[i]);
      result[i] = C(0);
#pragma unroll
      for (int j = (i + 1) % 2; j < n; j += 2)
        result[i] = fma(p.derivative[i * n + j], u[j], result[i]);
    }
#pragma unroll
    for (int end = 0; end < 2; ++end)
    {
      v_[2 * d + end] = value.value(end);
      slope_[2 * d + end] = slope.slope(end);
    }
  }

  template <int d>
  __device__ __forceinline__ void find_flux(std::integral_constant<int, d>)
  {
    C along[2][dim - 1];
#pragma unroll
    for (int t = 0; t < dim - 1; ++t)
    {
      Parts<C> value;
#pragma unroll
      for (int i = 0; i < n; ++i)
        value.add(i, p.value[i], *place<d>(array(tangent(d, t)), i));
      along[0][t] = value.value(0);
      along[1][t] = value.value(1);
    }
#pragma unroll
    for (int end = 0; end < 2; ++end)
    {
      C *const to = trace(row_here, 2 * d + end);
      to[0] = v_[2 * d + end];
      to[lines * X] = this->flux(cell_, d, end, slope_[2 * d + end], along[end]);
    }
  }
  template <int d>
  __device__ __forceinline__ void find_tests(std::integral_constant<int, d>)
  {
    find_tests_of<d, 0>();
    find_tests_of<d, 1>();
  }
  template <int d, int end>
  __device__ __forceinline__ void find_tests_of()
  {
    constexpr int side = 2 * d + end;
    const C *const here = trace(row_here, side);
    const Trace own{here[0], here[lines * X]}, other = behind<d, end>(own);
    const C jump = own.v - other.v;
    alpha_[side] =
        fma(this->number(cell_, penalty_place(dim, side)), jump, C(-0.5) * (own.f - other.f));
    beta_[side] = C(-0.5) * jump;
  }

  /// Of both ends of a line, for even modes if `even`.
  template <int d>
  __device__ __forceinline__ C sum_of(const C (&numbers)[sides], bool even) const
  {
    return even ? numbers[2 * d + 1] + numbers[2 * d] : numbers[2 * d + 1] - numbers[2 * d];
  }
  /// s v beta of mode i; the sign of odd modes at the lower end is that of s.
  template <int d>
  __device__ __forceinline__ C jump_of(int i) const
  {
    return p.value[i] * sum_of<d>(beta_, i % 2 == 1);
  }
  /// What threads of other lines will read of lines in direction d.
  template <int d>
  __device__ __forceinline__ void add_jumps() const
  {
#pragma unroll
    for (int i = 0; i < n; ++i)
      *place<d>(array(d), i) += jump_of<d>(i);
  }
  /// By lines in x. What they contribute to the result is in array 0 afterwards, the fluxes in y and z in theirs.
  __device__ __forceinline__ void find_fluxes() const
  {
    C g[dim][dim];
#pragma unroll
    for (int a = 0; a < dim; ++a)
#pragma unroll
      for (int b = 0; b < dim; ++b)
        g[a][b] = this->metric(cell_, a, b);
    Line in_x, result;
#pragma unroll
    for (int i = 0; i < n; ++i)
    {
      C gradient[dim], flux[dim] = {};
#pragma unroll
      for (int b = 0; b < dim; ++b)
        gradient[b] = *place<0>(array(b), i) + (b == 0 ? jump_of<0>(i) : C(0));
#pragma unroll
      for (int a = 0; a < dim; ++a)
#pragma unroll
        for (int b = 0; b < dim; ++b)
          flux[a] = fma(g[a][b], gradient[b], flux[a]);
      in_x[i] = flux[0];
#pragma unroll
      for (int a = 1; a < dim; ++a)
        *place<0>(array(a), i) = flux[a];
    }
#pragma unroll
    for (int i = 0; i < n; ++i)
      result[i] = C(0);
    add_tested<0>(g[0][0], in_x, result);
    write<0>(array(0), result);
  }
  /// result += C' flux and what tests u and d_a u at the ends
  template <int d>
  __device__ __forceinline__ void add_tested(C g, const Line &flux, Line &result) const
  {
#pragma unroll
    for (int i = 0; i < n; ++i)
    {
      C sum = fma(p.value[i], sum_of<d>(alpha_, i % 2 == 0), result[i]);
      sum = fma(p.lifted_slope[i], g * sum_of<d>(beta_, i % 2 == 0), sum);
#pragma unroll
      for (int j = (i + 1) % 2; j < n; j += 2)
        sum = fma(p.derivative[j * n + i], flux[j], sum);
      result[i] = sum;
    }
  }
  template <int d>
  __device__ __forceinline__ void transpose(Line &result) const
  {
    Line flux;
    read<d>(array(d), flux);
    read<d>(array(0), result);
    add_tested<d>(this->metric(cell_, d, d), flux, result);
  }

  /// Lines in the last direction.
  __device__ __forceinline__ void store(const Line &result) const
  {
    if (!is_there_)
      return;
    const std::int64_t first = this->first_mode(cell_, dim - 1), step = this->step(dim - 1);
    const C reaction = this->number(cell_, reaction_place(dim));
#pragma unroll
    for (int k = 0; k < n; ++k)
    {
      const std::int64_t to = first + k * step;
      const C x = load_pack<1>(p.a.src + to).at[0];
      C value = is_padding() ? C(0) : fma(reaction, x, result[k]);
      if (p.a.b != nullptr)
        value = load_pack<1>(p.a.b + to).at[0] - value;
      if (p.a.inverse_diagonal != nullptr)
      {
        const C before = p.a.old != nullptr ? load_pack<1>(p.a.old + to).at[0] : C(0);
        value = x + p.a.theta * (x - before) + p.a.alpha * p.a.inverse_diagonal[to] * value;
      }
      store_pack(p.a.dst + to, Pack<C, 1>(value));
    }
  }
};

template <typename Brick>
__global__ __launch_bounds__(Brick::threads, Brick::blocks) void operator_kernel(
    const __grid_constant__ CellMeanParameters<Brick> p)
{
  Operator<Brick>(p).run();
}
} // namespace tensormg::laplace::cellmean
