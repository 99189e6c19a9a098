// One direction of a tensor product.
#pragma once

#include <cstdint>

namespace tensormg
{
/// out[r][o][l] = sum_q matrix[o * n_in + q] in[r][q][l], l < length. The block of l is held in
/// registers while q runs.
inline void contract(std::int64_t outer, int n_out, int n_in, std::int64_t length,
    const double *matrix, const double *in, double *out)
{
  constexpr int lanes = 16;
  for (std::int64_t r = 0; r < outer; ++r, in += n_in * length, out += n_out * length)
  {
    std::int64_t l = 0;
    for (; l + lanes <= length; l += lanes)
      for (int o = 0; o < n_out; ++o)
      {
        double sum[lanes] = {};
        for (int q = 0; q < n_in; ++q)
          for (int k = 0; k < lanes; ++k)
            sum[k] += matrix[o * n_in + q] * in[q * length + l + k];
        for (int k = 0; k < lanes; ++k)
          out[o * length + l + k] = sum[k];
      }
    for (; l < length; ++l)
      for (int o = 0; o < n_out; ++o)
      {
        double sum = 0.;
        for (int q = 0; q < n_in; ++q)
          sum += matrix[o * n_in + q] * in[q * length + l];
        out[o * length + l] = sum;
      }
  }
}
} // namespace tensormg
