// C = F B by CUDA cores with the accesses of tensor cores: every lane reads and writes the same words, what it lacks comes from
// the others by shuffles. Where memory is what bounds both, they take the same time.
#pragma once

#include "kernels/diagnostics/smallmat/fragments.cuh"

namespace tensormg::smallmat
{
inline constexpr unsigned all_lanes = 0xffffffffu;

/// An entry of a fragment of the warp, which lies under the same index in every lane.
template <Operand operand>
__device__ double from_holder(
    const mma::Fragment<S, operand> &fragment, int element, const mma::Entry &entry)
{
  return __shfl_sync(
      all_lanes, fragment.registers[element], mma::holder_of<S, operand>(entry).lane);
}

/// What lanes have of some columns of A and rows of B, from `first` on: for one or two steps of a product on tensor cores,
/// so that about as many loads are on their way as there.
template <int n>
struct Factors
{
  static constexpr int steps = n == 16 ? 2 : 1, depth = steps * S::k;
  mma::FragmentA<S> left[steps][n / S::m];
  RightRows<n> right[steps];

  __device__ Factors(int lane, int first, const double *a, const double *b)
  {
#pragma unroll
    for (int step = 0; step < steps; ++step)
    {
      const int from = first + step * S::k;
#pragma unroll
      for (int block = 0; block < n / S::m; ++block)
        mma::map(left[step][block], lane,
            [&](int i, int k) { return a[(block * S::m + i) * n + from + k]; });
      load<n>(lane, from, b, right[step]);
    }
  }
};

/// C = A B by CUDA cores, with the accesses of multiply(). The factors of its sums come to a lane by shuffles. So that
/// these are fewer, `sharing` lanes have their rows together and divide k, as far as registers allow: for n = 16 (32) a
/// lane gets 72 (384) numbers for its 128 (1024) products.
template <int n>
__device__ void multiply_by_fma(int lane, const double *a, const double *b, double *c)
{
  constexpr int blocks = n / S::m, columns = n / S::n, sharing = n == 16 ? 2 : 1;
  const int row = lane / 4;
  mma::FragmentC<S> sums[sharing][blocks][columns]{}; // of rows `row` ^ 0, 1, ...
  Factors<n> next(lane, 0, a, b);
#pragma unroll 1
  for (int first = 0; first < n; first += Factors<n>::depth)
  {
    const Factors<n> own = next;
    if (first + Factors<n>::depth < n) // loads go ahead of the sums
      next = Factors<n>(lane, first + Factors<n>::depth, a, b);
#pragma unroll
    for (int begin = 0; begin < Factors<n>::depth; begin += sharing)
    {
      const int step = begin / S::k, k = begin % S::k + row % sharing;
      double right[columns][2];
#pragma unroll
      for (int column = 0; column < columns; ++column)
#pragma unroll
        for (int e = 0; e < 2; ++e)
          right[column][e] =
              from_holder<Operand::b>(own.right[step][column], 0, {k, lane % 4 * 2 + e});
#pragma unroll
      for (int of = 0; of < sharing; ++of)
#pragma unroll
        for (int block = 0; block < blocks; ++block)
#pragma unroll
          for (int half = 0; half < 2; ++half)
          {
            const double left = from_holder<Operand::a>(own.left[step][block], half, {row ^ of, k});
#pragma unroll
            for (int column = 0; column < columns; ++column)
#pragma unroll
              for (int e = 0; e < 2; ++e)
                sums[of][block][column].registers[2 * half + e] += left * right[column][e];
          }
    }
  }
#pragma unroll
  for (int block = 0; block < blocks; ++block)
  {
#pragma unroll
    for (int of = 1; of < sharing; ++of)
#pragma unroll
      for (int column = 0; column < columns; ++column)
#pragma unroll
        for (int e = 0; e < 4; ++e)
          sums[0][block][column].registers[e] +=
              __shfl_xor_sync(all_lanes, sums[of][block][column].registers[e], 4 * of);
    store<n>(lane, block * S::m, sums[0][block], c);
  }
}

/// Writes what lanes hold as a right factor, with the stores of multiply(): two of its steps go into 8 rows.
template <int n>
__device__ void store_right(int lane, const RightFactor<n> &right, double *c)
{
#pragma unroll
  for (int row = 0; row < n; row += S::m)
  {
    mma::FragmentC<S> sums[RightFactor<n>::columns];
#pragma unroll
    for (int column = 0; column < RightFactor<n>::columns; ++column)
#pragma unroll
      for (int e = 0; e < 4; ++e)
      {
        const int chunk = row / S::k + e / 2 * 2;
        const mma::Entry entry{lane / 4 % 4, lane % 4 * 2 + e % 2};
        const double upper = from_holder<Operand::b>(right.at[chunk][column], 0, entry),
                     lower = from_holder<Operand::b>(right.at[chunk + 1][column], 0, entry);
        sums[column].registers[e] = lane < 16 ? upper : lower;
      }
    store<n>(lane, row, sums, c);
  }
}

/// B - 2 v (v' B). A lane has every fourth row of some columns, as tensor cores want it.
template <int n>
__device__ void reflect(int lane, const double *v, RightFactor<n> &right)
{
  constexpr int chunks = RightFactor<n>::chunks;
  double own[chunks];
#pragma unroll
  for (int chunk = 0; chunk < chunks; ++chunk)
    own[chunk] = v[chunk * S::k + lane % 4];
#pragma unroll
  for (int column = 0; column < RightFactor<n>::columns; ++column)
  {
    double sum = 0.;
#pragma unroll
    for (int chunk = 0; chunk < chunks; ++chunk)
      sum += own[chunk] * right.at[chunk][column].registers[0];
    sum += __shfl_xor_sync(all_lanes, sum, 1);
    sum += __shfl_xor_sync(all_lanes, sum, 2);
#pragma unroll
    for (int chunk = 0; chunk < chunks; ++chunk)
      right.at[chunk][column].registers[0] -= 2. * own[chunk] * sum;
  }
}

/// Rows p and q by themselves, which two lanes of each column hold.
template <int n>
__device__ void rotate(int lane, const double *factor, RightFactor<n> &right)
{
  constexpr int chunk = givens_p / S::k, p = givens_p % S::k, q = givens_q % S::k;
  static_assert(givens_q / S::k == chunk, "in one step of the product");
  const double cosine = factor[0], sine = factor[1];
  const int row = lane % 4;
#pragma unroll
  for (int column = 0; column < RightFactor<n>::columns; ++column)
  {
    double &own = right.at[chunk][column].registers[0];
    const double other = __shfl_xor_sync(all_lanes, own, p ^ q);
    if (row == p || row == q)
      own = cosine * own + (row == p ? -sine : sine) * other;
  }
}

template <Task task, int n>
__device__ void by_fma(int lane, const double *factor, const double *b, double *c)
{
  if constexpr (task == Task::product)
    multiply_by_fma<n>(lane, factor, b, c);
  else
  {
    RightFactor<n> right(lane, b);
    if constexpr (task == Task::householder)
      reflect<n>(lane, factor, right);
    else
      rotate<n>(lane, factor, right);
    store_right<n>(lane, right, c);
  }
}
} // namespace tensormg::smallmat
