// Class `precision`: what products lose in low precision, by the size of the factors and the length of the sums.
// Nothing is timed here. The model on the host gives the same numbers on every machine; beside it stands what the
// units of the device give for the same factors.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "apps/diagnose/precision/precision.h"
#include "apps/diagnose/report.h"
#include "apps/diagnose/run.h"
#include "kernels/core/random_numbers.h"
#include "kernels/diagnostics/precision/methods.h"

namespace tensormg::diagnose
{
namespace
{
  using precision::Method;

  constexpr std::uint64_t seed_a = 61, seed_b = 62, sign_seed = 63;
  constexpr std::array ranges{FactorRange{"0.1 to 1", -1., 0.}, FactorRange{"1e-4 to 1e4", -4., 4.},
      FactorRange{"1e-8 to 1e-6", -8., -6.}, FactorRange{"1e4 to 1e6", 4., 6.}};

  std::vector<float> random_factors(std::uint64_t seed, const FactorRange &range, std::int64_t size)
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

  /// The part of the factors of which `is_so` holds.
  template <typename Condition>
  double part(const FactorSamples &factors, Condition &&is_so)
  {
    const auto count = std::count_if(factors.a.begin(), factors.a.end(), is_so) +
        std::count_if(factors.b.begin(), factors.b.end(), is_so);
    return static_cast<double>(count) / static_cast<double>(factors.a.size() + factors.b.size());
  }

  /// By the model.
  Accuracy host_accuracy(const Method &method, const FactorSamples &factors)
  {
    std::vector<double> results;
    for (int s = 0; s < precision_samples; ++s)
      results.push_back(method.dot(factors.length, factors.a.data() + s * factors.length,
          factors.b.data() + s * factors.length));
    return accuracy_of(method, method.name, Place::host, factors, results);
  }
} // namespace

FactorSamples::FactorSamples(const FactorRange &of, std::int64_t length_)
  : range(of.name)
  , length(length_)
  , a(random_factors(seed_a, of, precision_samples * length_))
  , b(random_factors(seed_b, of, precision_samples * length_))
{}

Accuracy accuracy_of(const Method &method, const std::string &name, Place place,
    const FactorSamples &factors, const std::vector<double> &results)
{
  Accuracy result;
  result.method = name;
  result.place = place;
  result.range = factors.range;
  result.length = factors.length;
  result.expected = method.bound(factors.length);
  for (std::size_t s = 0; s < results.size(); ++s)
  {
    const auto first = static_cast<std::int64_t>(s) * factors.length;
    const precision::Exact exact =
        precision::exact_dot(factors.length, factors.a.data() + first, factors.b.data() + first);
    const double error = std::abs(results[s] - exact.product) / exact.magnitude;
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
    result.remark +=
        (above > 0. ? ", " : "") + format_number(100. * below) + " % are below the normal numbers";
  return result;
}

void run_precision(Run &run)
{
  const bool has_device = run.diagnosis.wants(Place::device) && run.diagnosis.no_device.empty();
  for (const FactorRange &range : ranges)
  {
    const std::size_t first = run.diagnosis.accuracies.size();
    for (const std::int64_t length : run.options.sum_lengths)
    {
      const std::string about =
          std::string("factors ") + range.name + ", sums of " + std::to_string(length);
      if (run.clock.is_spent())
      {
        leave_out("precision", about, run);
        continue;
      }
      run.progress.begin(about);
      const FactorSamples factors(range, length);
      std::vector<Accuracy> &list = run.diagnosis.accuracies;
      for (const Method &method : precision::methods())
        list.push_back(host_accuracy(method, factors));
      if (has_device)
        try
        {
          const std::vector<Accuracy> by_device = device_accuracies(factors);
          list.insert(list.end(), by_device.begin(), by_device.end());
        }
        catch (const DeviceError &error)
        {
          Entry entry;
          entry.class_name = "precision";
          entry.problem = std::string(range.name) + ", sums of " + std::to_string(length);
          entry.kernel = "device";
          entry.place = Place::device;
          entry.outcome = Outcome::failed;
          entry.reason = error.what();
          run.diagnosis.entries.push_back(entry);
          run.console.normal("  " + entry.problem + ": FAILED: " + entry.reason + '\n');
        }
    }
    if (run.diagnosis.accuracies.size() > first)
      run.console.normal(accuracy_text(run.diagnosis, first));
    run.progress.rest();
  }
  if (has_device)
    run_device_units(run);
}
} // namespace tensormg::diagnose
