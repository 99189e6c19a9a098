// What steps of smoothers make of whole vectors, in device memory.
#include "kernels/vector/cuda_reduction.cuh"

namespace tensormg::vector_kernels::cuda
{
namespace
{
  int blocks_of_words(std::int64_t words)
  {
    return static_cast<int>((words + reduction_threads - 1) / reduction_threads);
  }
  __device__ std::int64_t word_of_thread()
  {
    return std::int64_t(blockIdx.x) * reduction_threads + threadIdx.x;
  }

  template <typename Number>
  __global__ void __launch_bounds__(reduction_threads) diagonal_kernel(std::int64_t words,
      Compute<Number> alpha, const Compute<Number> *d, const Number *b, Number *x)
  {
    using C = Compute<Number>;
    constexpr int width = word<Number>;
    const std::int64_t at = word_of_thread();
    if (at >= words)
      return;
    Pack<C, width> value = load_pack<width>(b + at * width);
#pragma unroll
    for (int w = 0; w < width; ++w)
      value.at[w] *= alpha * d[at * width + w];
    store_pack(x + at * width, value);
  }

  template <typename Number>
  __global__ void __launch_bounds__(reduction_threads) step_kernel(std::int64_t words,
      Compute<Number> theta, const Number *x, const Number *old, const Number *c, Number *y)
  {
    using C = Compute<Number>;
    constexpr int width = word<Number>;
    const std::int64_t at = word_of_thread();
    if (at >= words)
      return;
    const Pack<C, width> here = load_pack<width>(x + at * width);
    Pack<C, width> value = load_pack<width>(c + at * width), before(C(0));
    if (old != nullptr)
      before = load_pack<width>(old + at * width);
#pragma unroll
    for (int w = 0; w < width; ++w)
      value.at[w] += here.at[w] + theta * (here.at[w] - before.at[w]);
    store_pack(y + at * width, value);
  }
} // namespace

template <typename Number>
void multiply_by_diagonal(std::int64_t size, double alpha, const Compute<Number> *d,
    const Number *b, Number *x, Stream stream)
{
  const std::int64_t words = size / word<Number>;
  launch("launching a product with a diagonal", diagonal_kernel<Number>, blocks_of_words(words),
      reduction_threads, 0, stream, words, static_cast<Compute<Number>>(alpha), d, b, x);
}

template <typename Number>
void add_to_step(std::int64_t size, double theta, const Number *x, const Number *old,
    const Number *c, Number *y, Stream stream)
{
  const std::int64_t words = size / word<Number>;
  launch("launching a step", step_kernel<Number>, blocks_of_words(words), reduction_threads, 0,
      stream, words, static_cast<Compute<Number>>(theta), x, old, c, y);
}

template void multiply_by_diagonal(
    std::int64_t, double, const double *, const double *, double *, Stream);
template void multiply_by_diagonal(
    std::int64_t, double, const float *, const float *, float *, Stream);
template void multiply_by_diagonal(
    std::int64_t, double, const float *, const Half *, Half *, Stream);
template void add_to_step(
    std::int64_t, double, const double *, const double *, const double *, double *, Stream);
template void add_to_step(
    std::int64_t, double, const float *, const float *, const float *, float *, Stream);
template void add_to_step(
    std::int64_t, double, const Half *, const Half *, const Half *, Half *, Stream);
} // namespace tensormg::vector_kernels::cuda
