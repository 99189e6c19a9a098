#include "apps/diagnose/precision/quantisation.h"

#include <algorithm>
#include <stdexcept>

namespace tensormg::diagnose
{
namespace
{
  constexpr std::int64_t few_columns = 8; ///< of C: as many as copies of 16 bytes ask for
  constexpr int most_waves = 3;

  std::string tera(double flops, double milliseconds)
  {
    return milliseconds > 0. ? format_number(1e-9 * flops / milliseconds) : "";
  }
} // namespace

std::int64_t quantisation_rows(const gemm::Blocking &blocking)
{
  return std::int64_t(gemm::full_wave(blocking.blocks).rows) * blocking.tile_m;
}

std::vector<std::int64_t> quantisation_columns(const gemm::Blocking &blocking, bool few)
{
  const std::int64_t wave =
      std::int64_t(gemm::full_wave(blocking.blocks).columns) * blocking.tile_n;
  if (few)
    return {wave, wave + few_columns, 2 * wave};
  std::vector<std::int64_t> columns;
  for (int w = 1; w <= most_waves; ++w)
  {
    columns.insert(columns.end(),
        {w * wave - blocking.tile_n + few_columns, w * wave, w * wave + few_columns});
    if (w < most_waves)
      columns.push_back(w * wave + wave / 2 / few_columns * few_columns);
  }
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  return columns;
}

void predict_quantisation(Quantisation &sweep)
{
  const QuantisationSample *first = nullptr, *last = nullptr;
  for (QuantisationSample &sample : sweep.samples)
  {
    sample.waves = gemm::waves_of({sweep.m, sample.n, sweep.k}, sweep.blocking);
    if (sample.waves.use() == 1.)
    {
      first = first == nullptr ? &sample : first;
      last = &sample;
    }
  }
  if (first == last)
    throw std::invalid_argument("a sweep of products without two that fill their waves");
  sweep.time =
      gemm::wave_time(first->waves.waves, first->measured, last->waves.waves, last->measured);
  for (QuantisationSample &sample : sweep.samples)
    sample.predicted = sweep.time.after(sample.waves.waves);
}

std::vector<QuantisationStep> steps_of(const Quantisation &sweep)
{
  std::vector<QuantisationStep> steps;
  for (std::size_t i = 1; i < sweep.samples.size(); ++i)
  {
    const QuantisationSample &from = sweep.samples[i - 1], &to = sweep.samples[i];
    if (to.n - from.n <= sweep.blocking.tile_n)
      steps.push_back({from.n, to.n, from.waves.waves, to.waves.waves,
          to.predicted / from.predicted, to.measured / from.measured});
  }
  return steps;
}

std::string quantisation_text(const Quantisation &sweep)
{
  const bool has_library = std::any_of(sweep.samples.begin(), sweep.samples.end(),
      [](const QuantisationSample &sample) { return sample.library > 0.; });
  TextTable table("    ");
  std::vector<std::string> titles{
      "n", "tiles", "waves", "useful %", "ms predicted", "measured", "TFLOP/s"};
  if (has_library)
    titles.emplace_back("cublas");
  table.add_row(titles);
  for (const QuantisationSample &sample : sweep.samples)
  {
    const double flops = gemm::work({sweep.m, sample.n, sweep.k}, 2).flops;
    std::vector<std::string> row{std::to_string(sample.n), std::to_string(sample.waves.tiles),
        std::to_string(sample.waves.waves), format_number(100. * sample.waves.use()),
        format_number(sample.predicted), format_number(sample.measured),
        tera(flops, sample.measured)};
    if (has_library)
      row.push_back(tera(flops, sample.library));
    table.add_row(row);
  }
  std::string text = "  quantisation of " + sweep.kernel + ": tiles of " +
      std::to_string(sweep.blocking.tile_m) + " x " + std::to_string(sweep.blocking.tile_n) + ", " +
      std::to_string(sweep.blocking.blocks) + " at once, m = " + std::to_string(sweep.m) +
      ", k = " + std::to_string(sweep.k) + "; " + format_number(sweep.time.start) + " ms + " +
      format_number(sweep.time.wave) + " ms per wave\n" + table.text();
  for (const QuantisationStep &step : steps_of(sweep))
    text += "    from n = " + std::to_string(step.from) + " to " + std::to_string(step.to) +
        (step.waves_from == step.waves_to ? ", the same waves"
                                          : ", " + std::to_string(step.waves_from) + " to " +
                    std::to_string(step.waves_to) + " waves") +
        ": predicted " + format_number(step.predicted) + ", measured " +
        format_number(step.measured) + " times as long\n";
  return text;
}
} // namespace tensormg::diagnose
