// The `mma` backend with tensors in shared memory between the contractions, in a layout that is a parameter
// (kernels/tensor/staged_tile.h): what the published comparison of layouts and instructions is about.
//
//   lines along x   global u  -> P = M_x u, Q = S_x u                  written to shared memory
//   lines along y   P, Q      -> V = M_y P, W = S_y P + M_y Q          in place: a warp has whole lines
//   lines along z   V, W      -> y = S_z V + M_z W                     to global memory
//
// with a barrier after each (2D: without the last, y in place of z). Eight reads and writes of shared memory
// per entry. The matrices are fragments in a table, which every warp reads before its lines of a direction;
// all of it stays in the L1 cache. N that is no multiple of the instruction's shape: the matrices are padded
// by zeros, lines and entries beyond the end repeat the last one, and what comes out beyond is not stored.
// Regular tiles (3D, N = 8 and 16) have their addresses from constants and read the next group of tensors ahead
// (kernels/tensor/staged_lines.cuh).
#pragma once

#include <vector>

#include "kernels/device/launch.cuh"
#include "kernels/device/shared_memory.cuh"
#include "kernels/diagnostics/nodal/nodal.h"
#include "kernels/diagnostics/nodal/reference.h"
#include "kernels/tensor/device_resources.cuh"
#include "kernels/tensor/sizes_dispatch.h"
#include "kernels/tensor/staged_lines.cuh"

namespace tensormg::nodal
{
/// M and S of one direction in registers; the products with a tile of eight lines.
template <typename P, int n>
struct MatrixPair
{
  using Rows = tensor::StagedRows<typename P::S, n>;
  static constexpr int n_matrices = Rows::stacked ? 1 : 2;
  static constexpr int tile_bytes = tensor::FragmentBytes<P, mma::Operand::a>::of_warp;
  static constexpr int bytes = n_matrices * Rows::tiles * Rows::steps * tile_bytes;
  using Operand = tensor::LineOperand<P, Rows::steps>;

  typename P::A a[n_matrices][Rows::tiles][Rows::steps];

  __device__ void load(const std::byte *table, int lane)
  {
#pragma unroll
    for (int i = 0; i < n_matrices * Rows::tiles * Rows::steps; ++i)
      a[i / (Rows::tiles * Rows::steps)][i / Rows::steps % Rows::tiles][i % Rows::steps] =
          tensor::load_terms<P, mma::Operand::a>(table + i * tile_bytes, lane);
  }

  static void append(std::vector<std::byte> &table, const LineMatrices &line)
  {
    const auto entry = [](const std::vector<double> &matrix, int i, int k) {
      return i < n && k < n && !matrix.empty() ? matrix[i * n + k] : 0.;
    };
    for (int matrix = 0; matrix < n_matrices; ++matrix)
      for (int tile = 0; tile < Rows::tiles; ++tile)
        for (int step = 0; step < Rows::steps; ++step)
          tensor::append_fragment<P, mma::Operand::a>(table, [&](int i, int k) {
            constexpr int half = P::S::m / 2;
            if (Rows::stacked)
              return entry(i < half ? line.mass : line.stiffness, i % half, step * P::S::k + k);
            return entry(
                matrix == 0 ? line.mass : line.stiffness, tile * P::S::m + i, step * P::S::k + k);
          });
  }

  /// store(is_second, i, element, sum): rows of M u, then those of S u; i is the row of element 0 or 2.
  template <typename Store>
  __device__ void first(const Operand &u, Store store) const
  {
    constexpr int halves = P::S::m / 8;
#pragma unroll
    for (int matrix = 0; matrix < n_matrices; ++matrix)
#pragma unroll
      for (int tile = 0; tile < Rows::tiles; ++tile)
      {
        tensor::Sum<P> sum;
        tensor::add_lines(sum, a[matrix][tile], u);
#pragma unroll
        for (int half = 0; half < halves; ++half)
          store(Rows::stacked ? half == 1 : matrix == 1,
              Rows::stacked ? 0 : tile * P::S::m + 8 * half, sum.get(2 * half),
              sum.get(2 * half + 1));
      }
  }

  /// The same for M p and S p + M q; only_second leaves out M p.
  template <bool only_second, typename Store>
  __device__ void second(const Operand &p, const Operand &q, Store store) const
  {
    constexpr int halves = P::S::m / 8;
#pragma unroll
    for (int tile = 0; tile < Rows::tiles; ++tile)
      if constexpr (Rows::stacked)
      {
        tensor::Sum<P> sum;
        tensor::add_lines(sum, a[0][tile], p);
        typename P::A lower[Rows::steps];
#pragma unroll
        for (int step = 0; step < Rows::steps; ++step)
          lower[step] = tensor::shifted_down<P>(a[0][tile][step]);
        tensor::add_lines(sum, lower, q);
        if (!only_second)
          store(false, 0, sum.get(0), sum.get(1));
        store(true, 0, sum.get(2), sum.get(3));
      }
      else
      {
        tensor::Sum<P> v, w;
        if (!only_second)
          tensor::add_lines(v, a[0][tile], p);
        tensor::add_lines(w, a[1][tile], p);
        tensor::add_lines(w, a[0][tile], q);
#pragma unroll
        for (int half = 0; half < halves; ++half)
        {
          if (!only_second)
            store(false, tile * P::S::m + 8 * half, v.get(2 * half), v.get(2 * half + 1));
          store(true, tile * P::S::m + 8 * half, w.get(2 * half), w.get(2 * half + 1));
        }
      }
  }
};

/// Blocks that registers must leave room for. Regular tiles spend few on addresses: 80 registers per thread are
/// enough for numbers of 8 bytes and for the two-term split, 64 for the others.
template <typename P, typename Tile>
constexpr int staged_blocks = !Tile::is_regular   ? Tile::resident
    : sizeof(typename P::C) == 8 || P::terms == 2 ? 768 / Tile::threads
                                                  : 1024 / Tile::threads;

template <typename P, typename Tile, typename Number>
__global__ void __launch_bounds__(Tile::threads, staged_blocks<P, Tile>)
    staged_kernel(const __grid_constant__ tensor::GroupParameters<Number> p)
{
  if constexpr (mma::is_available<typename P::S>)
  {
    using C = typename P::C;
    using Pair = MatrixPair<P, Tile::n>;
    constexpr int last = Tile::dim - 1;
    C *field[2];
    field[0] = reinterpret_cast<C *>(dynamic_shared());
    field[1] = field[0] + Tile::field_size;
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    const tensor::FieldLines<P, Tile, 0> x_lines(lane, warp);
    const tensor::FieldLines<P, Tile, 1> y_lines(lane, warp);
    const tensor::FieldLines<P, Tile, last> last_lines(lane, warp);
    tensor::SourceLines<P, Tile, Number> source(p.placement, p.src, lane, warp);
    while (source.go_on())
    {
      const tensor::Box &b = p.placement.boxes[source.box()];
      const auto table = [&](int d) {
        return p.tables + (d * tensor::n_ends + b.end[d]) * Pair::bytes;
      };
      Pair matrices;

      matrices.load(table(0), lane);
      __syncthreads(); // the fields of the group before have been read
      tensor::for_each_round<Tile>(warp, [&](int round) {
        matrices.first(source.take(round), [&](bool is_second, int i, C even, C odd) {
          x_lines.store(field[is_second], round, i, even, odd);
        });
      });
      matrices.load(table(1), lane); // does not wait for the barrier
      __syncthreads();

      if constexpr (Tile::dim == 3)
      {
        tensor::for_each_round<Tile>(warp, [&](int round) {
          const auto to_p = y_lines.load(field[0], round);
          const auto to_q = y_lines.load(field[1], round);
          __syncwarp(); // all lanes have read the lines before they are overwritten
          matrices.template second<false>(to_p, to_q, [&](bool is_second, int i, C even, C odd) {
            y_lines.store(field[is_second], round, i, even, odd);
          });
        });
        matrices.load(table(2), lane);
        __syncthreads();
      }
      const tensor::TargetLines<Tile, Number> target(p.placement, p.dst, source, lane, warp);
      tensor::for_each_round<Tile>(warp, [&](int round) {
        const auto to_p = last_lines.load(field[0], round);
        const auto to_q = last_lines.load(field[1], round);
        matrices.template second<true>(to_p, to_q,
            [&](bool, int i, C even, C odd) { target.store(p.add, round, i, even, odd); });
      });
    }
  }
}

template <typename P, typename Tile>
constexpr int staged_bytes = 2 * Tile::field_size *static_cast<int>(sizeof(typename P::C));

template <typename P, typename Tile, typename Number>
void apply_staged(const Arguments<Number> &a)
{
  const auto kernel = &staged_kernel<P, Tile, Number>;
  if constexpr (P::S::min_capability > 80)
    tensor::require_compiled_for(P::S::min_capability, kernel);
  tensor::launch_groups("launching the nodal operator on staged tensors", kernel, Tile::threads,
      staged_bytes<P, Tile>, a.stream, tensor::GroupParameters<Number>(a, Tile::tensors));
}

template <typename P, typename Tile>
std::vector<std::byte> pack_staged(const Matrices &matrices, int n)
{
  check_sizes(matrices, n);
  std::vector<std::byte> table;
  for (const auto &direction : matrices)
    for (const LineMatrices &line : direction)
      MatrixPair<P, Tile::n>::append(table, line);
  return table;
}

template <typename P, typename Tile, typename Number>
tensor::Resources staged_resources()
{
  constexpr int accesses = Tile::dim == 3 ? 8 : 4;
  return tensor::device_resources(&staged_kernel<P, Tile, Number>, Tile::threads,
      staged_bytes<P, Tile>, accesses * static_cast<int>(sizeof(typename P::C)));
}

/// The layout of a staging for numbers of the arithmetic.
template <Staging staging, int n, int bytes>
struct LayoutOf;
template <int n, int bytes>
struct LayoutOf<Staging::plain, n, bytes>
{
  using type = tensor::PlainLayout<n>;
};
template <int n, int bytes>
struct LayoutOf<Staging::padded, n, bytes> : tensor::PaddedLayoutOf<n, bytes>
{};
template <int n, int bytes>
struct LayoutOf<Staging::permuted, n, bytes> : tensor::PermutedLayoutOf<n, bytes>
{};

/// The kernel of a size known at run time, compiled for all of `sizes`.
template <typename S, int terms, typename Number, Staging staging, tensor::Sizes sizes>
Kernel<Number> staged_kernel_of(int dim, int n)
{
  using P = tensor::Product<S, terms>;
  return tensor::dispatch_size<Kernel<Number>, sizes>(dim, n, [](auto size) {
    using Layout = typename LayoutOf<staging, size.n, sizeof(typename P::C)>::type;
    using Tile = tensor::StagedTile<size.dim, size.n, Layout>;
    return Kernel<Number>{
        &apply_staged<P, Tile, Number>, &pack_staged<P, Tile>, &staged_resources<P, Tile, Number>};
  });
}

/// The same for all layouts, at the sizes at which they are compared.
template <typename S, int terms, typename Number>
Kernel<Number> compared_kernel(Staging staging, int dim, int n)
{
  constexpr tensor::Sizes sizes = tensor::Sizes::compared;
  switch (staging)
  {
    case Staging::plain:
      return staged_kernel_of<S, terms, Number, Staging::plain, sizes>(dim, n);
    case Staging::padded:
      return staged_kernel_of<S, terms, Number, Staging::padded, sizes>(dim, n);
    default:
      return staged_kernel_of<S, terms, Number, Staging::permuted, sizes>(dim, n);
  }
}
} // namespace tensormg::nodal
