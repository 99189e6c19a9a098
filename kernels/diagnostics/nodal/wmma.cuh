// The `wmma` backend: nvcuda::wmma. Its fragments are opaque, so everything passes through shared memory, and what is no
// multiple of a shape (wmma_products.cuh) is padded by zeros to `size` in x and y, to the depth of a product in z.
//
//   global u -> shared | lines along x: P, Q | along y: V, W | along z: y, all in place | -> global
//
// with a barrier at each bar (2D: without z). The constant matrix is operand A, lines are the columns of B, as
// in mma_staged.cuh; all three directions are possible because a leading dimension may be that of a plane.
#pragma once

#include <cstring>
#include <vector>

#include "kernels/device/launch.cuh"
#include "kernels/device/pack.cuh"
#include "kernels/device/shared_memory.cuh"
#include "kernels/diagnostics/nodal/nodal.h"
#include "kernels/diagnostics/nodal/reference.h"
#include "kernels/diagnostics/nodal/wmma_products.cuh"
#include "kernels/tensor/device_resources.cuh"
#include "kernels/tensor/placement.h"

namespace tensormg::nodal
{
template <typename Tile>
struct WmmaParameters
{
  tensor::Placement placement;
  const typename Tile::Field *tables; ///< [direction][End][mass, stiffness][term][i][a]
  const typename Tile::Number *src;
  typename Tile::Number *dst;
  int n;
  bool add;
};

/// Place in global memory of the entry that stands at `at` of a field; -1 for padding.
template <typename Tile>
__device__ inline std::int64_t wmma_position(
    const tensor::Placement &placement, int box, unsigned first, int n, int at)
{
  constexpr int width = Tile::width, copies = Tile::copies;
  const int z = at / Tile::plane, y = at / Tile::size % Tile::size, x = at % Tile::size;
  const int layer = Tile::dim == 3 ? z / width : z;
  const unsigned q =
      first + static_cast<unsigned>((layer * copies + y / width) * copies + x / width);
  const int i = x % width, j = y % width, k = Tile::dim == 3 ? z % width : 0;
  const bool exists = i < n && j < n && k < n && q < placement.boxes[box].n_tensors();
  return exists ? placement.position(box, q) + i + j * placement.stride[1] + k * placement.stride[2]
                : -1;
}

/// The fields of a block, whose padding becomes zero.
template <typename Tile>
__device__ __forceinline__ void prepare_fields(
    int n, int thread, typename Tile::Field *fields, WmmaField<Tile> &v, WmmaField<Tile> &w)
{
  for (int part = 0; part < Tile::parts; ++part)
  {
    v.part[part] = fields + Tile::begin_v(n, part) * Tile::plane;
    w.part[part] = fields + Tile::begin_w(n, part) * Tile::plane;
    for (int at = thread; at < Tile::padding(n) * Tile::plane; at += Tile::threads)
      fields[Tile::begin_padding(n, part) * Tile::plane + at] = typename Tile::Field(0.F);
  }
}

/// The tensors of a group from their fields to global memory.
template <typename Tile>
__device__ __forceinline__ void store_group(const WmmaParameters<Tile> &p, int box, unsigned first,
    int field_size, int thread, const WmmaField<Tile> &v)
{
  using C = Compute<typename Tile::Number>;
  for (int at = thread; at < field_size; at += Tile::threads)
    if (const std::int64_t position = wmma_position<Tile>(p.placement, box, first, p.n, at);
        position >= 0)
    {
      auto *to = p.dst + position;
      store_pack(to, Pack<C, 1>((p.add ? load_pack<1>(to).at[0] : C(0)) + v.get(at)));
    }
}

template <typename Tile>
__global__ void __launch_bounds__(Tile::threads)
    wmma_apply_kernel(const __grid_constant__ WmmaParameters<Tile> p)
{
  using namespace nvcuda;
  using Shape = typename Tile::Shape;
  using C = Compute<typename Tile::Number>;
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32;
  const int n = p.n, n_planes = Tile::planes(n), field_size = n_planes * Tile::plane;
  auto *fields = reinterpret_cast<typename Tile::Field *>(dynamic_shared());
  WmmaField<Tile> v, w;
  prepare_fields<Tile>(n, thread, fields, v, w);
  auto *scratch = reinterpret_cast<typename Shape::Sum *>(dynamic_shared() + Tile::field_bytes(n));
  WmmaWarp<Tile> products(n, scratch + warp * Tile::scratch, thread % 32);
  for (unsigned group = blockIdx.x; group < p.placement.n_groups(); group += gridDim.x)
  {
    const int box = p.placement.box_of(group);
    const unsigned first = (group - p.placement.begin[box]) * Tile::tensors;
    const auto table = [&](int d) {
      return p.tables +
          (d * tensor::n_ends + p.placement.boxes[box].end[d]) * 2 * Tile::terms *
          Tile::matrix_size;
    };
    for (int at = thread; at < field_size; at += Tile::threads)
    {
      const std::int64_t position = wmma_position<Tile>(p.placement, box, first, n, at);
      w.set(at, position >= 0 ? load_pack<1>(p.src + position).at[0] : C(0));
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
      for (int tile = warp; tile < Tile::extent(n) * Tile::columns; tile += Tile::warps)
      {
        const int at = tile / Tile::columns * Tile::size + tile % Tile::columns * Shape::n;
        products.template second<wmma::row_major, true>(v + at, w + at, Tile::plane, n_planes);
      }
      __syncthreads();
    }

    store_group(p, box, first, field_size, thread, v);
    __syncthreads();
  }
}

template <typename Tile>
void apply_wmma(const Arguments<typename Tile::Number> &a)
{
  WmmaParameters<Tile> p{tensor::make_placement(a.batch, Tile::tensors),
      reinterpret_cast<const typename Tile::Field *>(a.tables), a.src, a.dst, a.batch.n, a.add};
  if (p.placement.n_groups() == 0)
    return;
  const int bytes = Tile::bytes(a.batch.n);
  launch("launching the nodal operator by WMMA", &wmma_apply_kernel<Tile>,
      tensor::persistent_grid(&wmma_apply_kernel<Tile>, Tile::threads, Tile::bytes(Tile::largest),
          p.placement.n_groups()),
      dim3(Tile::threads), bytes, a.stream, p);
}

/// The rounded entry (term 0) or the rounded rest, times its scale.
template <typename Tile>
typename Tile::Field wmma_term(double entry, int term)
{
  const auto rounded = Tile::Shape::round(entry);
  if (term == 0)
    return rounded;
  if constexpr (std::is_same_v<typename Tile::Field, __half>)
    return Tile::Shape::round((entry - double(__half2float(rounded))) * double(Tile::rest_scale));
  else
    return Tile::Shape::round(entry - double(rounded));
}

template <typename Tile>
std::vector<std::byte> pack_wmma(const Matrices &matrices, int n)
{
  check_sizes(matrices, n);
  using Field = typename Tile::Field;
  std::vector<Field> numbers(3 * tensor::n_ends * 2 * Tile::terms * Tile::matrix_size, Field(0.F));
  int block = 0;
  for (const auto &direction : matrices)
    for (const LineMatrices &line : direction)
      for (const std::vector<double> *matrix : {&line.mass, &line.stiffness})
        for (int term = 0; term < Tile::terms; ++term, ++block)
          if (!matrix->empty())
            for (int at = 0; at < Tile::copies * n * n; ++at)
            {
              const int begin = at / (n * n) * Tile::width, i = at / n % n, a = at % n;
              numbers[block * Tile::matrix_size + (begin + i) * Tile::size + begin + a] =
                  wmma_term<Tile>((*matrix)[i * n + a], term);
            }
  return tensor::to_bytes(numbers);
}

template <typename Tile>
tensor::Resources wmma_resources()
{
  // Per entry: u written, read, P and Q written, read, V and W written, read, y written and read.
  constexpr int accesses = Tile::dim == 3 ? 12 : 8;
  return tensor::device_resources(&wmma_apply_kernel<Tile>, Tile::threads,
      Tile::bytes(Tile::largest),
      accesses * Tile::parts * static_cast<int>(sizeof(typename Tile::Field)));
}

template <typename Number, tensor::Arithmetic arithmetic, int size, int width = size>
Kernel<Number> wmma_kernel_of(int dim)
{
  using Cubes = WmmaTile<Number, arithmetic, 3, size, width>;
  using Squares = WmmaTile<Number, arithmetic, 2, size, width>;
  return dim == 3
      ? Kernel<Number>{&apply_wmma<Cubes>, &pack_wmma<Cubes>, &wmma_resources<Cubes>}
      : Kernel<Number>{&apply_wmma<Squares>, &pack_wmma<Squares>, &wmma_resources<Squares>};
}
} // namespace tensormg::nodal
