// The `wmma` backend: nvcuda::wmma with the shapes that it has, 8 x 8 x 4 (FP64), 16 x 16 x 8 (TF32) and
// 16 x 16 x 16 (FP16). Its fragments are opaque, so everything passes through shared memory, and what is no
// multiple of a shape is padded by zeros to `size` in x and y, to the depth of a product in z.
//
//   global u -> shared | lines along x: P, Q | along y: V, W | along z: y, all in place | -> global
//
// with a barrier at each bar (2D: without z). The constant matrix is operand A, lines are the columns of B, as
// in mma_staged.cuh; all three directions are possible because a leading dimension may be that of a plane.
#pragma once

#include <cstring>
#include <vector>

#include <cuda_fp16.h>
#include <mma.h>

#include "kernels/core/launch.cuh"
#include "kernels/core/pack.cuh"
#include "kernels/core/shared_memory.cuh"
#include "kernels/mma/tf32.h"
#include "kernels/nodal/nodal.h"
#include "kernels/nodal/reference.h"
#include "kernels/tensor/device_resources.cuh"
#include "kernels/tensor/placement.h"

namespace tensormg::nodal
{
/// Multiplicand, numbers in shared memory, accumulator and shape for a number type in global memory.
template <typename Number>
struct WmmaShape;
template <>
struct WmmaShape<double>
{
  using Multiplicand = double;
  using Field = double;
  using Sum = double;
  static constexpr int m = 8, n = 8, k = 4;
  static Field round(double x) { return x; }
};
template <>
struct WmmaShape<float>
{
  using Multiplicand = nvcuda::wmma::precision::tf32;
  using Field = float;
  using Sum = float;
  static constexpr int m = 16, n = 16, k = 8;
  static Field round(double x) { return static_cast<float>(Tf32::round(static_cast<float>(x))); }
};
template <>
struct WmmaShape<Half>
{
  using Multiplicand = __half;
  using Field = __half;
  using Sum = float;
  static constexpr int m = 16, n = 16, k = 16;
  static Field round(double x) { return __float2half_rn(static_cast<float>(x)); }
};

/// Tensors with n <= size; size is a multiple of the shape.
template <typename Number_, int dim_, int size_>
struct WmmaTile
{
  using Number = Number_;
  using Shape = WmmaShape<Number>;
  using Field = typename Shape::Field;
  static constexpr int dim = dim_;
  static constexpr int size = size_;
  static constexpr int tensors = dim == 3 ? 1 : 8; ///< per block
  static constexpr int threads = size == 8 ? 128 : 256;
  static constexpr int warps = threads / 32;
  static constexpr int plane = size * size;
  static constexpr int rows = size / Shape::m;  ///< tiles of the matrix
  static constexpr int steps = size / Shape::k; ///< at most
  static constexpr int columns = size / Shape::n;
  static constexpr int matrix_size = size * size;
  static constexpr int scratch = Shape::m * Shape::n;

  /// Planes of a field: z is padded for the products along it.
  static constexpr int planes(int n)
  {
    return dim == 3 ? (n + Shape::k - 1) / Shape::k * Shape::k : tensors;
  }
  /// The largest N of this tile decides on the grid.
  static constexpr int largest = size < tensor::max_size ? size : tensor::max_size;
  static constexpr int bytes(int n)
  {
    return 2 * planes(n) * plane * static_cast<int>(sizeof(Field)) +
        warps * scratch * static_cast<int>(sizeof(typename Shape::Sum));
  }
};

template <typename Number>
struct WmmaParameters
{
  tensor::Placement placement;
  const typename WmmaShape<Number>::Field *tables; ///< [direction][End][mass, stiffness][i][a]
  const Number *src;
  Number *dst;
  int n;
  bool add;
};

/// One warp's products.
template <typename Tile>
class WmmaWarp
{
public:
  using Shape = typename Tile::Shape;
  using Field = typename Tile::Field;
  using Sum = typename Shape::Sum;
  using FragmentA = nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, Shape::m, Shape::n, Shape::k,
      typename Shape::Multiplicand, nvcuda::wmma::row_major>;
  template <typename Order>
  using FragmentB = nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, Shape::m, Shape::n, Shape::k,
      typename Shape::Multiplicand, Order>;
  using FragmentC =
      nvcuda::wmma::fragment<nvcuda::wmma::accumulator, Shape::m, Shape::n, Shape::k, Sum>;

  __device__ WmmaWarp(int n, Sum *scratch, int lane)
    : n_(n)
    , scratch_(scratch)
    , lane_(lane)
  {}

  /// M and S of a direction.
  __device__ void load(const Field *table)
  {
#pragma unroll
    for (int matrix = 0; matrix < 2; ++matrix)
#pragma unroll
      for (int row = 0; row < Tile::rows; ++row)
#pragma unroll
        for (int step = 0; step < Tile::steps; ++step)
          if (step * Shape::k < n_)
            nvcuda::wmma::load_matrix_sync(a_[matrix][row][step],
                table + matrix * Tile::matrix_size + row * Shape::m * Tile::size + step * Shape::k,
                Tile::size);
  }

  /// (P, Q) = (M u, S u) for Shape::n lines. Entry k of line j lies at u + j + k ld (row_major) or at
  /// u + j ld + k (col_major), u is overwritten by Q.
  template <typename Order>
  __device__ void first(Field *p, Field *u, int ld) const
  {
    FragmentB<Order> b[Tile::steps];
    load_lines(b, u, ld);
    __syncwarp();
#pragma unroll
    for (int row = 0; row < Tile::rows; ++row)
    {
      store<Order>(product(a_[0][row], b), p, row, ld, Shape::m);
      store<Order>(product(a_[1][row], b), u, row, ld, Shape::m);
    }
  }

  /// (V, W) = (M p, S p + M q) in place. With only_w W takes the place of p, entries 0, ..., limit - 1.
  template <typename Order, bool only_w>
  __device__ void second(Field *p, Field *q, int ld, int limit) const
  {
    FragmentB<Order> to_p[Tile::steps], to_q[Tile::steps];
    load_lines(to_p, p, ld);
    load_lines(to_q, q, ld);
    __syncwarp();
#pragma unroll
    for (int row = 0; row < Tile::rows; ++row)
    {
      FragmentC w = product(a_[1][row], to_p);
      add_product(w, a_[0][row], to_q);
      const int valid = limit - row * Shape::m;
      if constexpr (!only_w)
        store<Order>(product(a_[0][row], to_p), p, row, ld, valid);
      store<Order>(w, only_w ? p : q, row, ld, valid);
    }
  }

private:
  template <typename Order>
  __device__ void load_lines(FragmentB<Order> (&b)[Tile::steps], const Field *from, int ld) const
  {
    constexpr bool by_rows = std::is_same_v<Order, nvcuda::wmma::row_major>;
#pragma unroll
    for (int step = 0; step < Tile::steps; ++step)
      if (step * Shape::k < n_)
      {
        nvcuda::wmma::load_matrix_sync(b[step], from + step * Shape::k * (by_rows ? ld : 1), ld);
        if constexpr (std::is_same_v<typename Tile::Number, float>)
        {
#pragma unroll
          for (int e = 0; e < b[step].num_elements; ++e)
            b[step].x[e] = nvcuda::wmma::__float_to_tf32(b[step].x[e]);
        }
      }
  }

  template <typename Order>
  __device__ void add_product(FragmentC &sum, const FragmentA (&a)[Tile::steps],
      const FragmentB<Order> (&b)[Tile::steps]) const
  {
#pragma unroll
    for (int step = 0; step < Tile::steps; ++step)
      if (step * Shape::k < n_)
        nvcuda::wmma::mma_sync(sum, a[step], b[step], sum);
  }

  template <typename Order>
  __device__ FragmentC product(
      const FragmentA (&a)[Tile::steps], const FragmentB<Order> (&b)[Tile::steps]) const
  {
    FragmentC sum;
    nvcuda::wmma::fill_fragment(sum, Sum(0));
    add_product(sum, a, b);
    return sum;
  }

  /// Tile `row` of the results; only `valid` rows of it, if there are fewer than it has.
  template <typename Order>
  __device__ void store(const FragmentC &sum, Field *to, int row, int ld, int valid) const
  {
    using namespace nvcuda;
    constexpr bool by_rows = std::is_same_v<Order, wmma::row_major>;
    to += row * Shape::m * (by_rows ? ld : 1);
    if constexpr (std::is_same_v<Field, Sum>)
      if (valid >= Shape::m)
      {
        wmma::store_matrix_sync(to, sum, ld, by_rows ? wmma::mem_row_major : wmma::mem_col_major);
        return;
      }
    __syncwarp();
    wmma::store_matrix_sync(scratch_, sum, Shape::n, wmma::mem_row_major);
    __syncwarp();
    for (int at = lane_; at < Tile::scratch; at += 32)
    {
      const int i = at / Shape::n, j = at % Shape::n;
      if (i < valid)
      {
        if constexpr (std::is_same_v<Field, __half>)
          to[by_rows ? i * ld + j : j * ld + i] = __float2half_rn(scratch_[at]);
        else
          to[by_rows ? i * ld + j : j * ld + i] = scratch_[at];
      }
    }
  }

  int n_;
  Sum *scratch_;
  int lane_;
  FragmentA a_[2][Tile::rows][Tile::steps];
};

/// Place in global memory of the entry that stands at `at` of a field; -1 for padding.
template <typename Tile>
__device__ inline std::int64_t wmma_position(
    const tensor::Placement &placement, int box, unsigned first, int n, int at)
{
  const int z = at / Tile::plane, y = at / Tile::size % Tile::size, x = at % Tile::size;
  const unsigned q = first + static_cast<unsigned>(Tile::dim == 3 ? 0 : z);
  const bool exists =
      x < n && y < n && (Tile::dim == 3 ? z < n : q < placement.boxes[box].n_tensors());
  return exists ? placement.position(box, q) + x + y * placement.stride[1] +
          (Tile::dim == 3 ? z * placement.stride[2] : 0)
                : -1;
}

template <typename Tile>
__global__ void __launch_bounds__(Tile::threads)
    wmma_apply_kernel(const __grid_constant__ WmmaParameters<typename Tile::Number> p)
{
  using namespace nvcuda;
  using Number = typename Tile::Number;
  using Shape = typename Tile::Shape;
  using Field = typename Tile::Field;
  using C = Compute<Number>;
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32;
  const int n = p.n, field_size = Tile::planes(n) * Tile::plane;
  auto *v = reinterpret_cast<Field *>(dynamic_shared());
  Field *w = v + field_size;
  auto *scratch = reinterpret_cast<typename Shape::Sum *>(w + field_size);
  WmmaWarp<Tile> products(n, scratch + warp * Tile::scratch, thread % 32);
  const int n_planes = Tile::dim == 3 ? n : Tile::tensors;
  for (unsigned group = blockIdx.x; group < p.placement.n_groups(); group += gridDim.x)
  {
    const int box = p.placement.box_of(group);
    const unsigned first = (group - p.placement.begin[box]) * Tile::tensors;
    const auto table = [&](int d) {
      return p.tables +
          (d * tensor::n_ends + p.placement.boxes[box].end[d]) * 2 * Tile::matrix_size;
    };
    for (int at = thread; at < field_size; at += Tile::threads)
    {
      const std::int64_t position = wmma_position<Tile>(p.placement, box, first, n, at);
      const C u = position >= 0 ? load_pack<1>(p.src + position).at[0] : C(0);
      if constexpr (std::is_same_v<Field, __half>)
        w[at] = __float2half_rn(u);
      else
        w[at] = u;
      if (at >= n_planes * Tile::plane)
        v[at] = Field(0.F); // the padding in z: of w it was set above
    }
    __syncthreads();

    products.load(table(0));
    for (int tile = warp; tile < n_planes * Tile::size / Shape::n; tile += Tile::warps)
    {
      const int at = tile * Shape::n * Tile::size;
      products.template first<wmma::col_major>(v + at, w + at, Tile::size);
    }
    __syncthreads();

    products.load(table(1));
    for (int tile = warp; tile < n_planes * Tile::columns; tile += Tile::warps)
    {
      const int at = tile / Tile::columns * Tile::plane + tile % Tile::columns * Shape::n;
      products.template second<wmma::row_major, Tile::dim == 2>(
          v + at, w + at, Tile::size, Tile::size);
    }
    __syncthreads();

    if constexpr (Tile::dim == 3)
    {
      products.load(table(2));
      for (int tile = warp; tile < n * Tile::columns; tile += Tile::warps)
      {
        const int at = tile / Tile::columns * Tile::size + tile % Tile::columns * Shape::n;
        products.template second<wmma::row_major, true>(v + at, w + at, Tile::plane, n);
      }
      __syncthreads();
    }

    for (int at = thread; at < n_planes * Tile::plane; at += Tile::threads)
      if (const std::int64_t position = wmma_position<Tile>(p.placement, box, first, n, at);
          position >= 0)
      {
        Number *to = p.dst + position;
        C y = p.add ? load_pack<1>(to).at[0] : C(0);
        if constexpr (std::is_same_v<Field, __half>)
          y += __half2float(v[at]);
        else
          y += v[at];
        store_pack(to, Pack<C, 1>(y));
      }
    __syncthreads();
  }
}

template <typename Tile>
void apply_wmma(const Arguments<typename Tile::Number> &a)
{
  WmmaParameters<typename Tile::Number> p{tensor::make_placement(a.batch, Tile::tensors),
      reinterpret_cast<const typename Tile::Field *>(a.tables), a.src, a.dst, a.batch.n, a.add};
  if (p.placement.n_groups() == 0)
    return;
  const int bytes = Tile::bytes(a.batch.n);
  launch("launching the nodal operator by WMMA", &wmma_apply_kernel<Tile>,
      tensor::persistent_grid(&wmma_apply_kernel<Tile>, Tile::threads, Tile::bytes(Tile::largest),
          p.placement.n_groups()),
      dim3(Tile::threads), bytes, a.stream, p);
}

template <typename Tile>
std::vector<std::byte> pack_wmma(const Matrices &matrices, int n)
{
  check_sizes(matrices, n);
  using Field = typename Tile::Field;
  std::vector<Field> numbers(3 * tensor::n_ends * 2 * Tile::matrix_size, Field(0.F));
  int block = 0;
  for (const auto &direction : matrices)
    for (const LineMatrices &line : direction)
      for (const std::vector<double> *matrix : {&line.mass, &line.stiffness})
      {
        if (!matrix->empty())
          for (int i = 0; i < n; ++i)
            for (int a = 0; a < n; ++a)
              numbers[block * Tile::matrix_size + i * Tile::size + a] =
                  Tile::Shape::round((*matrix)[i * n + a]);
        ++block;
      }
  std::vector<std::byte> bytes(numbers.size() * sizeof(Field));
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

template <typename Tile>
tensor::Resources wmma_resources()
{
  // Per entry: u written, read, P and Q written, read, V and W written, read, y written and read.
  constexpr int accesses = Tile::dim == 3 ? 12 : 8;
  return tensor::device_resources(&wmma_apply_kernel<Tile>, Tile::threads,
      Tile::bytes(Tile::largest), accesses * static_cast<int>(sizeof(typename Tile::Field)));
}

template <typename Number, int size>
Kernel<Number> wmma_kernel_of(int dim)
{
  using Cubes = WmmaTile<Number, 3, size>;
  using Squares = WmmaTile<Number, 2, size>;
  return dim == 3
      ? Kernel<Number>{&apply_wmma<Cubes>, &pack_wmma<Cubes>, &wmma_resources<Cubes>}
      : Kernel<Number>{&apply_wmma<Squares>, &pack_wmma<Squares>, &wmma_resources<Squares>};
}
} // namespace tensormg::nodal
