// The `mma` backend for N <= 8 without shared memory between the products: a warp has its tensors in registers
// (kernels/tensor/plane_tile.h).
//
//   plane z of b  --left(Q_x', b)--> --left(Q_y', .)-->  plane of modes in x and y
//   CUDA cores    t[k] += Q_z[z][k] plane, all planes; t[k] *= L^+; plane z = sum over k of Q_z[z][k] t[k]
//   plane         --left(Q_x, .)--> --left(Q_y, .)-->    plane z of x, two neighbours per lane as it was read
//
// Four products per plane and no exchange between lanes. The coefficients of z come from shared memory, the same
// for all lanes.
#pragma once

#include <vector>

#include "kernels/device/launch.cuh"
#include "kernels/device/shared_memory.cuh"
#include "kernels/patch_inverse/patch_inverse.h"
#include "kernels/patch_inverse/reciprocal.cuh"
#include "kernels/patch_inverse/reference.h"
#include "kernels/tensor/device_resources.cuh"
#include "kernels/tensor/plane_stream.cuh"
#include "kernels/tensor/sizes_dispatch.h"

namespace tensormg::patch_inverse
{
/// [x, y][End][Q', Q] fragments; then what goes to shared memory: [direction][End] values, [End][z][row] Q_z.
template <typename P, typename Tile>
struct RegisterTables
{
  using C = typename P::C;
  static constexpr int matrix_bytes = tensor::PlaneMatrix<P>::bytes;
  static constexpr int fragment_bytes = 2 * tensor::n_ends * 2 * matrix_bytes;
  static constexpr int width = 16 / static_cast<int>(sizeof(C));
  static constexpr int row = (Tile::n + width - 1) / width * width;
  static constexpr int values_size = 3 * tensor::n_ends * row;
  static constexpr int shared_size =
      values_size + (Tile::dim == 3 ? tensor::n_ends * Tile::n * row : 0);
  static constexpr int shared_bytes = shared_size * static_cast<int>(sizeof(C));

  static std::vector<std::byte> pack(const Factors &factors, int n)
  {
    check_sizes(factors, n);
    std::vector<std::byte> table;
    for (int d = 0; d < 2; ++d)
      for (const LineFactors &line : factors[d])
        for (const bool transposed : {true, false})
          tensor::append_plane_matrix<P>(table, [&](int i, int k) {
            return i >= 8 || line.values.empty()
                ? 0.
                : tensor::on_diagonal<Tile>(i, k, [&](int a, int b) {
                    return line.vectors[transposed ? b * n + a : a * n + b];
                  });
          });
    std::vector<C> numbers(shared_size, C(0));
    for (int d = 0; d < Tile::dim; ++d)
      for (int end = 0; end < tensor::n_ends; ++end)
      {
        const LineFactors &line = factors[d][end];
        for (std::size_t i = 0; i < line.values.size(); ++i)
          numbers[(d * tensor::n_ends + end) * row + i] = static_cast<C>(line.values[i]);
        if (d == 2)
          for (std::size_t at = 0; at < line.vectors.size(); ++at)
            numbers[values_size + (end * n + at / n) * row + at % n] =
                static_cast<C>(line.vectors[at]);
      }
    const auto *bytes = reinterpret_cast<const std::byte *>(numbers.data());
    table.insert(table.end(), bytes, bytes + numbers.size() * sizeof(C));
    return table;
  }
};

/// What a warp keeps of the tensors of a box.
template <typename P, typename Tile>
struct RegisterFactors
{
  using C = typename P::C;
  using Tables = RegisterTables<P, Tile>;
  tensor::PlaneMatrix<P> forward[2], backward[2]; ///< x, y
  C values[2];                                    ///< l_x + l_y of the lane's two modes
  const C *z_values;
  const C *z_vectors; ///< row by row

  __device__ void load(const std::byte *tables, const C *shared, const tensor::Box &box,
      const tensor::PlaneLane<Tile> &place, int lane)
  {
#pragma unroll
    for (int d = 0; d < 2; ++d)
    {
      const std::byte *table =
          tables + (d * tensor::n_ends + box.end[d]) * 2 * Tables::matrix_bytes;
      forward[d].load(table, lane);
      backward[d].load(table + Tables::matrix_bytes, lane);
    }
    const C *x = shared + box.end[0] * Tables::row;
    const C *y = shared + (tensor::n_ends + box.end[1]) * Tables::row;
#pragma unroll
    for (int v = 0; v < 2; ++v)
      values[v] = x[(place.column + v) % Tile::n] + y[place.row % Tile::n];
    z_values = shared + (2 * tensor::n_ends + box.end[2]) * Tables::row;
    z_vectors = shared + Tables::values_size + box.end[2] * Tile::n * Tables::row;
  }
};

/// left(y, left(x, plane)) of the lane's two entries.
template <typename P>
__device__ inline void multiply_plane(const tensor::PlaneMatrix<P> (&matrices)[2],
    const tensor::PlaneOperand<P> &plane, typename P::C (&result)[2])
{
  tensor::Sum<P> x, y;
  tensor::add_left(x, matrices[0], plane);
  tensor::add_left(y, matrices[1], tensor::make_plane_operand<P>(x.get(0), x.get(1)));
  result[0] = y.get(0);
  result[1] = y.get(1);
}

/// f(k, coefficient) for the entries of a row of Q_z.
template <typename Tile, typename C, typename Function>
__device__ inline void for_row(const C *row, Function f)
{
  constexpr int width = 16 / static_cast<int>(sizeof(C));
#pragma unroll
  for (int first = 0; first < Tile::n; first += width)
  {
    const auto coefficients = load_pack<width>(row + first);
#pragma unroll
    for (int i = 0; i < width; ++i)
      if (first + i < Tile::n)
        f(first + i, coefficients.at[i]);
  }
}

/// x of the planes b that a warp has.
template <typename P, typename Tile, typename Number>
__device__ inline void solve_planes(const RegisterFactors<P, Tile> &factors,
    const tensor::Pair<Number> (&b)[Tile::planes], typename P::C (&x)[Tile::planes][2])
{
  using C = typename P::C;
  using Tables = RegisterTables<P, Tile>;
  if constexpr (Tile::dim == 2)
  {
#pragma unroll
    for (int z = 0; z < Tile::planes; ++z)
    {
      C plane[2];
      multiply_plane<P>(factors.forward, tensor::make_plane_operand<P>(b[z]), plane);
#pragma unroll
      for (int v = 0; v < 2; ++v)
        plane[v] *= reciprocal_or_zero(factors.values[v]);
      multiply_plane<P>(factors.backward, tensor::make_plane_operand<P>(plane[0], plane[1]), x[z]);
    }
  }
  else
  {
    C modes[Tile::n][2] = {};
#pragma unroll
    for (int z = 0; z < Tile::n; ++z)
    {
      C plane[2];
      multiply_plane<P>(factors.forward, tensor::make_plane_operand<P>(b[z]), plane);
      for_row<Tile>(factors.z_vectors + z * Tables::row, [&](int k, C coefficient) {
#pragma unroll
        for (int v = 0; v < 2; ++v)
          modes[k][v] = fma(coefficient, plane[v], modes[k][v]);
      });
    }
    for_row<Tile>(factors.z_values, [&](int k, C value) {
#pragma unroll
      for (int v = 0; v < 2; ++v)
        modes[k][v] *= reciprocal_or_zero(factors.values[v] + value);
    });
#pragma unroll
    for (int z = 0; z < Tile::n; ++z)
    {
      C plane[2] = {};
      for_row<Tile>(factors.z_vectors + z * Tables::row, [&](int k, C coefficient) {
#pragma unroll
        for (int v = 0; v < 2; ++v)
          plane[v] = fma(coefficient, modes[k][v], plane[v]);
      });
      multiply_plane<P>(factors.backward, tensor::make_plane_operand<P>(plane[0], plane[1]), x[z]);
    }
  }
}

template <typename P, typename Tile, typename Number>
__global__ void __launch_bounds__(Tile::threads, tensor::plane_blocks<Number, P::terms, Tile>)
    registers_kernel(const __grid_constant__ tensor::GroupParameters<Number> p)
{
  using C = typename P::C;
  using Tables = RegisterTables<P, Tile>;
  auto *shared = reinterpret_cast<C *>(dynamic_shared());
  {
    const C *from = reinterpret_cast<const C *>(p.tables + Tables::fragment_bytes);
    for (int at = static_cast<int>(threadIdx.x); at < Tables::shared_size; at += Tile::threads)
      shared[at] = from[at];
    __syncthreads();
  }
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const tensor::PlaneLane<Tile> place(lane);
  tensor::PlaneStream<Tile, Number, false> stream(p.placement, p.src, lane);
  RegisterFactors<P, Tile> factors;
  while (stream.go_on())
  {
    if (stream.is_in_other_box())
      factors.load(p.tables, shared, p.placement.boxes[stream.box()], place, lane);
    C x[Tile::planes][2];
    solve_planes<P, Tile>(factors, stream.planes(), x);
    stream.positions().store(p.placement, p.dst, p.add, x);
  }
}

template <typename P, typename Tile, typename Number>
void apply_registers(const Arguments<Number> &a)
{
  const auto kernel = &registers_kernel<P, Tile, Number>;
  tensor::launch_groups("launching the local inverse in registers", kernel, Tile::threads,
      RegisterTables<P, Tile>::shared_bytes, a.stream,
      tensor::GroupParameters<Number>(a, Tile::tensors), Tile::warps);
}

template <typename P, typename Tile, typename Number>
tensor::Resources register_resources()
{
  // Nothing but coefficients, which all lanes read together.
  return tensor::device_resources(
      &registers_kernel<P, Tile, Number>, Tile::threads, RegisterTables<P, Tile>::shared_bytes, 0.);
}

/// The kernel of a size known at run time.
template <typename S, int terms, typename Number>
Kernel<Number> register_kernel(int dim, int n)
{
  using P = tensor::Product<S, terms>;
  return tensor::dispatch_size<Kernel<Number>, tensor::Sizes::small>(dim, n, [](auto size) {
    using Tile = tensor::PlaneTile<size.dim, size.n>;
    return Kernel<Number>{&apply_registers<P, Tile, Number>, &RegisterTables<P, Tile>::pack,
        &register_resources<P, Tile, Number>};
  });
}
} // namespace tensormg::patch_inverse
