// What Krylov methods share whose vectors have fewer digits than the solution (FP32, arithmetic in FP64): they work
// on a residual that is rounded and scaled, and start again from the true one before rounding errors matter.
#pragma once

#include <algorithm>
#include <cmath>

namespace tensormg::short_numbers
{
/// For a vector that is written before it is read.
template <typename V, typename Space>
V make_vector(const Space &space)
{
  if constexpr (requires { space.template make_unset_vector<V>(); })
    return space.template make_unset_vector<V>();
  else
    return space.template make_vector<V>();
}

/// The power of two next to 1 / x; 1 if that is no number.
inline double inverse_power_of_two(double x)
{
  return x > 0. && std::isfinite(x) ? std::ldexp(1., -std::ilogb(x)) : 1.;
}

/// A vector times a power of two.
struct Scaled
{
  double stored_norm;
  double factor; ///< the power
  double norm() const { return stored_norm / factor; }
};

/// dst = r times a power of two such that its norm is near one, in the numbers of dst. expected: about the norm of r.
template <typename Space, typename From, typename To>
Scaled round_near_one(const Space &space, const From &r, double expected, To &dst)
{
  constexpr double acceptable = 0x1p40; // far from the ends of the range of FP32
  const double factor = inverse_power_of_two(expected);
  const Scaled result{space.convert_with_norm(factor, r, dst), factor};
  const double stored = result.stored_norm, norm = result.norm();
  const bool is_far_off = stored > acceptable || stored < 1. / acceptable;
  if (is_far_off && norm > 0. && std::isfinite(norm) && norm != expected)
    return round_near_one(space, r, norm, dst);
  return result;
}

/// At which residual of its own a method is to look at the true one, on the way from `start` to `target`. Numbers of
/// FP32 are trusted for a reduction by 1e-6: the fewest cycles that suffice share the reduction evenly, so that they
/// are short.
inline double end_of_cycle(double start, double target)
{
  constexpr double trusted = 1e-6;
  const double reduction = target / start;
  const double cycles = std::max(std::ceil(std::log(reduction) / std::log(trusted)), 1.);
  return start * std::pow(reduction, 1. / cycles);
}
} // namespace tensormg::short_numbers
