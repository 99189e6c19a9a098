// What the parts of class `precision` share: the factors, and the table of a device.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/diagnose/classes.h"
#include "kernels/diagnostics/precision/methods.h"

namespace tensormg::diagnose
{
/// Magnitudes 10^lower to 10^upper, their logarithms uniform, signs random.
struct FactorRange
{
  const char *name;
  double lower, upper;
};

/// Both factors of all sums of one length, sum after sum.
struct FactorSamples
{
  FactorSamples(const FactorRange &of, std::int64_t length_);
  const char *range;
  std::int64_t length;
  std::vector<float> a, b;
};

inline constexpr int precision_samples = 64; ///< sums of each kind

/// The error of a method whose results are known.
Accuracy accuracy_of(const precision::Method &method, const std::string &name, Place place,
    const FactorSamples &factors, const std::vector<double> &results);

/// The methods that a device has, by its units. Throws DeviceError.
std::vector<Accuracy> device_accuracies(const FactorSamples &factors);

/// What the adders of a device do, and the kernels that cuBLAS takes.
void run_device_units(Run &run);
} // namespace tensormg::diagnose
