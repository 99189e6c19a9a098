// The entries of banded matrices, whose rows are the same weights shifted by one.
#pragma once

namespace tensormg::stencil
{
/// At distance d from the band's begin: weights[d], and 0 beyond the band.
template <typename Number, int width>
__device__ inline Number band(const Number (&weights)[width], int d)
{
  Number weight = 0;
#pragma unroll
  for (int w = 0; w < width; ++w)
    weight = w == d ? weights[w] : weight;
  return weight;
}
} // namespace tensormg::stencil
