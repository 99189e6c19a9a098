// THEORY: what a kernel can gain from a faster arithmetic unit when it also has to move data.
//
// A kernel does `flops` operations (W) on `bytes` (Q) of memory that it must move; a machine does them at
// the rates P and B. Two predictions bound the time from both sides:
//   overlapped      T = max(W / P, Q / B)      arithmetic hides behind the transfers, or the reverse
//   un-overlapped   T = W / P + Q / B          one waits for the other
// With the intensity I = W / Q, the machine balance b = P / B of the plain unit (CUDA cores) and
// alpha = P_tensor / P, the tensor cores speed the un-overlapped kernel up by
//   1 + (alpha - 1) / (1 + alpha b / I),
// which a memory-bound kernel (I <= b) keeps below 2 - 2 / (1 + alpha), and below 1 + I / b whatever alpha
// is. The overlapped one gains nothing as long as I <= b.
//
// Source: L. Zhang, J. Huang, S. Di, S. Matsuoka, M. Wahib, "Can tensor cores benefit memory-bound kernels?
// (No!)", arXiv 2502.16851. Tests: tests/kernels/diagnostics/roofline/roofline_test.cc.
#pragma once

#include <algorithm>
#include <limits>

namespace tensormg::roofline
{
/// What a kernel does.
struct Work
{
  double flops = 0.;
  double bytes = 0.; ///< that any implementation must move (compulsory)
};

/// What a machine does per second.
struct Rates
{
  double flops = 0.;
  double bytes = 0.;
};

/// Flops per byte; infinite if nothing is moved.
constexpr double intensity(const Work &work)
{
  return work.bytes > 0. ? work.flops / work.bytes : std::numeric_limits<double>::infinity();
}

/// Flops that the machine does while it moves a byte: the intensity at which both take the same time.
constexpr double balance(const Rates &rates) { return rates.flops / rates.bytes; }

/// True if moving takes at least as long as computing.
constexpr bool is_memory_bound(const Work &work, const Rates &rates)
{
  return intensity(work) <= balance(rates);
}

constexpr double arithmetic_seconds(const Work &work, const Rates &rates)
{
  return work.flops > 0. ? work.flops / rates.flops : 0.;
}
constexpr double transfer_seconds(const Work &work, const Rates &rates)
{
  return work.bytes > 0. ? work.bytes / rates.bytes : 0.;
}
constexpr double overlapped_seconds(const Work &work, const Rates &rates)
{
  return std::max(arithmetic_seconds(work, rates), transfer_seconds(work, rates));
}
constexpr double unoverlapped_seconds(const Work &work, const Rates &rates)
{
  return arithmetic_seconds(work, rates) + transfer_seconds(work, rates);
}

/// Flops per second on the roofline min(P, I B).
constexpr double attainable_flops(double intensity, const Rates &rates)
{
  return std::min(rates.flops, intensity * rates.bytes);
}

/// Speed-up of the un-overlapped kernel by a unit that is alpha times as fast; `balance` is that of the
/// plain unit. Equal to 1 for a kernel without arithmetic, alpha for one without transfers.
constexpr double unoverlapped_speedup(double alpha, double balance, double intensity)
{
  return intensity > 0. ? 1. + (alpha - 1.) / (1. + alpha * balance / intensity) : 1.;
}

/// The same of the overlapped kernel: 1 up to I = b, alpha from I = alpha b on.
constexpr double overlapped_speedup(double alpha, double balance, double intensity)
{
  if (!(intensity > 0.))
    return 1.;
  const double transfer = balance / intensity; // in units of the plain unit's arithmetic
  return std::max(1., transfer) / std::max(1. / alpha, transfer);
}

/// What no memory-bound kernel exceeds un-overlapped: the bound at I = b.
constexpr double memory_bound_limit(double alpha) { return 2. - 2. / (1. + alpha); }

/// What no kernel of this intensity exceeds un-overlapped, however fast the unit is: alpha to infinity.
constexpr double infinite_alpha_limit(double balance, double intensity)
{
  return 1. + intensity / balance;
}

/// Steps that must be fused in one pass over memory before the kernel stops being memory-bound: a real
/// number; the first integer depth above it is bound by arithmetic.
constexpr double depth_of_balance(double balance, double intensity_of_one_step)
{
  return balance / intensity_of_one_step;
}

/// Speed-up of a form that does other work (redundant flops, say) on another unit, un-overlapped.
constexpr double unoverlapped_speedup(
    const Work &plain, const Rates &plain_rates, const Work &other, const Rates &other_rates)
{
  return unoverlapped_seconds(plain, plain_rates) / unoverlapped_seconds(other, other_rates);
}
constexpr double overlapped_speedup(
    const Work &plain, const Rates &plain_rates, const Work &other, const Rates &other_rates)
{
  return overlapped_seconds(plain, plain_rates) / overlapped_seconds(other, other_rates);
}
} // namespace tensormg::roofline
