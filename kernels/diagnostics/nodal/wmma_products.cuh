// Products of one warp by nvcuda::wmma with the shapes that it has, 8 x 8 x 4 (FP64), 16 x 16 x 8 (TF32) and
// 16 x 16 x 16 (FP16), rounded or by the two-term split; the fields of a block of wmma.cuh in shared memory.
#pragma once

#include <type_traits>

#include <cuda_fp16.h>
#include <mma.h>

#include "kernels/core/half.h"
#include "kernels/mma/tf32.h"
#include "kernels/tensor/arithmetic.h"
#include "kernels/tensor/sizes.h"

namespace tensormg::nodal
{
/// Multiplicand, numbers in shared memory, accumulator and shape.
template <tensor::Arithmetic arithmetic>
struct WmmaShape
{
  using Multiplicand = nvcuda::wmma::precision::tf32;
  using Field = float;
  using Sum = float;
  static constexpr int m = 16, n = 16, k = 8;
  static Field round(double x) { return static_cast<float>(Tf32::round(static_cast<float>(x))); }
};
template <>
struct WmmaShape<tensor::Arithmetic::fp64>
{
  using Multiplicand = double;
  using Field = double;
  using Sum = double;
  static constexpr int m = 8, n = 8, k = 4;
  static Field round(double x) { return x; }
};
struct WmmaHalf
{
  using Multiplicand = __half;
  using Field = __half;
  using Sum = float;
  static constexpr int m = 16, n = 16, k = 16;
  static Field round(double x) { return __float2half_rn(static_cast<float>(x)); }
};
template <>
struct WmmaShape<tensor::Arithmetic::fp16> : WmmaHalf
{};
template <>
struct WmmaShape<tensor::Arithmetic::fp16x3> : WmmaHalf
{};

/// Tensors with n <= width, side by side in squares or cubes of `size` numbers per direction, a multiple of the shape and of the
/// width. The matrix of several side by side is block-diagonal, so that little of a product is padding where n is small.
template <typename Number_, tensor::Arithmetic arithmetic_, int dim_, int size_, int width_ = size_>
struct WmmaTile
{
  static_assert(size_ % width_ == 0);
  using Number = Number_;
  using Shape = WmmaShape<arithmetic_>;
  using Field = typename Shape::Field;
  static constexpr tensor::Arithmetic arithmetic = arithmetic_;
  static constexpr int terms = tensor::is_split(arithmetic) ? 2 : 1;
  /// Numbers that stand for one in shared memory: WMMA does not say which entry a lane has, so it takes the halves of a split
  /// from there; floats are split in the fragment.
  static constexpr int parts = arithmetic == tensor::Arithmetic::fp16x3 ? 2 : 1;
  static constexpr float rest_scale = tensor::rest_scale(arithmetic);
  static constexpr int dim = dim_;
  static constexpr int size = size_;
  static constexpr int width = width_;
  static constexpr int copies = size / width; ///< per direction
  static constexpr int squares = 8;           ///< of a block in 2D
  static constexpr int tensors = copies * copies * (dim == 3 ? copies : squares); ///< per block
  static constexpr int threads = size == 8 ? 128 : 256;
  static constexpr int warps = threads / 32;
  static constexpr int plane = size * size;
  static constexpr int rows = size / Shape::m;  ///< tiles of the matrix
  static constexpr int steps = size / Shape::k; ///< at most
  static constexpr int columns = size / Shape::n;
  static constexpr int matrix_size = size * size; ///< one term
  static constexpr int scratch = Shape::m * Shape::n;
  /// The largest N of this tile decides on the grid.
  static constexpr int largest = width < tensor::max_size ? width : tensor::max_size;

  /// Numbers per direction that are not padding behind all tensors.
  static constexpr int extent(int n) { return copies == 1 ? n : size; }
  static constexpr int planes(int n) { return dim == 3 ? extent(n) : squares; }
  /// Planes behind a field that products along z read with the zeros of the matrix: they have to be finite, and nobody may
  /// write them meanwhile.
  static constexpr int padding(int n)
  {
    return dim == 3 ? (planes(n) + Shape::k - 1) / Shape::k * Shape::k - planes(n) : 0;
  }

  /// Where a field begins, in planes: v, w, [rest of w,] padding, [rest of v, padding]. V is what the products along z replace,
  /// so what follows it is W or padding.
  static constexpr int begin_v(int n, int part)
  {
    return part == 0 ? 0 : 3 * planes(n) + padding(n);
  }
  static constexpr int begin_w(int n, int part) { return (1 + part) * planes(n); }
  static constexpr int begin_padding(int n, int part)
  {
    return part == 0 ? (1 + parts) * planes(n) : begin_v(n, 1) + planes(n);
  }
  static constexpr int field_bytes(int n)
  {
    return parts * (2 * planes(n) + padding(n)) * plane * static_cast<int>(sizeof(Field));
  }
  static constexpr int bytes(int n)
  {
    return field_bytes(n) + warps * scratch * static_cast<int>(sizeof(typename Shape::Sum));
  }
};

/// A field in shared memory.
template <typename Tile>
struct WmmaField
{
  typename Tile::Field *part[Tile::parts];

  __device__ WmmaField operator+(int offset) const
  {
    WmmaField result = *this;
    for (auto *&begin : result.part)
      begin += offset;
    return result;
  }

  template <typename C>
  __device__ void set(int at, C value) const
  {
    if constexpr (std::is_same_v<typename Tile::Field, __half>)
    {
      const __half rounded = __float2half_rn(value);
      part[0][at] = rounded;
      if constexpr (Tile::parts == 2)
        part[1][at] = __float2half_rn((value - __half2float(rounded)) * Tile::rest_scale);
    }
    else
      part[0][at] = value;
  }

  __device__ auto get(int at) const
  {
    if constexpr (Tile::parts == 2)
      return fmaf(__half2float(part[1][at]), 1.F / Tile::rest_scale, __half2float(part[0][at]));
    else if constexpr (std::is_same_v<typename Tile::Field, __half>)
      return __half2float(part[0][at]);
    else
      return part[0][at];
  }
};

/// One warp's products.
template <typename Tile>
class WmmaWarp
{
public:
  using Shape = typename Tile::Shape;
  using Number = typename Tile::Field;
  using Field = WmmaField<Tile>;
  using Sum = typename Shape::Sum;
  static constexpr int terms = Tile::terms;
  using FragmentA = nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, Shape::m, Shape::n, Shape::k,
      typename Shape::Multiplicand, nvcuda::wmma::row_major>;
  template <typename Order>
  using FragmentB = nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, Shape::m, Shape::n, Shape::k,
      typename Shape::Multiplicand, Order>;
  using FragmentC =
      nvcuda::wmma::fragment<nvcuda::wmma::accumulator, Shape::m, Shape::n, Shape::k, Sum>;

  /// Lines of a field as operands.
  template <typename Order>
  struct Lines
  {
    FragmentB<Order> step[Tile::steps][terms];
  };

  __device__ WmmaWarp(int n, Sum *scratch, int lane)
    : extent_(Tile::extent(n))
    , scratch_(scratch)
    , lane_(lane)
  {}

  /// M and S of a direction.
  __device__ void load(const Number *table)
  {
#pragma unroll
    for (int matrix = 0; matrix < 2; ++matrix)
#pragma unroll
      for (int row = 0; row < Tile::rows; ++row)
#pragma unroll
        for (int step = 0; step < Tile::steps; ++step)
#pragma unroll
          for (int term = 0; term < terms; ++term)
            if (step * Shape::k < extent_)
              nvcuda::wmma::load_matrix_sync(a_[matrix][row][step][term],
                  table + (matrix * terms + term) * Tile::matrix_size +
                      row * Shape::m * Tile::size + step * Shape::k,
                  Tile::size);
  }

  /// (P, Q) = (M u, S u) for Shape::n lines. Entry k of line j lies at u + j + k ld (row_major) or at
  /// u + j ld + k (col_major), u is overwritten by Q.
  template <typename Order>
  __device__ void first(Field p, Field u, int ld) const
  {
    Lines<Order> b;
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
  __device__ void second(Field p, Field q, int ld, int limit) const
  {
    Lines<Order> to_p, to_q;
    load_lines(to_p, p, ld);
    load_lines(to_q, q, ld);
    __syncwarp();
#pragma unroll
    for (int row = 0; row < Tile::rows; ++row)
    {
      Result w;
      add_product(w, a_[1][row], to_p);
      add_product(w, a_[0][row], to_q);
      const int valid = limit - row * Shape::m;
      if constexpr (!only_w)
        store<Order>(product(a_[0][row], to_p), p, row, ld, valid);
      store<Order>(w, only_w ? p : q, row, ld, valid);
    }
  }

private:
  /// Accumulators; of the split in FP16 a second set for the terms that carry the scale.
  struct Result
  {
    static constexpr bool has_rest = Tile::parts == 2;
    FragmentC main;
    FragmentC rest; ///< unused unless has_rest

    __device__ Result()
    {
      nvcuda::wmma::fill_fragment(main, Sum(0));
      if constexpr (has_rest)
        nvcuda::wmma::fill_fragment(rest, Sum(0));
    }
    __device__ FragmentC &of_rest() { return has_rest ? rest : main; }
    __device__ FragmentC get() const
    {
      FragmentC sum = main;
      if constexpr (has_rest)
        for (int e = 0; e < sum.num_elements; ++e)
          sum.x[e] = fmaf(rest.x[e], 1.F / Tile::rest_scale, sum.x[e]);
      return sum;
    }
  };

  template <typename Order>
  __device__ void load_lines(Lines<Order> &b, Field from, int ld) const
  {
    constexpr bool by_rows = std::is_same_v<Order, nvcuda::wmma::row_major>;
#pragma unroll
    for (int step = 0; step < Tile::steps; ++step)
      if (step * Shape::k < extent_)
      {
        const int at = step * Shape::k * (by_rows ? ld : 1);
#pragma unroll
        for (int part = 0; part < Tile::parts; ++part)
          nvcuda::wmma::load_matrix_sync(b.step[step][part], from.part[part] + at, ld);
        if constexpr (std::is_same_v<typename Shape::Multiplicand, nvcuda::wmma::precision::tf32>)
          round(b.step[step]);
      }
  }

  /// Floats to TF32, in the split with the rest as second term.
  template <typename Fragment>
  __device__ static void round(Fragment (&b)[terms])
  {
#pragma unroll
    for (int e = 0; e < b[0].num_elements; ++e)
    {
      const float value = b[0].x[e];
      b[0].x[e] = nvcuda::wmma::__float_to_tf32(value);
      if constexpr (terms == 2)
        b[1].x[e] = nvcuda::wmma::__float_to_tf32(value - b[0].x[e]);
    }
  }

  template <typename Order>
  __device__ void add_product(
      Result &sum, const FragmentA (&a)[Tile::steps][terms], const Lines<Order> &b) const
  {
    using nvcuda::wmma::mma_sync;
#pragma unroll
    for (int step = 0; step < Tile::steps; ++step)
      if (step * Shape::k < extent_)
      {
        if constexpr (terms == 2)
        {
          mma_sync(sum.of_rest(), a[step][1], b.step[step][0], sum.of_rest());
          mma_sync(sum.of_rest(), a[step][0], b.step[step][1], sum.of_rest());
        }
        mma_sync(sum.main, a[step][0], b.step[step][0], sum.main);
      }
  }

  template <typename Order>
  __device__ Result product(const FragmentA (&a)[Tile::steps][terms], const Lines<Order> &b) const
  {
    Result sum;
    add_product(sum, a, b);
    return sum;
  }

  /// Tile `row` of the results; only `valid` rows of it, if there are fewer than it has.
  template <typename Order>
  __device__ void store(const Result &result, Field field, int row, int ld, int valid) const
  {
    using namespace nvcuda;
    constexpr bool by_rows = std::is_same_v<Order, wmma::row_major>;
    const Field to = field + row * Shape::m * (by_rows ? ld : 1);
    const FragmentC sum = result.get();
    if constexpr (std::is_same_v<Number, Sum>)
      if (valid >= Shape::m)
      {
        wmma::store_matrix_sync(
            to.part[0], sum, ld, by_rows ? wmma::mem_row_major : wmma::mem_col_major);
        return;
      }
    __syncwarp();
    wmma::store_matrix_sync(scratch_, sum, Shape::n, wmma::mem_row_major);
    __syncwarp();
    for (int at = lane_; at < Tile::scratch; at += 32)
    {
      const int i = at / Shape::n, j = at % Shape::n;
      if (i < valid)
        to.set(by_rows ? i * ld + j : j * ld + i, scratch_[at]);
    }
  }

  int extent_;
  Sum *scratch_;
  int lane_;
  FragmentA a_[2][Tile::rows][Tile::steps][terms];
};
} // namespace tensormg::nodal
