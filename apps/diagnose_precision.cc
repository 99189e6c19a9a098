// Class `precision`: what products lose in low precision, by the size of the factors and the length of the sums.
// Nothing is timed here; every number is the same on every machine.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "apps/diagnose_classes.h"
#include "apps/diagnose_report.h"
#include "kernels/precision/methods.h"
#include "operators/random_numbers.h"

namespace tensormg::diagnose
{
namespace
{
  using precision::Method;

  constexpr std::uint64_t seed_a = 61, seed_b = 62, sign_seed = 63;
  constexpr int samples = 64; ///< dot products of each kind

  /// Magnitudes 10^lower to 10^upper, their logarithms uniform, signs random.
  struct Range
  {
    const char *name;
    double lower, upper;
  };
  constexpr std::array ranges{Range{"0.1 to 1", -1., 0.}, Range{"1e-4 to 1e4", -4., 4.},
      Range{"1e-8 to 1e-6", -8., -6.}, Range{"1e4 to 1e6", 4., 6.}};

  std::vector<float> random_factors(std::uint64_t seed, const Range &range, std::int64_t size)
  {
    std::vector<float> factors(static_cast<std::size_t>(size));
    for (std::size_t i = 0; i < factors.size(); ++i)
    {
      const double exponent = range.lower + (range.upper - range.lower) * random_unit(seed, i);
      const double sign = random_bits(seed + sign_seed, i) % 2 == 0 ? 1. : -1.;
      factors[i] = static_cast<float>(sign * std::pow(10., exponent));
    }
    return factors;
  }

  /// Both factors of all samples.
  struct Factors
  {
    Factors(const Range &range, std::int64_t length_)
      : length(length_)
      , a(random_factors(seed_a, range, samples * length_))
      , b(random_factors(seed_b, range, samples * length_))
    {}
    std::int64_t length;
    std::vector<float> a, b;
  };

  /// The part of the factors of which `is_so` holds.
  template <typename Condition>
  double part(const Factors &factors, Condition &&is_so)
  {
    const auto count = std::count_if(factors.a.begin(), factors.a.end(), is_so) +
        std::count_if(factors.b.begin(), factors.b.end(), is_so);
    return static_cast<double>(count) / static_cast<double>(factors.a.size() + factors.b.size());
  }

  Accuracy measure_accuracy(const Method &method, const Range &range, const Factors &factors)
  {
    Accuracy result;
    result.method = method.name;
    result.range = range.name;
    result.length = factors.length;
    result.expected = method.bound(factors.length);
    for (int s = 0; s < samples; ++s)
    {
      const float *a = factors.a.data() + s * factors.length;
      const float *b = factors.b.data() + s * factors.length;
      const precision::Exact exact = precision::exact_dot(factors.length, a, b);
      const double error =
          std::abs(method.dot(factors.length, a, b) - exact.product) / exact.magnitude;
      // std::max would drop NaN.
      result.error = std::isfinite(error) ? std::max(result.error, error)
                                          : std::numeric_limits<double>::infinity();
      if (!std::isfinite(error))
        break;
    }
    const double above = part(factors, [&](float x) { return std::abs(x) > method.largest; });
    const double below = part(factors, [&](float x) { return std::abs(x) < method.smallest; });
    result.in_range = above == 0. && below == 0.;
    if (above > 0.)
      result.remark = format_number(100. * above) + " % of the factors overflow";
    if (below > 0.)
      result.remark += (above > 0. ? ", " : "") + format_number(100. * below) +
          " % are below the normal numbers";
    return result;
  }
} // namespace

void run_precision(Run &run)
{
  for (const Range &range : ranges)
  {
    const std::size_t first = run.diagnosis.accuracies.size();
    for (const std::int64_t length : run.options.sum_lengths)
    {
      const Factors factors(range, length);
      for (const Method &method : precision::methods())
        run.diagnosis.accuracies.push_back(measure_accuracy(method, range, factors));
    }
    run.console.normal(accuracy_text(run.diagnosis, first));
  }
}
} // namespace tensormg::diagnose
