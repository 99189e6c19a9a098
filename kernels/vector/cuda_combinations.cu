// Dot products with a basis, and linear combinations of its vectors, in device memory.
#include <array>
#include <stdexcept>
#include <string>
#include <utility>

#include "kernels/vector/cuda_reduction.cuh"

namespace tensormg::vector_kernels::cuda
{
namespace
{
  constexpr int threads = reduction_threads;

  template <typename S, int count>
  struct DotVectors
  {
    const S *v[count > 0 ? count : 1];
    const S *w;
  };

  /// Numbers per access: 16 bytes, or 8 where more would not fit into the registers of a thread.
  template <typename S, int count>
  constexpr int dot_width = sizeof(S) == 4 && count > 4 ? 2 : word<S>;

  /// The dots of `count` vectors with w, and w'w if with_norm.
  template <typename S, int count, bool with_norm>
  __global__ void __launch_bounds__(threads, blocks_per_multiprocessor) multi_dot_kernel(
      std::int64_t words, const __grid_constant__ DotVectors<S, count> vectors, double *partial)
  {
    constexpr int width = dot_width<S, count>;
    constexpr int batch = count == 0 ? 4 : count < 4 ? 2 : 1;
    using Words = Packs<S, width, count + 1>;
    constexpr int sums = count + (with_norm ? 1 : 0);
    double sum[sums];
#pragma unroll
    for (int i = 0; i < sums; ++i)
      sum[i] = 0.;
    const auto load = [&](std::int64_t at) {
      Words p;
#pragma unroll
      for (int i = 0; i < count; ++i)
        p.of[i] = load_pack<width>(vectors.v[i] + width * at);
      p.of[count] = load_pack<width>(vectors.w + width * at);
      return p;
    };
    const auto use = [&](std::int64_t, const Words &p) {
#pragma unroll
      for (int i = 0; i < sums; ++i)
        add_products(sum[i], p.of[i], p.of[count]);
    };
    for_each_word<batch>(words, load, use);
    reduce_block<Sum>(sum, partial + blockIdx.x, gridDim.x);
  }

  constexpr int vectors_per_group = 6;

  template <typename From, typename To>
  struct UpdateVectors
  {
    const From *v[max_vectors];
    double c[max_vectors];
    double factor;
    int groups; ///< of vectors_per_group vectors
    To *w;
  };

  template <int width, typename From, typename To, int count>
  struct UpdateWords
  {
    Pack<From, width> v[count > 0 ? count : 1];
    Pack<To, width> w;
  };

  /// c += a * b
  template <typename S, int width>
  __device__ void add_multiple(Pack<double, width> &c, double a, const Pack<S, width> &b)
  {
#pragma unroll
    for (int w = 0; w < width; ++w)
      c.at[w] = fma(a, double(b.at[w]), c.at[w]);
  }

  /// The vectors in groups whose loads are in flight together, and `rest` more. partial = nullptr: no sums.
  template <typename From, typename To, int rest>
  __global__ void __launch_bounds__(threads, blocks_per_multiprocessor) multi_update_kernel(
      std::int64_t words, const __grid_constant__ UpdateVectors<From, To> vectors, double *partial,
      double *largest_partial)
  {
    constexpr int width = word<To>;
    constexpr int batch = rest == 0 ? 1 : rest * width < 8 ? 2 : 1;
    using Words = UpdateWords<width, From, To, rest>;
    double sum[1] = {0.};
    To largest = 0;
    const auto load = [&](std::int64_t at) {
      const int first = vectors.groups * vectors_per_group;
      Words p;
      p.w = load_pack<width>(vectors.w + width * at);
#pragma unroll
      for (int i = 0; i < rest; ++i)
        p.v[i] = load_pack<width>(vectors.v[first + i] + width * at);
      return p;
    };
    const auto use = [&](std::int64_t at, const Words &p) {
      Pack<double, width> total;
#pragma unroll
      for (int i = 0; i < width; ++i)
        total.at[i] = vectors.factor * double(p.w.at[i]);
#pragma unroll 1
      for (int group = 0; group < vectors.groups; ++group)
#pragma unroll
        for (int i = 0; i < vectors_per_group; ++i)
        {
          const int vector = group * vectors_per_group + i;
          add_multiple(total, vectors.c[vector], load_pack<width>(vectors.v[vector] + width * at));
        }
      const int first = vectors.groups * vectors_per_group;
#pragma unroll
      for (int i = 0; i < rest; ++i)
        add_multiple(total, vectors.c[first + i], p.v[i]);
      Pack<To, width> w;
#pragma unroll
      for (int i = 0; i < width; ++i)
        w.at[i] = static_cast<To>(total.at[i]);
      store_pack(vectors.w + width * at, w);
      add_products(sum[0], w, w);
      enlarge(largest, w);
    };
    for_each_word<batch>(words, load, use);
    if (partial == nullptr)
      return;
    reduce_block<Sum>(sum, partial + blockIdx.x, 1);
    if (largest_partial == nullptr)
      return;
    __syncthreads(); // the shared memory is used again
    const double of_thread[1] = {double(largest)};
    reduce_block<Maximum>(of_thread, largest_partial + blockIdx.x, 1);
  }

  template <typename To>
  __global__ void __launch_bounds__(threads, blocks_per_multiprocessor)
      convert_with_norm_kernel(std::int64_t pairs, double factor, const double *src, To *dst,
          double *partial, double *largest_partial)
  {
    double sum[1] = {0.};
    To largest = 0;
    const auto load = [&](std::int64_t at) { return load_pack<2>(src + 2 * at); };
    const auto use = [&](std::int64_t at, const Pack<double, 2> &value) {
      const Pack<double, 2> scaled = factor * value;
      add_products(sum[0], scaled, scaled);
      Pack<To, 2> rounded;
      rounded.at[0] = static_cast<To>(scaled.at[0]);
      rounded.at[1] = static_cast<To>(scaled.at[1]);
      store_pack(dst + 2 * at, rounded);
      enlarge(largest, rounded);
    };
    for_each_word<4>(pairs, load, use);
    reduce_block<Sum>(sum, partial + blockIdx.x, 1);
    __syncthreads(); // the shared memory is used again
    const double of_thread[1] = {double(largest)};
    reduce_block<Maximum>(of_thread, largest_partial + blockIdx.x, 1);
  }

  template <typename S, int count, bool with_norm>
  void dots_of_pass(std::int64_t size, const S *const *v, const S *w, double *scratch,
      double *result, Stream stream, double *copy)
  {
    constexpr int sums = count + (with_norm ? 1 : 0);
    DotVectors<S, count> vectors{};
    std::copy_n(v, count, vectors.v);
    vectors.w = w;
    const std::int64_t words = size / dot_width<S, count>;
    const int blocks = blocks_for(words);
    launch("launching dot products", &multi_dot_kernel<S, count, with_norm>, blocks, threads,
        shared_bytes(sums), stream, words, vectors, partials(blocks, scratch, result, copy));
    join_partials<Sum>(blocks, sums, scratch, result, stream, copy);
  }

  template <typename S>
  using DotsOfPass = void(
      std::int64_t, const S *const *, const S *, double *, double *, Stream, double *);

  /// The last pass takes w'w as well.
  template <typename S, int... counts>
  DotsOfPass<S> *last_pass(int count, std::integer_sequence<int, counts...>)
  {
    constexpr std::array<DotsOfPass<S> *, sizeof...(counts)> table{
        &dots_of_pass<S, counts, true>...};
    return table[count];
  }

  template <typename From, typename To>
  using MultiUpdate = void(std::int64_t, const UpdateVectors<From, To>, double *, double *);

  template <typename From, typename To, int... rests>
  MultiUpdate<From, To> *update_kernel(int rest, std::integer_sequence<int, rests...>)
  {
    constexpr std::array<MultiUpdate<From, To> *, sizeof...(rests)> table{
        &multi_update_kernel<From, To, rests>...};
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
void multi_dot(std::int64_t size, int count, const Number *const *v, const Number *w,
    double *scratch, double *result, Stream stream, double *copy)
{
  using S = Stored<Number>;
  require_count(count);
  const auto of_copy = [=](int sum) { return copy == nullptr ? nullptr : copy + sum; };
  std::array<const S *, max_vectors> vectors;
  std::transform(v, v + count, vectors.begin(), [](const Number *p) { return stored(p); });
  int done = 0;
  for (; count - done > dots_per_pass; done += dots_per_pass)
    dots_of_pass<S, dots_per_pass, false>(
        size, vectors.data() + done, stored(w), scratch, result + done, stream, of_copy(done));
  last_pass<S>(count - done, std::make_integer_sequence<int, dots_per_pass + 1>())(
      size, vectors.data() + done, stored(w), scratch, result + done, stream, of_copy(done));
}

template <typename From, typename To>
void multi_update(std::int64_t size, int count, const double *c, const From *const *v,
    double factor, To *w, double *scratch, double *result, double *largest, Stream stream)
{
  require_count(count);
  using F = Stored<From>;
  using T = Stored<To>;
  UpdateVectors<F, T> vectors{};
  std::transform(v, v + count, vectors.v, [](const From *p) { return stored(p); });
  std::copy_n(c, count, vectors.c);
  vectors.factor = factor;
  vectors.groups = count / vectors_per_group;
  vectors.w = stored(w);
  const std::int64_t words = size / word<T>;
  const int blocks = blocks_for(words);
  launch("launching the update of a vector",
      update_kernel<F, T>(
          count % vectors_per_group, std::make_integer_sequence<int, vectors_per_group>()),
      blocks, threads, shared_bytes(1), stream, words, vectors,
      result == nullptr ? nullptr : partials(blocks, scratch, result),
      largest == nullptr ? nullptr : partials(blocks, scratch + reduction_blocks, largest));
  if (largest != nullptr)
    join_sum_and_largest(blocks, scratch, result, largest, stream);
  else if (result != nullptr)
    join_partials<Sum>(blocks, 1, scratch, result, stream);
}

template <typename To>
void convert_with_norm(std::int64_t size, double factor, const double *src, To *dst,
    double *scratch, double *result, double *largest, Stream stream)
{
  const std::int64_t pairs = size / 2;
  const int blocks = blocks_for(pairs);
  launch("launching a conversion with a norm", &convert_with_norm_kernel<Stored<To>>, blocks,
      threads, shared_bytes(1), stream, pairs, factor, src, stored(dst),
      partials(blocks, scratch, result), partials(blocks, scratch + reduction_blocks, largest));
  join_sum_and_largest(blocks, scratch, result, largest, stream);
}

template void multi_dot(
    std::int64_t, int, const double *const *, const double *, double *, double *, Stream, double *);
template void multi_dot(std::int64_t, int, const WideFloat *const *, const WideFloat *, double *,
    double *, Stream, double *);
template void multi_update(std::int64_t, int, const double *, const double *const *, double,
    double *, double *, double *, double *, Stream);
template void multi_update(std::int64_t, int, const double *, const WideFloat *const *, double,
    WideFloat *, double *, double *, double *, Stream);
template void multi_update(std::int64_t, int, const double *, const WideFloat *const *, double,
    double *, double *, double *, double *, Stream);
template void convert_with_norm(
    std::int64_t, double, const double *, WideFloat *, double *, double *, double *, Stream);
} // namespace tensormg::vector_kernels::cuda
