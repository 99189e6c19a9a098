// How a warp reads B and writes C of C = F B (smallmat.h), on tensor cores and on CUDA cores: by lanes as m16n8k4 wants them.
#pragma once

#include "kernels/diagnostics/smallmat/smallmat.h"
#include "kernels/mma/instructions.cuh"

namespace tensormg::smallmat
{
using S = mma::M16N8K4<double>;
using mma::Operand;

/// Four rows of B from `first` on, by lanes as tensor cores want them.
template <int n>
using RightRows = mma::FragmentB<S>[n / S::n];

template <int n>
__device__ void load(int lane, int first, const double *b, RightRows<n> &rows)
{
#pragma unroll
  for (int column = 0; column < n / S::n; ++column)
    mma::map(rows[column], lane,
        [&](int k, int j) { return __ldcs(b + (first + k) * n + column * S::n + j); });
}

/// All of B.
template <int n>
struct RightFactor
{
  static constexpr int chunks = n / S::k, columns = n / S::n;
  RightRows<n> at[chunks];

  __device__ RightFactor(int lane, const double *b)
  {
#pragma unroll
    for (int chunk = 0; chunk < chunks; ++chunk)
      load<n>(lane, chunk * S::k, b, at[chunk]);
  }
};

/// Rows of C from `row` on.
template <int n>
__device__ void store(
    int lane, int row, mma::FragmentC<S> (&sums)[RightFactor<n>::columns], double *c)
{
#pragma unroll
  for (int column = 0; column < RightFactor<n>::columns; ++column)
    mma::foreach_ij(sums[column], lane,
        [&](int i, int j, double &value) { __stcs(c + (row + i) * n + column * S::n + j, value); });
}
} // namespace tensormg::smallmat
