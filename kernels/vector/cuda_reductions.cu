// Sums over vectors in device memory. A thread takes every (gridDim * blockDim)-th word of 16 bytes, all
// vectors of the pass at once, so that its loads are in flight together: 1024 threads per multiprocessor
// with two words each are 32 KiB, which hides the latency of the memory at full bandwidth.
#include <array>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "kernels/core/pack.cuh"
#include "kernels/vector/cuda_reduction.cuh"

namespace tensormg::vector_kernels::cuda
{
namespace
{
  constexpr int threads = reduction_threads;
  constexpr int blocks_per_multiprocessor = 4;

  /// Numbers in 16 bytes.
  template <typename Number>
  constexpr int word = 16 / static_cast<int>(sizeof(Number));

  /// use(position, load(position)) for the words of this thread, `batch` loads ahead.
  template <int batch, typename Load, typename Use>
  __device__ void for_each_word(std::int64_t words, const Load &load, const Use &use)
  {
    const std::int64_t stride = std::int64_t(gridDim.x) * threads;
    std::int64_t at = std::int64_t(blockIdx.x) * threads + threadIdx.x;
    for (; at + (batch - 1) * stride < words; at += batch * stride)
    {
      decltype(load(at)) loaded[batch];
#pragma unroll
      for (int i = 0; i < batch; ++i)
        loaded[i] = load(at + i * stride);
#pragma unroll
      for (int i = 0; i < batch; ++i)
        use(at + i * stride, loaded[i]);
    }
    for (; at < words; at += stride)
    {
      auto loaded = load(at);
      use(at, loaded);
    }
  }

  template <typename C, int width, int count>
  struct Packs
  {
    Pack<C, width> of[count];
  };

  template <typename C, int width>
  __device__ void add_products(double &sum, const Pack<C, width> &a, const Pack<C, width> &b)
  {
#pragma unroll
    for (int w = 0; w < width; ++w)
      sum = fma(double(a.at[w]), double(b.at[w]), sum);
  }

  /// largest = max(largest, |a|)
  template <typename C, int width>
  __device__ void enlarge(C &largest, const Pack<C, width> &a)
  {
    constexpr C infinity = std::numeric_limits<C>::infinity();
#pragma unroll
    for (int w = 0; w < width; ++w)
    {
      // A comparison with NaN is false: it counts as infinite.
      const C size = a.at[w] < 0 ? -a.at[w] : a.at[w];
      largest = size <= largest ? largest : size < infinity ? size : infinity;
    }
  }

  template <typename Number>
  __global__ void __launch_bounds__(threads, blocks_per_multiprocessor)
      dot_kernel(std::int64_t words, const Number *x, const Number *y, double *partial)
  {
    using C = Compute<Number>;
    constexpr int width = word<Number>;
    double sum[1] = {0.};
    for_each_word<width == 8 ? 1 : 2>(
        words,
        [&](std::int64_t at) {
          return Packs<C, width, 2>{
              load_pack<width>(x + at * width), load_pack<width>(y + at * width)};
        },
        [&](std::int64_t, const Packs<C, width, 2> &p) { add_products(sum[0], p.of[0], p.of[1]); });
    reduce_block<Sum>(sum, partial + blockIdx.x, 1);
  }

  template <typename Number>
  __global__ void __launch_bounds__(threads, blocks_per_multiprocessor)
      max_abs_kernel(std::int64_t words, const Number *x, double *partial)
  {
    using C = Compute<Number>;
    constexpr int width = word<Number>;
    C largest = 0;
    for_each_word<width == 8 ? 2 : 4>(
        words, [&](std::int64_t at) { return load_pack<width>(x + at * width); },
        [&](std::int64_t, const Pack<C, width> &value) { enlarge(largest, value); });
    const double result[1] = {double(largest)};
    reduce_block<Maximum>(result, partial + blockIdx.x, 1);
  }

  template <int count>
  struct DotVectors
  {
    const double *v[count > 0 ? count : 1];
    const double *w;
  };

  /// The dots of `count` vectors with w, and w'w if with_norm.
  template <int count, bool with_norm>
  __global__ void __launch_bounds__(threads, blocks_per_multiprocessor) multi_dot_kernel(
      std::int64_t words, const __grid_constant__ DotVectors<count> vectors, double *partial)
  {
    using Words = Packs<double, 2, count + 1>;
    constexpr int sums = count + (with_norm ? 1 : 0);
    double sum[sums];
#pragma unroll
    for (int i = 0; i < sums; ++i)
      sum[i] = 0.;
    for_each_word < count == 0 ? 4
                               : count<4 ? 2 : 1>(
                                     words,
                                     [&](std::int64_t at) {
                                       Words p;
#pragma unroll
                                       for (int i = 0; i < count; ++i)
                                         p.of[i] = load_pack<2>(vectors.v[i] + 2 * at);
                                       p.of[count] = load_pack<2>(vectors.w + 2 * at);
                                       return p;
                                     },
                                     [&](std::int64_t, const Words &p) {
#pragma unroll
                                       for (int i = 0; i < sums; ++i)
                                         add_products(sum[i], p.of[i], p.of[count]);
                                     });
    reduce_block<Sum>(sum, partial + blockIdx.x, gridDim.x);
  }

  constexpr int vectors_per_group = 7;

  struct UpdateVectors
  {
    const double *v[max_vectors];
    double c[max_vectors];
    int groups; ///< of vectors_per_group vectors
    double *w;
  };

  /// The vectors in groups whose loads are in flight together, and `rest` more.
  template <int rest>
  __global__ void __launch_bounds__(threads, blocks_per_multiprocessor)
      multi_update_kernel(std::int64_t words, const __grid_constant__ UpdateVectors vectors,
          double *partial, double *largest_partial)
  {
    using Words = Packs<double, 2, rest + 1>;
    double sum[1] = {0.}, largest[1] = {0.};
    for_each_word < rest == 0
        ? 1
        : rest<4 ? 2 : 1>(
              words,
              [&](std::int64_t at) {
                const int first = vectors.groups * vectors_per_group;
                Words p;
                p.of[rest] = load_pack<2>(vectors.w + 2 * at);
#pragma unroll
                for (int i = 0; i < rest; ++i)
                  p.of[i] = load_pack<2>(vectors.v[first + i] + 2 * at);
                return p;
              },
              [&](std::int64_t at, Words &p) {
                Pack<double, 2> &w = p.of[rest];
#pragma unroll 1
                for (int group = 0; group < vectors.groups; ++group)
#pragma unroll
                  for (int i = 0; i < vectors_per_group; ++i)
                  {
                    const int vector = group * vectors_per_group + i;
                    add_product(w, vectors.c[vector], load_pack<2>(vectors.v[vector] + 2 * at));
                  }
                const int first = vectors.groups * vectors_per_group;
#pragma unroll
                for (int i = 0; i < rest; ++i)
                  add_product(w, vectors.c[first + i], p.of[i]);
                store_pack(vectors.w + 2 * at, w);
                add_products(sum[0], w, w);
                enlarge(largest[0], w);
              });
    reduce_block<Sum>(sum, partial + blockIdx.x, 1);
    if (largest_partial == nullptr)
      return;
    __syncthreads(); // the shared memory is used again
    reduce_block<Maximum>(largest, largest_partial + blockIdx.x, 1);
  }

  __global__ void __launch_bounds__(threads, blocks_per_multiprocessor)
      cg_update_kernel(std::int64_t words, double a, const double *p, const double *q, double *x,
          double *r, double *partial)
  {
    using Words = Packs<double, 2, 4>;
    double sum[1] = {0.};
    for_each_word<2>(
        words,
        [&](std::int64_t at) {
          return Words{load_pack<2>(p + 2 * at), load_pack<2>(q + 2 * at), load_pack<2>(x + 2 * at),
              load_pack<2>(r + 2 * at)};
        },
        [&](std::int64_t at, Words &w) {
          add_product(w.of[2], a, w.of[0]);
          add_product(w.of[3], -a, w.of[1]);
          store_pack(x + 2 * at, w.of[2]);
          store_pack(r + 2 * at, w.of[3]);
          add_products(sum[0], w.of[3], w.of[3]);
        });
    reduce_block<Sum>(sum, partial + blockIdx.x, 1);
  }

  constexpr std::size_t shared_bytes(int sums)
  {
    return static_cast<std::size_t>(sums) * reduction_warps * sizeof(double);
  }

  template <int count, bool with_norm>
  void dots_of_pass(std::int64_t size, const double *const *v, const double *w, double *scratch,
      double *result, Stream stream)
  {
    constexpr int sums = count + (with_norm ? 1 : 0);
    DotVectors<count> vectors{};
    std::copy_n(v, count, vectors.v);
    vectors.w = w;
    const int blocks = blocks_for(size / 2);
    launch("launching dot products", &multi_dot_kernel<count, with_norm>, blocks, threads,
        shared_bytes(sums), stream, size / 2, vectors, partials(blocks, scratch, result));
    join_partials<Sum>(blocks, sums, scratch, result, stream);
  }

  using DotsOfPass = void(
      std::int64_t, const double *const *, const double *, double *, double *, Stream);

  /// The last pass takes w'w as well.
  template <int... counts>
  DotsOfPass *last_pass(int count, std::integer_sequence<int, counts...>)
  {
    constexpr std::array<DotsOfPass *, sizeof...(counts)> table{&dots_of_pass<counts, true>...};
    return table[count];
  }

  using MultiUpdate = void(std::int64_t, const UpdateVectors, double *, double *);

  template <int... rests>
  MultiUpdate *update_kernel(int rest, std::integer_sequence<int, rests...>)
  {
    constexpr std::array<MultiUpdate *, sizeof...(rests)> table{&multi_update_kernel<rests>...};
    return table[rest];
  }

  void require_count(int count)
  {
    if (count < 0 || count > max_vectors)
      throw std::invalid_argument("vector kernels take at most " + std::to_string(max_vectors) +
          " vectors, not " + std::to_string(count));
  }
} // namespace

template <typename Number>
void dot(std::int64_t size, const Number *x, const Number *y, double *scratch, double *result,
    Stream stream)
{
  const std::int64_t words = size / word<Number>;
  const int blocks = blocks_for(words);
  launch("launching a dot product", &dot_kernel<Number>, blocks, threads, shared_bytes(1), stream,
      words, x, y, partials(blocks, scratch, result));
  join_partials<Sum>(blocks, 1, scratch, result, stream);
}

template <typename Number>
void max_abs(std::int64_t size, const Number *x, double *scratch, double *result, Stream stream)
{
  const std::int64_t words = size / word<Number>;
  const int blocks = blocks_for(words);
  launch("looking for the largest entry", &max_abs_kernel<Number>, blocks, threads, shared_bytes(1),
      stream, words, x, partials(blocks, scratch, result));
  join_partials<Maximum>(blocks, 1, scratch, result, stream);
}

void multi_dot(std::int64_t size, int count, const double *const *v, const double *w,
    double *scratch, double *result, Stream stream)
{
  require_count(count);
  int done = 0;
  for (; count - done > dots_per_pass; done += dots_per_pass)
    dots_of_pass<dots_per_pass, false>(size, v + done, w, scratch, result + done, stream);
  last_pass(count - done, std::make_integer_sequence<int, dots_per_pass + 1>())(
      size, v + done, w, scratch, result + done, stream);
}

void multi_update(std::int64_t size, int count, const double *c, const double *const *v, double *w,
    double *scratch, double *result, double *largest, Stream stream)
{
  require_count(count);
  UpdateVectors vectors{};
  std::copy_n(v, count, vectors.v);
  std::copy_n(c, count, vectors.c);
  vectors.groups = count / vectors_per_group;
  vectors.w = w;
  const int blocks = blocks_for(size / 2);
  launch("launching the update of a vector",
      update_kernel(
          count % vectors_per_group, std::make_integer_sequence<int, vectors_per_group>()),
      blocks, threads, shared_bytes(1), stream, size / 2, vectors,
      partials(blocks, scratch, result),
      largest == nullptr ? nullptr : partials(blocks, scratch + reduction_blocks, largest));
  join_partials<Sum>(blocks, 1, scratch, result, stream);
  if (largest != nullptr)
    join_partials<Maximum>(blocks, 1, scratch + reduction_blocks, largest, stream);
}

void cg_update(std::int64_t size, double a, const double *p, const double *q, double *x, double *r,
    double *scratch, double *result, Stream stream)
{
  const int blocks = blocks_for(size / 2);
  launch("launching the update of conjugate gradients", &cg_update_kernel, blocks, threads,
      shared_bytes(1), stream, size / 2, a, p, q, x, r, partials(blocks, scratch, result));
  join_partials<Sum>(blocks, 1, scratch, result, stream);
}

template void dot(std::int64_t, const double *, const double *, double *, double *, Stream);
template void dot(std::int64_t, const float *, const float *, double *, double *, Stream);
template void dot(std::int64_t, const Half *, const Half *, double *, double *, Stream);
template void max_abs(std::int64_t, const double *, double *, double *, Stream);
template void max_abs(std::int64_t, const float *, double *, double *, Stream);
template void max_abs(std::int64_t, const Half *, double *, double *, Stream);
} // namespace tensormg::vector_kernels::cuda
