// The `mma` backend for N <= 8 without shared memory between the contractions: a warp has its tensors in
// registers, plane by plane (kernels/tensor/plane_tile.h).
//
//   plane z of u  --left([M_x; S_x], u)-->  P, Q            one m16n8k8: both matrices above each other
//                 --left([M_y; S_y], P), left([M_y; .], Q)-->  V, W
//   CUDA cores    y[z'] += S_z[z'][z] V + M_z[z'][z] W      coefficients from shared memory, the same for all lanes
//
// The x-y part costs 96 flop per entry of a full tile on tensor cores (80 with m8n8k4), the z part 4 N on CUDA
// cores. The matrices stay in registers; a warp reads them again when its tensors touch other ends.
// This goes back to the patch solver without shared memory: there, as here, two products of this kind transpose
// twice.
#pragma once

#include <vector>

#include "kernels/device/launch.cuh"
#include "kernels/device/shared_memory.cuh"
#include "kernels/diagnostics/nodal/nodal.h"
#include "kernels/diagnostics/nodal/reference.h"
#include "kernels/tensor/device_resources.cuh"
#include "kernels/tensor/plane_stream.cuh"
#include "kernels/tensor/sizes_dispatch.h"

namespace tensormg::nodal
{
/// [End][slot] fragments of x, the same of y, then [End][z][row] coefficients (S[z'][z], M[z'][z]) of z. With
/// m = 16 there is one slot, M above S; with m = 8 M and S have one each.
template <typename P, typename Tile>
struct RegisterTables
{
  using C = typename P::C;
  static constexpr int n_slots = 16 / P::S::m;
  static constexpr int direction_bytes = tensor::n_ends * n_slots * tensor::PlaneMatrix<P>::bytes;
  static constexpr int width = 16 / static_cast<int>(sizeof(C));
  static constexpr int row = (2 * Tile::n + width - 1) / width * width;
  static constexpr int z_size = Tile::dim == 3 ? tensor::n_ends * Tile::n * row : 0;

  static std::vector<std::byte> pack(const Matrices &matrices, int n)
  {
    check_sizes(matrices, n);
    std::vector<std::byte> table;
    for (int d = 0; d < 2; ++d)
      for (const LineMatrices &line : matrices[d])
        for (int slot = 0; slot < n_slots; ++slot)
          tensor::append_plane_matrix<P>(table, [&](int i, int k) {
            const auto &matrix = slot == 0 && i < 8 ? line.mass : line.stiffness;
            return matrix.empty() ? 0. : tensor::on_diagonal<Tile>(i % 8, k, [&](int a, int b) {
              return matrix[a * n + b];
            });
          });
    if constexpr (Tile::dim == 3)
    {
      std::vector<C> coefficients(z_size, C(0));
      for (int end = 0; end < tensor::n_ends; ++end)
        if (const LineMatrices &line = matrices[2][end]; !line.mass.empty())
          for (int i = 0; i < n; ++i)
            for (int z = 0; z < n; ++z)
            {
              C *to = coefficients.data() + (end * n + z) * row + 2 * i;
              to[0] = static_cast<C>(line.stiffness[i * n + z]);
              to[1] = static_cast<C>(line.mass[i * n + z]);
            }
      const auto *bytes = reinterpret_cast<const std::byte *>(coefficients.data());
      table.insert(table.end(), bytes, bytes + coefficients.size() * sizeof(C));
    }
    return table;
  }
};

/// The matrices of one direction.
template <typename P>
struct LinePair
{
  tensor::PlaneMatrix<P> slot[16 / P::S::m];

  __device__ void load(const std::byte *table, int end, int lane)
  {
    constexpr int n_slots = 16 / P::S::m;
#pragma unroll
    for (int s = 0; s < n_slots; ++s)
      slot[s].load(table + (end * n_slots + s) * tensor::PlaneMatrix<P>::bytes, lane);
  }
};

/// The coefficients of z to shared memory, with all threads of the block.
template <typename Tables, typename Tile>
__device__ inline void copy_z_tables(typename Tables::C *to, const std::byte *table)
{
  const auto *from = reinterpret_cast<const typename Tables::C *>(table);
  for (int at = static_cast<int>(threadIdx.x); at < Tables::z_size; at += Tile::threads)
    to[at] = from[at];
  __syncthreads();
}

/// m = 16: (V, W) of a plane from the accumulators of P, Q.
template <typename P, typename PQ>
__device__ inline void contract_rows(
    const LinePair<P> &y, const PQ &pq, typename P::C (&v)[2], typename P::C (&w)[2])
{
  // Of y times Q only the upper half is used: an operand with M below zeros would take registers for each.
  tensor::Sum<P> of_p, of_q;
  tensor::add_left(of_p, y.slot[0], tensor::make_plane_operand<P>(pq.get(0), pq.get(1)));
  tensor::add_left(of_q, y.slot[0], tensor::make_plane_operand<P>(pq.get(2), pq.get(3)));
#pragma unroll
  for (int e = 0; e < 2; ++e)
  {
    v[e] = of_p.get(e);
    w[e] = of_p.get(2 + e) + of_q.get(e);
  }
}

/// (V, W) of a plane from u, two neighbours per lane each.
template <typename P>
__device__ inline void contract_plane(const LinePair<P> &x, const LinePair<P> &y,
    const tensor::PlaneOperand<P> &u, typename P::C (&v)[2], typename P::C (&w)[2])
{
  using tensor::add_left;
  using tensor::make_plane_operand;
  using tensor::Sum;
  if constexpr (P::S::m == 16)
  {
    Sum<P> pq;
    add_left(pq, x.slot[0], u);
    contract_rows<P>(y, pq, v, w);
  }
  else
  {
    Sum<P> p, q, to_v, to_w;
    add_left(p, x.slot[0], u);
    add_left(q, x.slot[1], u);
    const auto operand = make_plane_operand<P>(p.get(0), p.get(1));
    add_left(to_v, y.slot[0], operand);
    add_left(to_w, y.slot[1], operand);
    add_left(to_w, y.slot[0], make_plane_operand<P>(q.get(0), q.get(1)));
    v[0] = to_v.get(0);
    v[1] = to_v.get(1);
    w[0] = to_w.get(0);
    w[1] = to_w.get(1);
  }
}

template <typename P, typename Tile, typename Number>
__global__ void __launch_bounds__(Tile::threads, tensor::plane_blocks<Number, P::terms, Tile>)
    registers_kernel(const __grid_constant__ tensor::GroupParameters<Number> p)
{
  if constexpr (mma::is_available<typename P::S>)
  {
    using C = typename P::C;
    using Tables = RegisterTables<P, Tile>;
    auto *z_tables = reinterpret_cast<C *>(dynamic_shared());
    copy_z_tables<Tables, Tile>(z_tables, p.tables + 2 * Tables::direction_bytes);
    const int lane = static_cast<int>(threadIdx.x) % 32;
    // In FP32, corrected or not, the registers of it spill.
    constexpr bool ahead = sizeof(Number) == 8;
    tensor::PlaneStream<Tile, Number, ahead> stream(p.placement, p.src, lane);
    LinePair<P> x, y;
    const C *z_table = z_tables;
    while (stream.go_on())
    {
      if (stream.is_in_other_box())
      {
        const tensor::Box &b = p.placement.boxes[stream.box()];
        x.load(p.tables, b.end[0], lane);
        y.load(p.tables + Tables::direction_bytes, b.end[1], lane);
        z_table = z_tables + b.end[2] * Tile::n * Tables::row;
      }
      C sum[Tile::planes][2] = {};
#pragma unroll
      for (int z = 0; z < Tile::planes; ++z)
      {
        C v[2], w[2];
        contract_plane<P>(x, y, tensor::make_plane_operand<P>(stream.planes()[z]), v, w);
        stream.ask_for_next(z);
        if constexpr (Tile::dim == 2)
        {
          sum[z][0] = w[0];
          sum[z][1] = w[1];
        }
        else
        {
#pragma unroll
          for (int first = 0; first < 2 * Tile::n; first += Tables::width)
          {
            const auto coefficients = load_pack<Tables::width>(z_table + z * Tables::row + first);
#pragma unroll
            for (int i = 0; i < Tables::width; i += 2)
              if (first + i < 2 * Tile::n)
              {
                const int to = (first + i) / 2;
#pragma unroll
                for (int e = 0; e < 2; ++e)
                  sum[to][e] =
                      fma(coefficients.at[i], v[e], fma(coefficients.at[i + 1], w[e], sum[to][e]));
              }
          }
        }
      }
      stream.positions().store(p.placement, p.dst, p.add, sum);
    }
  }
}

template <typename P, typename Tile, typename Number>
void apply_registers(const Arguments<Number> &a)
{
  const auto kernel = &registers_kernel<P, Tile, Number>;
  if constexpr (P::S::min_capability > 80)
    tensor::require_compiled_for(P::S::min_capability, kernel);
  tensor::launch_groups("launching the nodal operator in registers", kernel, Tile::threads,
      RegisterTables<P, Tile>::z_size * sizeof(typename P::C), a.stream,
      tensor::GroupParameters<Number>(a, Tile::tensors), Tile::warps);
}

template <typename P, typename Tile, typename Number>
tensor::Resources register_resources()
{
  // Nothing but the coefficients of z, which all lanes read together.
  return tensor::device_resources(&registers_kernel<P, Tile, Number>, Tile::threads,
      RegisterTables<P, Tile>::z_size * sizeof(typename P::C), 0.);
}

/// The kernel of a size known at run time, compiled for all of `sizes`.
template <typename S, int terms, typename Number, tensor::Sizes sizes>
Kernel<Number> register_kernel(int dim, int n)
{
  using P = tensor::Product<S, terms>;
  return tensor::dispatch_size<Kernel<Number>, sizes>(dim, n, [](auto size) {
    using Tile = tensor::PlaneTile<size.dim, size.n>;
    return Kernel<Number>{&apply_registers<P, Tile, Number>, &RegisterTables<P, Tile>::pack,
        &register_resources<P, Tile, Number>};
  });
}
} // namespace tensormg::nodal
