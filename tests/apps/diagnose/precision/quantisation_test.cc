// The sweep of quantisation: where it measures, what it predicts, what it says and writes.
#include "apps/diagnose/precision/quantisation.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "apps/diagnose/diagnose.h"
#include "apps/diagnose/report.h"
#include "tests/support/json.h"

namespace tensormg::diagnose
{
namespace
{
  const gemm::Blocking blocking{128, 256, 12}; // a full wave: 3 x 4 tiles, 384 x 1024

  Quantisation sweep_with(const std::vector<std::int64_t> &columns)
  {
    Quantisation sweep;
    sweep.kernel = "a_kernel";
    sweep.blocking = blocking;
    sweep.m = quantisation_rows(blocking);
    sweep.k = 2048;
    for (const std::int64_t n : columns)
    {
      QuantisationSample sample;
      sample.n = n;
      // One millisecond per wave, two more, and a tenth for what begins a wave.
      const gemm::Waves waves = gemm::waves_of({sweep.m, n, sweep.k}, blocking);
      sample.measured = 2. + static_cast<double>(waves.waves) + (waves.wave_use < 1. ? 0.1 : 0.);
      sweep.samples.push_back(sample);
    }
    predict_quantisation(sweep);
    return sweep;
  }

  TEST(DiagnoseQuantisation, SweepsAroundTilesAndWaves)
  {
    EXPECT_EQ(quantisation_rows(blocking), 384);
    EXPECT_EQ(quantisation_columns(blocking, false),
        (std::vector<std::int64_t>{
            776, 1024, 1032, 1536, 1800, 2048, 2056, 2560, 2824, 3072, 3080}));
    EXPECT_EQ(quantisation_columns(blocking, true), (std::vector<std::int64_t>{1024, 1032, 2048}));
    // One block at once: begin and end of tiles coincide with begin and end of waves.
    for (const gemm::Blocking &other :
        {gemm::Blocking{128, 128, 1}, gemm::Blocking{64, 8, 7}, gemm::Blocking{128, 256, 132}})
      for (const bool few : {false, true})
      {
        const auto columns = quantisation_columns(other, few);
        EXPECT_TRUE(std::is_sorted(columns.begin(), columns.end(), std::less_equal<>()));
        for (const std::int64_t n : columns)
          EXPECT_TRUE(n > 0 && n % 8 == 0) << n;
      }
  }

  TEST(DiagnoseQuantisation, PredictsByWaves)
  {
    const Quantisation sweep = sweep_with(quantisation_columns(blocking, false));
    EXPECT_DOUBLE_EQ(sweep.time.start, 2.);
    EXPECT_DOUBLE_EQ(sweep.time.wave, 1.);
    for (const QuantisationSample &sample : sweep.samples)
      EXPECT_DOUBLE_EQ(sample.predicted, 2. + static_cast<double>((sample.n + 1023) / 1024));
    const auto steps = steps_of(sweep);
    const auto find = [&](std::int64_t from) {
      return *std::find_if(steps.begin(), steps.end(),
          [&](const QuantisationStep &step) { return step.from == from; });
    };
    EXPECT_EQ(find(776).waves_to, 1); // within a tile
    EXPECT_DOUBLE_EQ(find(776).predicted, 1.);
    EXPECT_EQ(find(1024).to, 1032);
    EXPECT_EQ(find(1024).waves_to, 2);
    EXPECT_DOUBLE_EQ(find(1024).predicted, 4. / 3.);
    EXPECT_DOUBLE_EQ(find(1024).measured, 4.1 / 3.);
    EXPECT_EQ(std::count_if(steps.begin(), steps.end(),
                  [](const QuantisationStep &step) { return step.to - step.from > 256; }),
        0);
  }

  TEST(DiagnoseQuantisation, NeedsTwoFullWaves)
  {
    EXPECT_THROW(sweep_with({1024, 1032}), std::invalid_argument);
    EXPECT_THROW(sweep_with({}), std::invalid_argument);
  }

  TEST(DiagnoseQuantisation, IsShownAndWritten)
  {
    Quantisation sweep = sweep_with(quantisation_columns(blocking, true));
    const std::string without = quantisation_text(sweep);
    EXPECT_EQ(without.find("cublas"), std::string::npos);
    EXPECT_NE(without.find("tiles of 128 x 256, 12 at once, m = 384, k = 2048"), std::string::npos)
        << without;
    EXPECT_NE(
        without.find("from n = 1024 to 1032, 1 to 2 waves: predicted 1.33"), std::string::npos)
        << without;
    sweep.samples[0].library = 1.;
    EXPECT_NE(quantisation_text(sweep).find("cublas"), std::string::npos);

    Diagnosis diagnosis;
    diagnosis.parameters.diagnose.classes = {"gemm"};
    diagnosis.quantisations.push_back(sweep);
    diagnosis.seconds = 1.5;
    std::ostringstream text;
    write_json(diagnosis, text);
    const auto json = test::parse_json(text.str());
    EXPECT_EQ(json["seconds"], 1.5);
    const auto &written = json["quantisation"].at(0);
    EXPECT_EQ(written["samples"].size(), 3u);
    EXPECT_EQ(written["samples"][0]["library_milliseconds"], 1.);
    EXPECT_EQ(written["samples"][1]["library_milliseconds"], nullptr);
    EXPECT_EQ(written["samples"][1]["waves"], 2);
    EXPECT_EQ(written["steps"].size(), 1u);
  }
} // namespace
} // namespace tensormg::diagnose
