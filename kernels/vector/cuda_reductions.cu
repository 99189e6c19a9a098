// Sums over vectors in device memory, and the update of conjugate gradients.
#include "kernels/vector/cuda_reduction.cuh"

namespace tensormg::vector_kernels::cuda
{
namespace
{
  constexpr int threads = reduction_threads;

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

  /// Two numbers of each vector.
  template <typename S>
  struct CgPairs
  {
    Packs<S, 2, 3> p_q_r;
    Pack<double, 2> x;
  };

  template <typename S>
  __global__ void __launch_bounds__(threads, blocks_per_multiprocessor)
      cg_update_kernel(std::int64_t pairs, const Quotient quotient, double unit, const S *p,
          const S *q, double *x, S *r, double *partial, double *largest_partial)
  {
    using Pairs = CgPairs<S>;
    double sum[1] = {0.};
    S largest = 0;
    const double above = *quotient.numerator, below = *quotient.denominator;
    double a = quotient.factor * (above / below);
    if (!(above > 0. && below > 0. && above / below < std::numeric_limits<double>::infinity()))
    {
      a = 0.;
      p = q = r; // zero times what is in p and q may be NaN
    }
    const double of_x = a * unit;
    for_each_word<sizeof(S) == 4 ? 4 : 2>(
        pairs,
        [&](std::int64_t at) {
          return Pairs{
              {load_pack<2>(p + 2 * at), load_pack<2>(q + 2 * at), load_pack<2>(r + 2 * at)},
              load_pack<2>(x + 2 * at)};
        },
        [&](std::int64_t at, const Pairs &pair) {
          Pack<double, 2> new_x = pair.x;
          Pack<S, 2> new_r;
#pragma unroll
          for (int i = 0; i < 2; ++i)
          {
            new_x.at[i] = fma(of_x, double(pair.p_q_r.of[0].at[i]), new_x.at[i]);
            new_r.at[i] = static_cast<S>(
                fma(-a, double(pair.p_q_r.of[1].at[i]), double(pair.p_q_r.of[2].at[i])));
          }
          store_pack(x + 2 * at, new_x);
          store_pack(r + 2 * at, new_r);
          add_products(sum[0], new_r, new_r);
          enlarge(largest, new_r);
        });
    reduce_block<Sum>(sum, partial + blockIdx.x, 1);
    __syncthreads(); // the shared memory is used again
    const double of_thread[1] = {double(largest)};
    reduce_block<Maximum>(of_thread, largest_partial + blockIdx.x, 1);
  }
} // namespace

template <typename Number>
void dot(std::int64_t size, const Number *x, const Number *y, double *scratch, double *result,
    Stream stream, double *copy)
{
  const std::int64_t words = size / word<Number>;
  const int blocks = blocks_for(words);
  launch("launching a dot product", &dot_kernel<Stored<Number>>, blocks, threads, shared_bytes(1),
      stream, words, stored(x), stored(y), partials(blocks, scratch, result, copy));
  join_partials<Sum>(blocks, 1, scratch, result, stream, copy);
}

template <typename Number>
void max_abs(std::int64_t size, const Number *x, double *scratch, double *result, Stream stream)
{
  const std::int64_t words = size / word<Number>;
  const int blocks = blocks_for(words);
  launch("looking for the largest entry", &max_abs_kernel<Stored<Number>>, blocks, threads,
      shared_bytes(1), stream, words, stored(x), partials(blocks, scratch, result));
  join_partials<Maximum>(blocks, 1, scratch, result, stream);
}

template <typename Number>
void cg_update(std::int64_t size, const Quotient &a, double unit, const Number *p, const Number *q,
    double *x, Number *r, double *scratch, double *result, double *largest, Stream stream)
{
  const int blocks = blocks_for(size / 2);
  launch("launching the update of conjugate gradients", &cg_update_kernel<Stored<Number>>, blocks,
      threads, shared_bytes(1), stream, size / 2, a, unit, stored(p), stored(q), x, stored(r),
      partials(blocks, scratch, result), partials(blocks, scratch + reduction_blocks, largest));
  join_sum_and_largest(blocks, scratch, result, largest, stream);
}

template void dot(
    std::int64_t, const double *, const double *, double *, double *, Stream, double *);
template void dot(std::int64_t, const float *, const float *, double *, double *, Stream, double *);
template void dot(
    std::int64_t, const WideFloat *, const WideFloat *, double *, double *, Stream, double *);
template void dot(std::int64_t, const Half *, const Half *, double *, double *, Stream, double *);
template void max_abs(std::int64_t, const double *, double *, double *, Stream);
template void max_abs(std::int64_t, const float *, double *, double *, Stream);
template void max_abs(std::int64_t, const WideFloat *, double *, double *, Stream);
template void max_abs(std::int64_t, const Half *, double *, double *, Stream);
template void cg_update(std::int64_t, const Quotient &, double, const double *, const double *,
    double *, double *, double *, double *, double *, Stream);
template void cg_update(std::int64_t, const Quotient &, double, const WideFloat *,
    const WideFloat *, double *, WideFloat *, double *, double *, double *, Stream);
} // namespace tensormg::vector_kernels::cuda
