// diagnose.json and diagnose.csv.
#include <algorithm>
#include <iomanip>
#include <limits>
#include <ostream>
#include <vector>

#include <nlohmann/json.hpp>

#include "apps/common/json_text.h"
#include "apps/common/run_record.h"
#include "apps/diagnose/bounds.h"
#include "apps/diagnose/library.h"
#include "apps/diagnose/report.h"
#include "version.h"

namespace tensormg::diagnose
{
namespace
{
  using Json = nlohmann::ordered_json;

  template <typename T>
  Json optional(const std::optional<T> &value)
  {
    return value ? Json(*value) : Json(nullptr);
  }

  /// Of the compulsory bytes, by the memory's clock and bus.
  std::optional<double> percent_of_theoretical(const Entry &entry, const Machine &machine)
  {
    if (!(machine.theoretical_bandwidth > 0.))
      return std::nullopt;
    return 100. * entry.work.bytes / entry.seconds() / machine.theoretical_bandwidth;
  }

  Json machine_json(const Machine &machine)
  {
    Json ceilings = Json::array(), stream = Json::array();
    for (const Ceiling &ceiling : machine.ceilings)
    {
      const std::optional<double> alpha = machine.alpha(ceiling.row->name);
      Json json{{"name", ceiling.row->name}, {"rate_per_second", ceiling.rate},
          {"counted",
              ceiling.row->unit == peak::Unit::shared_memory ? "bytes"
                  : ceiling.row->unit == peak::Unit::issue   ? "instructions"
                                                             : "flops"},
          {"balance_flops_per_byte", ceiling.rate / machine.memory_bandwidth()},
          {"plain", ceiling.row->plain}, {"alpha", optional(alpha)},
          {"clock_ghz", optional(ceiling.clock_ghz)}};
      json["memory_bound_limit"] =
          alpha ? Json(roofline::memory_bound_limit(*alpha)) : Json(nullptr);
      ceilings.push_back(json);
    }
    for (const StreamSample &sample : machine.stream)
      stream.push_back(
          {{"operation", stream::to_string(sample.operation)}, {"past_caches", sample.past_caches},
              {"bytes", sample.bytes}, {"gb_per_second", 1e-9 * sample.rate}});
    Json caches = Json::array();
    for (const CacheSample &sample : machine.caches)
      caches.push_back({{"operation", stream::to_string(sample.operation)},
          {"cache", stream::to_string(sample.cache)}, {"bytes", sample.bytes},
          {"gb_per_second", 1e-9 * sample.rate}});
    return {{"place", place_word(machine.place)}, {"name", machine.name},
        {"detail", machine.detail},
        {"driver", machine.driver.empty() ? Json(nullptr) : Json(machine.driver)},
        {"scale_bandwidth_gb_per_s", 1e-9 * machine.memory_bandwidth()},
        {"theoretical_bandwidth_gb_per_s",
            machine.theoretical_bandwidth > 0. ? Json(1e-9 * machine.theoretical_bandwidth)
                                               : Json(nullptr)},
        {"ceilings", ceilings}, {"stream", stream}, {"caches", caches},
        {"remarks", machine.remarks}};
  }

  Json gain_json(const Entry &entry, const Diagnosis &diagnosis)
  {
    const std::optional<Gain> g = gain(entry, diagnosis);
    if (!g)
      return nullptr;
    return {{"twin", entry.twin}, {"fastest_of", entry.twins}, {"measured", g->measured},
        {"by_turns", g->is_by_turns}, {"alpha", g->alpha}, {"bound_unoverlapped", g->bound},
        {"bound_infinite_alpha", g->most}, {"limit", g->limit},
        {"predicted_unoverlapped", g->unoverlapped}, {"predicted_overlapped", g->overlapped}};
  }

  Json shares_json(const std::vector<counters::Share> &shares)
  {
    Json json = Json::object();
    for (const counters::Share &share : shares)
      json[share.name] = share.percent;
    return json;
  }

  /// Percentages.
  Json counters_json(const Entry &entry)
  {
    if (!entry.counters)
      return nullptr;
    return {{"units", shares_json(entry.counters->units)},
        {"resident_warps", entry.counters->resident_warps},
        {"time_of_warps", shares_json(entry.counters->waits)}};
  }

  Json entry_json(const Entry &entry, const Diagnosis &diagnosis)
  {
    Json json{{"class", entry.class_name}, {"problem", entry.problem}, {"kernel", entry.kernel},
        {"precision", entry.precision}, {"place", place_word(entry.place)},
        {"outcome", outcome_word(entry.outcome)}};
    if (entry.outcome != Outcome::measured)
    {
      if (entry.outcome == Outcome::failed)
        json.update(Json{{"error", optional(entry.error)}, {"error_allowed", entry.tolerance}});
      json["reason"] = entry.reason;
      return json;
    }
    const Machine &machine = diagnosis.machine(entry.place);
    const roofline::Rates rates = machine.rates(entry.ceiling, entry.working_set);
    const Prediction prediction = predict(entry, machine);
    json.update(Json{{"error", optional(entry.error)}, {"error_allowed", entry.tolerance},
        {"milliseconds", entry.time.median}, {"milliseconds_fastest", entry.time.fastest},
        {"milliseconds_slowest", entry.time.slowest},
        {"milliseconds_between_quartiles", entry.time.spread}, {"samples", entry.time.samples},
        {"runs_per_sample", entry.time.runs}, {"bytes", entry.work.bytes},
        {"flops", entry.work.flops}, {"executed_flops", entry.executed_flops},
        {"intensity_flops_per_byte", roofline::intensity(entry.work)},
        {"working_set_bytes", entry.working_set},
        {"gb_per_second", 1e-9 * entry.work.bytes / entry.seconds()},
        {"gflops_per_second", 1e-9 * entry.work.flops / entry.seconds()},
        {"ceiling", entry.ceiling}, {"scale_gb_per_second", 1e-9 * rates.bytes},
        {"balance_flops_per_byte", roofline::balance(rates)},
        {"percent_of_scale", 100. * prediction.transfer / entry.time.median},
        {"percent_of_theoretical_bandwidth", optional(percent_of_theoretical(entry, machine))},
        {"percent_of_peak", 100. * prediction.arithmetic / entry.time.median},
        {"predicted_overlapped_ms", prediction.overlapped()},
        {"predicted_unoverlapped_ms", prediction.unoverlapped()},
        {"predicted_shared_ms", prediction.shared}, {"clock_ghz", optional(entry.clock_ghz)},
        {"predicted_at_clock_ms", prediction.at_clock()},
        {"bound", nearest_bound(entry, prediction)},
        {"bound_holds", bound_that_holds(entry, prediction) != nullptr}});
    if (entry.items.count > 0.)
      json.update(Json{{"item", entry.items.name}, {"items", entry.items.count},
          {"items_per_second", entry.items.count / entry.seconds()}});
    json["gain"] = gain_json(entry, diagnosis);
    Json figures = Json::array();
    for (const Figure &figure : entry.figures)
      figures.push_back({{"name", figure.name}, {"value", figure.value}, {"unit", figure.unit}});
    json["figures"] = figures;
    json["library_kernels"] = entry.library_kernels;
    json["counters"] = counters_json(entry);
    json["verdict"] = verdict(diagnosis, entry);
    return json;
  }

  Json quantisation_json(const Quantisation &sweep)
  {
    Json samples = Json::array(), steps = Json::array();
    for (const QuantisationSample &sample : sweep.samples)
      samples.push_back({{"n", sample.n}, {"tiles", sample.waves.tiles},
          {"waves", sample.waves.waves}, {"tile_use", sample.waves.tile_use},
          {"wave_use", sample.waves.wave_use}, {"predicted_ms", sample.predicted},
          {"milliseconds", sample.measured},
          {"library_milliseconds", sample.library > 0. ? Json(sample.library) : Json(nullptr)}});
    for (const QuantisationStep &step : steps_of(sweep))
      steps.push_back({{"from_n", step.from}, {"to_n", step.to}, {"from_waves", step.waves_from},
          {"to_waves", step.waves_to}, {"predicted", step.predicted}, {"measured", step.measured}});
    return {{"kernel", sweep.kernel}, {"tile_m", sweep.blocking.tile_m},
        {"tile_n", sweep.blocking.tile_n}, {"blocks_at_once", sweep.blocking.blocks},
        {"m", sweep.m}, {"k", sweep.k}, {"start_ms", sweep.time.start},
        {"wave_ms", sweep.time.wave}, {"samples", samples}, {"steps", steps}};
  }

  /// In the order of the report, which is not that of the run.
  std::vector<const Entry *> sorted_entries(const Diagnosis &diagnosis)
  {
    const std::vector<std::string> order = report_order(diagnosis.parameters.diagnose);
    std::vector<const Entry *> entries;
    for (const Entry &entry : diagnosis.entries)
      entries.push_back(&entry);
    const auto place = [&](const Entry *entry) {
      return std::find(order.begin(), order.end(), entry->class_name);
    };
    std::stable_sort(entries.begin(), entries.end(),
        [&](const Entry *a, const Entry *b) { return place(a) < place(b); });
    return entries;
  }

  Json library_comparisons_json(const Diagnosis &diagnosis)
  {
    Json comparisons = Json::array();
    for (const LibraryComparison &comparison : csr_against_library(diagnosis))
    {
      Json matrices = Json::array();
      for (const LibraryQuotient &matrix : comparison.matrices)
        matrices.push_back({{"problem", matrix.problem}, {"algorithm", matrix.algorithm},
            {"quotient", matrix.quotient}});
      comparisons.push_back({{"precision", comparison.precision},
          {"geometric_mean", comparison.mean}, {"matrices", matrices}});
    }
    return comparisons;
  }

  Json classes_json(const Diagnosis &diagnosis)
  {
    Json classes = Json::array();
    for (const std::string &name : report_order(diagnosis.parameters.diagnose))
    {
      const ClassRow &row = find_class(name);
      double taken = 0.;
      for (const auto &[which, seconds] : diagnosis.class_seconds)
        taken += which == name ? seconds : 0.;
      classes.push_back({{"name", row.name}, {"about", row.about}, {"exists", row.run != nullptr},
          {"not_written_yet", row.missing}, {"seconds", taken}});
    }
    return classes;
  }

  Json adders_json(const Diagnosis &diagnosis)
  {
    Json adders = Json::array();
    for (const auto &[unit, found] : diagnosis.adders)
      adders.push_back({{"unit", unit}, {"rounding", precision::to_string(found.rounding)},
          {"extra_bits", found.extra_bits}, {"block", found.block},
          {"block_is_whole", found.block_is_whole},
          {"keeps_subnormal_factors", found.keeps_subnormal_factors},
          {"keeps_subnormal_sums", found.keeps_subnormal_sums},
          {"overflow_is_infinite",
              found.overflow_is_infinite ? Json(*found.overflow_is_infinite) : Json(nullptr)}});
    return adders;
  }

  Json library_json(const Diagnosis &diagnosis)
  {
    Json products = Json::array();
    for (const LibraryProduct &product : diagnosis.library_products)
      products.push_back({{"type", product.type}, {"size", product.size},
          {"alignment", product.alignment}, {"kernels", product.kernels},
          {"on_tensor_cores",
              product.on_tensor_cores ? Json(*product.on_tensor_cores) : Json(nullptr)},
          {"reason", product.reason}});
    return products;
  }

  /// As a field of a CSV file: quotes are doubled within quotes.
  std::string quoted(std::string text)
  {
    for (std::size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2)
      text.insert(at, 1, '"');
    return text.empty() ? "" : '"' + text + '"';
  }
} // namespace

void write_csv(const Diagnosis &diagnosis, std::ostream &out)
{
  out << "class,problem,kernel,precision,place,outcome,error,milliseconds,milliseconds_fastest,"
         "milliseconds_slowest,bytes,flops,executed_flops,gb_per_second,percent_of_scale,"
         "gflops_per_second,percent_of_peak,predicted_overlapped_ms,predicted_unoverlapped_ms,bound,"
         "twin,gain,gain_bound,predicted_shared_ms,clock_ghz,predicted_at_clock_ms,"
         "percent_of_theoretical_bandwidth,reason\n"
      << std::setprecision(std::numeric_limits<double>::max_digits10);
  for (const Entry *const which : sorted_entries(diagnosis))
  {
    const Entry &entry = *which;
    out << entry.class_name << ',' << quoted(entry.problem) << ',' << entry.kernel << ','
        << entry.precision << ',' << place_word(entry.place) << ',' << outcome_word(entry.outcome)
        << ',';
    if (entry.error)
      out << *entry.error;
    if (entry.outcome == Outcome::measured)
    {
      const Prediction prediction = predict(entry, diagnosis.machine(entry.place));
      out << ',' << entry.time.median << ',' << entry.time.fastest << ',' << entry.time.slowest
          << ',' << entry.work.bytes << ',' << entry.work.flops << ',' << entry.executed_flops
          << ',' << 1e-9 * entry.work.bytes / entry.seconds() << ','
          << 100. * prediction.transfer / entry.time.median << ','
          << 1e-9 * entry.work.flops / entry.seconds() << ','
          << 100. * prediction.arithmetic / entry.time.median << ',' << prediction.overlapped()
          << ',' << prediction.unoverlapped() << ',' << nearest_bound(entry, prediction) << ','
          << entry.twin << ',';
      if (const std::optional<Gain> g = gain(entry, diagnosis))
        out << g->measured << ',' << g->bound;
      else
        out << ',';
      out << ',' << prediction.shared << ',';
      if (entry.clock_ghz)
        out << *entry.clock_ghz;
      out << ',' << prediction.at_clock() << ',';
      if (const auto percent = percent_of_theoretical(entry, diagnosis.machine(entry.place)))
        out << *percent;
      out << ',';
    }
    else
      out << std::string(21, ',');
    out << quoted(entry.reason) << '\n';
  }
}

void write_json(const Diagnosis &diagnosis, std::ostream &out)
{
  Json machines = Json::array(), entries = Json::array(), accuracies = Json::array(),
       quantisations = Json::array();
  for (const Quantisation &sweep : diagnosis.quantisations)
    quantisations.push_back(quantisation_json(sweep));
  for (const Machine &machine : diagnosis.machines)
    machines.push_back(machine_json(machine));
  for (const Entry *const entry : sorted_entries(diagnosis))
    entries.push_back(entry_json(*entry, diagnosis));
  for (const Accuracy &accuracy : diagnosis.accuracies)
    accuracies.push_back({{"method", accuracy.method}, {"range", accuracy.range},
        {"length", accuracy.length}, {"error", accuracy.error}, {"bound", accuracy.expected},
        {"in_range", accuracy.in_range}, {"wrong", accuracy.is_wrong()},
        {"remark", accuracy.remark}, {"place", place_word(accuracy.place)}});
  const Json json{{"version", version}, {"git", git_hash}, {"date", diagnosis.date},
      {"command", diagnosis.command}, {"complete", diagnosis.complete},
      {"no_counters", diagnosis.no_counters.empty() ? Json(nullptr) : Json(diagnosis.no_counters)},
      {"no_device", diagnosis.no_device.empty() ? Json(nullptr) : Json(diagnosis.no_device)},
      {"machines", machines}, {"classes", classes_json(diagnosis)}, {"entries", entries},
      {"accuracy", accuracies}, {"adders", adders_json(diagnosis)},
      {"library_products", library_json(diagnosis)},
      {"csr_against_library", library_comparisons_json(diagnosis)}, {"quantisation", quantisations},
      {"seconds", diagnosis.seconds},
      {"parameters", json_of_text(json_text(diagnosis.parameters)).at("diagnose")}};
  out << text_of_json(json) << '\n';
}
} // namespace tensormg::diagnose
