// The work of one block of the CUDA-core kernels, in which a thread has whole lines of tensors, and the
// layouts of shared memory in which lanes meet no or few bank conflicts along all directions.
#pragma once

#include <type_traits>

#include "kernels/tensor/tensor_layout.h"

namespace tensormg::tensor
{
/// Lanes hold neighbouring lines, whatever their direction: they read entries that are x, y ld or z plane
/// apart. Powers of two are permuted so that every such access is free of conflicts; the others are padded by
/// what a search over ld and plane found to be best.
template <int n, int bytes>
struct LineLayoutOf;

template <>
struct LineLayoutOf<2, 8>
{
  using type = TensorLayout<2, 4, BitOf{Axis::y, 0, 0}, BitOf{Axis::z, 2, 1}, BitOf{Axis::z, 2, 2}>;
};
template <>
struct LineLayoutOf<2, 4>
{
  using type = TensorLayout<2, 4, BitOf{Axis::y, 0, 0}, BitOf{Axis::z, 3, 1}, BitOf{Axis::z, 3, 2}>;
};
template <>
struct LineLayoutOf<4, 8>
{
  using type = TensorLayout<4, 16, BitOf{Axis::y, 0, 0}, BitOf{Axis::y, 1, 1}, BitOf{Axis::z, 0, 2},
      BitOf{Axis::z, 1, 3}>;
};
template <>
struct LineLayoutOf<4, 4>
{
  using type = TensorLayout<4, 16, BitOf{Axis::y, 0, 0}, BitOf{Axis::y, 1, 1}, BitOf{Axis::z, 1, 2},
      BitOf{Axis::z, 2, 3}, BitOf{Axis::z, 2, 4}>;
};
template <>
struct LineLayoutOf<8, 8>
{
  using type = TensorLayout<8, 64, BitOf{Axis::y, 1, 0}, BitOf{Axis::y, 2, 1}, BitOf{Axis::z, 0, 2},
      BitOf{Axis::z, 0, 3}>;
};
template <>
struct LineLayoutOf<8, 4>
{
  using type = TensorLayout<8, 64, BitOf{Axis::y, 2, 0}, BitOf{Axis::z, 0, 1}, BitOf{Axis::z, 1, 2},
      BitOf{Axis::z, 0, 3}, BitOf{Axis::z, 1, 4}>;
};
template <>
struct LineLayoutOf<16, 8>
{
  using type = TensorLayout<17, 272>;
};
template <>
struct LineLayoutOf<16, 4>
{
  using type = TensorLayout<16, 256, BitOf{Axis::y, 1, 0}, BitOf{Axis::y, 2, 1},
      BitOf{Axis::y, 3, 2}, BitOf{Axis::z, 0, 3}, BitOf{Axis::z, 0, 4}>;
};
template <int bytes>
struct LineLayoutOf<3, bytes>
{
  using type = TensorLayout<3, 9>;
};
template <int bytes>
struct LineLayoutOf<5, bytes>
{
  using type = TensorLayout<5, 25>;
};
template <int bytes>
struct LineLayoutOf<6, bytes>
{
  using type = std::conditional_t<bytes == 8, TensorLayout<9, 54>, TensorLayout<7, 42>>;
};
template <int bytes>
struct LineLayoutOf<7, bytes>
{
  using type = std::conditional_t<bytes == 8, TensorLayout<7, 55>, TensorLayout<8, 71>>;
};
template <int bytes>
struct LineLayoutOf<9, bytes>
{
  using type = std::conditional_t<bytes == 8, TensorLayout<9, 89>, TensorLayout<9, 81>>;
};
template <int bytes>
struct LineLayoutOf<10, bytes>
{
  using type = TensorLayout<10, 101>;
};
template <int bytes>
struct LineLayoutOf<12, bytes>
{
  using type = TensorLayout<13, 156>;
};
template <int bytes>
struct LineLayoutOf<14, bytes>
{
  using type = TensorLayout<17, 238>;
};
template <int bytes>
struct LineLayoutOf<18, bytes>
{
  using type = std::conditional_t<bytes == 8, TensorLayout<19, 342>, TensorLayout<18, 329>>;
};

/// One line of the tensors of a block: entries k = 0, ..., n - 1 along a direction.
struct LineIndex
{
  int tensor; ///< in the block
  int slow;   ///< of the other two indices the slower one; 0 in 2D
  int fast;   ///< the faster one
};

/// C: number type of the arithmetic.
template <typename C_, int dim_, int n_>
struct LineTile
{
  using C = C_;
  using Layout = typename LineLayoutOf<n_, sizeof(C)>::type;
  static constexpr int dim = dim_;
  static constexpr int n = n_;
  /// A matrix coefficient that a thread has read serves so many lines.
  static constexpr int lines_per_thread = n * int(sizeof(C)) <= 64 ? 2 : 1;
  static constexpr int lines_per_tensor = dim == 3 ? n * n : n;
  static constexpr int planes_per_tensor = dim == 3 ? n : 1;

private:
  static constexpr int most_threads = n <= 8 ? 128 : n <= 16 ? 256 : 352;
  static constexpr int threads_for(int tensors)
  {
    const int threads = (tensors * lines_per_tensor + lines_per_thread - 1) / lines_per_thread;
    return (threads + 31) / 32 * 32;
  }
  /// As many tensors as leave the smallest part of the threads idle.
  static constexpr int best_tensors()
  {
    int best = 1;
    for (int tensors = 2; threads_for(tensors) <= most_threads; ++tensors)
      if (tensors * threads_for(best) >= best * threads_for(tensors))
        best = tensors;
    return best;
  }

public:
  static constexpr int tensors = best_tensors(); ///< per block
  static constexpr int threads = threads_for(tensors);
  /// Blocks that registers must leave room for: 16 warps, 128 registers per thread, or 12 warps and 168.
  static constexpr int resident_threads = lines_per_thread * n < 32 ? 512 : 384;
  static constexpr int resident = resident_threads < threads ? 1 : resident_threads / threads;
  /// Entries of a line whose sums are unrolled together.
  static constexpr int unroll = n <= 7 ? n : 2;
  static constexpr int lines = tensors * lines_per_tensor;
  static constexpr int planes = tensors * planes_per_tensor;
  /// Numbers of one field (all tensors of the block) in shared memory, a multiple of 16 bytes.
  static constexpr int field_size = (planes * Layout::plane + 3) / 4 * 4;
  /// Coefficients are read 16 bytes at a time: rows of a matrix in shared memory are padded to that.
  static constexpr int width = 16 / int(sizeof(C));
  static constexpr int row = (n + width - 1) / width * width;
  static constexpr int matrix_size = n * row;

  static constexpr LineIndex line(int index)
  {
    if constexpr (dim == 3)
      return {index / (n * n), index / n % n, index % n};
    else
      return {index / n, 0, index % n};
  }

  /// Offset of entry k of a line along direction d (0 is x).
  template <int d>
  static constexpr int offset(const LineIndex &line, int k)
  {
    if constexpr (dim == 2)
      return d == 0 ? Layout()(line.tensor, line.fast, k) : Layout()(line.tensor, k, line.fast);
    else if constexpr (d == 0)
      return Layout()(line.tensor * n + line.slow, line.fast, k);
    else if constexpr (d == 1)
      return Layout()(line.tensor * n + line.slow, k, line.fast);
    else
      return Layout()(line.tensor * n + k, line.slow, line.fast);
  }
};
} // namespace tensormg::tensor
