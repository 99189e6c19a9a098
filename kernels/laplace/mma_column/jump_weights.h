// Weights of the residual that rounds jumps (jumps.cuh), made on the host.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "kernels/basis/cell_basis.h"
#include "kernels/core/half.h"

namespace tensormg::laplace
{
/// What replaces the diagonal where faces get jumps [.] of traces instead of traces. All for one line; the neighbour's
/// traces are own ones + jump, so with all numbers exact
///   B u = L u + faces of jumps,    L_im = lambda_i delta_im + 2 (g_i v_m - h_m v_i), i and m of equal parity, else 0.
/// Traces and faces have weights of 11 bits. What that changes for lines that are linear across the cells is the same
/// in every cell, and is taken from L, which has 22 bits: constant and linear u are as exact as with 22 bits
/// everywhere, of a smooth u is left 2^-12 h^2 u'' and 2^-12 of the jumps that rounding u makes.
template <int n>
struct JumpWeights
{
  float own[3][n][n]; ///< L in direction d, [to][from], in units of the scale
  float correction[2][2]
                  [n]; ///< [left, right end][value, half derivative]: of own traces beside a ghost
  std::uint32_t other_z[n][2]; ///< L in z from mode k to mode k ^ 2: both parts, each twice
  std::uint32_t unit;          ///< 1 / scale, twice
};

namespace jump_weights
{
  inline double rounded(double weight)
  {
    return static_cast<double>(static_cast<float>(Half(static_cast<float>(weight))));
  }
  inline std::uint32_t twice(Half half) { return half.bits * 0x10001u; }

  /// Weight of mode m in a trace.
  inline double at_end(const CellBasis &basis, bool left, int m, int derivative)
  {
    const double weight = derivative ? basis.h[m] : basis.v[m];
    return left && m % 2 != derivative ? -weight : weight;
  }
  /// L from a mode to another one.
  inline double own(const CellBasis &basis, int to, int from)
  {
    if (to % 2 != from % 2)
      return 0.;
    return (to == from ? basis.lambda[to] : 0.) +
        2. * (basis.g[to] * basis.v[from] - basis.h[from] * basis.v[to]);
  }
  /// Largest entry of L times |factor|, summed over directions.
  inline double largest(const CellBasis &basis, const std::array<double, 3> &factor)
  {
    double most = 0.;
    for (int to = 0; to < basis.n; ++to)
      for (int from = 0; from < basis.n; ++from)
        most = std::max(most, std::abs(own(basis, to, from)));
    return most * (std::abs(factor[0]) + std::abs(factor[1]) + std::abs(factor[2]));
  }
} // namespace jump_weights

/// `factor`: c_d, negative if B u is subtracted.
template <int n>
JumpWeights<n> make_jump_weights(
    const CellBasis &basis, const std::array<double, 3> &factor, double scale)
{
  using namespace jump_weights;
  using Modes = std::array<double, n>;
  JumpWeights<n> weights{};
  Modes one{}, linear{}, after{}, before{}; // 1 and P_1; P_1 of this cell in the cells beside
  for (int m = 0; m < n; ++m)
  {
    one[m] = basis.legendre[m];
    linear[m] = basis.legendre[n + m];
    after[m] = linear[m] + 2. * std::sqrt(3.) * one[m];
    before[m] = linear[m] - 2. * std::sqrt(3.) * one[m];
  }
  // Jumps, upper cell - lower cell, that 1 and P_1 have with rounded weights, as functions of the modes.
  double upper[2][n], lower[2][n];
  for (int derivative = 0; derivative < 2; ++derivative)
  {
    const auto trace = [&](bool left, const Modes &u) {
      double sum = 0.;
      for (int m = 0; m < n; ++m)
        sum += rounded(at_end(basis, left, m, derivative)) * u[m];
      return sum;
    };
    const double of_one = trace(true, one) - trace(false, one);
    const double upper_of_linear = trace(true, after) - trace(false, linear);
    const double lower_of_linear = trace(true, linear) - trace(false, before);
    for (int m = 0; m < n; ++m)
    {
      const auto lost = [&](bool left) {
        const double weight = at_end(basis, left, m, derivative);
        return weight - rounded(weight);
      };
      upper[derivative][m] = of_one * one[m] + upper_of_linear * linear[m];
      lower[derivative][m] = of_one * one[m] + lower_of_linear * linear[m];
      weights.correction[0][derivative][m] = static_cast<float>(lower[derivative][m] + lost(true));
      weights.correction[1][derivative][m] = static_cast<float>(upper[derivative][m] - lost(false));
    }
  }
  for (int d = 0; d < 3; ++d)
    for (int to = 0; to < n; ++to)
      for (int from = 0; from < n; ++from)
      {
        const double by = factor[d] / scale, sign = to % 2 == 0 ? 1. : -1.;
        const double value = rounded(by * basis.g[to]), derivative = rounded(by * basis.v[to]);
        const double faces = value * upper[0][from] - derivative * upper[1][from] -
            sign * (value * lower[0][from] + derivative * lower[1][from]);
        weights.own[d][to][from] = static_cast<float>(by * own(basis, to, from) - faces);
      }
  for (int k = 0; k < n; ++k)
    if ((k ^ 2) < n)
    {
      const float weight = weights.own[2][k ^ 2][k];
      const Half first(weight);
      weights.other_z[k][0] = twice(first);
      weights.other_z[k][1] = twice(Half(weight - static_cast<float>(first)));
    }
  weights.unit = twice(Half(static_cast<float>(1. / scale)));
  return weights;
}
} // namespace tensormg::laplace
