// Tile and wave quantisation of dense products: a sweep of n around multiples of the tile and of full waves.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/common/console.h"
#include "kernels/diagnostics/gemm/quantisation.h"

namespace tensormg::diagnose
{
/// One n of the sweep; times in milliseconds.
struct QuantisationSample
{
  std::int64_t n = 0;
  double measured = 0.;
  double library = 0.; ///< of the vendor's library, whose tiles are not known; 0: not measured
  gemm::Waves waves;
  double predicted = 0.;
};

/// Of one kernel, with m and k fixed, n ascending.
struct Quantisation
{
  std::string kernel;
  gemm::Blocking blocking;
  std::int64_t m = 0, k = 0;
  std::vector<QuantisationSample> samples;
  gemm::WaveTime time; ///< from the first and the last sample without unused places
};

/// A few entries more than a multiple: what the next column of tiles costs.
struct QuantisationStep
{
  std::int64_t from = 0, to = 0; ///< n
  std::int64_t waves_from = 0, waves_to = 0;
  double predicted = 1., measured = 1.; ///< time of `to` / time of `from`
};

/// m of the sweep: rows of tiles of a full wave.
std::int64_t quantisation_rows(const gemm::Blocking &blocking);

/// n of the sweep: full waves, the begin and the end of their last tiles, the first columns of the next wave,
/// its middle. All are multiples of 8. Few: what one step takes.
std::vector<std::int64_t> quantisation_columns(const gemm::Blocking &blocking, bool few);

/// Adds waves, the model's times and its coefficients to what is measured. Throws std::invalid_argument unless two
/// samples have full waves.
void predict_quantisation(Quantisation &sweep);

/// Between neighbours that are at most a tile apart.
std::vector<QuantisationStep> steps_of(const Quantisation &sweep);

std::string quantisation_text(const Quantisation &sweep);
} // namespace tensormg::diagnose
