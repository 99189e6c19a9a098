// compare.json and compare.csv.
#include <algorithm>
#include <array>
#include <cstddef>
#include <iomanip>
#include <limits>
#include <optional>
#include <ostream>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "apps/common/json_text.h"
#include "apps/common/run_record.h"
#include "apps/compare/report.h"
#include "version.h"

namespace tensormg
{
namespace
{
  using Json = nlohmann::ordered_json;

  template <typename T>
  Json optional(const std::optional<T> &value)
  {
    return value ? Json(*value) : Json(nullptr);
  }

  /// "fp64_tensor" from "FP64 tensor".
  std::string key_of(std::string name)
  {
    for (char &c : name)
      c = c == ' ' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return name;
  }
  std::string unit_key(peak::Unit unit) { return key_of(peak::to_string(unit)); }

  Json machine_json(const Machine &machine)
  {
    Json peaks = Json::object();
    for (const auto &[unit, peak] : machine.peaks)
      peaks[unit_key(unit)] = peak;
    return {{"place", place_word(machine.place)}, {"name", machine.name},
        {"detail", machine.detail}, {"scale_bandwidth_gb_per_s", 1e-9 * machine.scale_bandwidth},
        {"peaks_per_second", peaks}};
  }

  Json choice_json(const CompareEntry &entry)
  {
    const Choice &choice = entry.choice;
    return {{"dimension", choice.dim}, {"degree", choice.degree}, {"precision", choice.precision},
        {"form", choice.form}, {"step", choice.step}, {"backend", choice.backend}};
  }

  Json reason_json(const CompareEntry &entry)
  {
    Json json = choice_json(entry);
    json["dofs_wanted"] = entry.choice.dofs;
    if (entry.outcome == Outcome::failed)
    {
      json["error"] = optional(entry.error);
      json["error_allowed"] = entry.tolerance;
    }
    json["reason"] = entry.reason;
    return json;
  }

  bool holds(const Bound &bound, const CompareEntry &entry)
  {
    return bound.milliseconds >= bound_holds_from * entry.time.median;
  }

  Json entry_json(const CompareEntry &entry, const Machine &machine)
  {
    Json json = choice_json(entry);
    json.update(Json{{"place", place_word(entry.place)},
        {"cells",
            std::vector<std::int64_t>(entry.cells.begin(), entry.cells.begin() + entry.choice.dim)},
        {"dofs_wanted", entry.choice.dofs}, {"dofs", entry.dofs}, {"error", optional(entry.error)},
        {"error_allowed", entry.tolerance}, {"milliseconds", entry.time.median},
        {"milliseconds_fastest", entry.time.fastest}, {"milliseconds_slowest", entry.time.slowest},
        {"milliseconds_between_quartiles", entry.time.spread}, {"samples", entry.time.samples},
        {"runs_per_sample", entry.time.runs}, {"gdofs_per_second", 1e-9 * entry.dofs_per_second()},
        {"bytes_per_dof", entry.work.bytes}, {"bytes", entry.bytes()},
        {"percent_of_scale", percent_of_scale(entry, machine)}, {"flops_per_dof", entry.work.flops},
        {"tflops_per_second", 1e-12 * entry.flops() / entry.seconds()},
        {"unit", unit_key(entry.unit)}, {"percent_of_peak", percent_of_peak(entry, machine)}});
    const Bound tightest = tightest_bound(entry, machine);
    Json predicted = Json::object();
    for (const Bound &bound : predict(entry, machine))
      predicted[bound.name] = bound.milliseconds;
    json["predicted_milliseconds"] = predicted;
    json["bound"] = tightest.name;
    json["bound_holds"] = holds(tightest, entry);
    json["instructions_per_dof"] = optional(entry.instructions_per_dof);
    const auto &lasting = entry.under_load.lasting;
    json["clock_ghz"] = optional(entry.under_load.burst_gigahertz);
    json["lasting_milliseconds"] = lasting ? Json(lasting->milliseconds) : Json(nullptr);
    json["lasting_clock_ghz"] = lasting ? optional(lasting->gigahertz) : Json(nullptr);
    const auto &resources = entry.resources;
    json["registers"] = resources ? Json(resources->registers) : Json(nullptr);
    json["registers_of_computing_threads"] = resources && resources->computing_registers > 0
        ? Json(resources->computing_registers)
        : Json(nullptr);
    json["shared_bytes"] = resources ? Json(resources->shared_bytes) : Json(nullptr);
    json["occupancy"] = resources ? Json(resources->occupancy) : Json(nullptr);
    json["shared_wavefronts_of_least"] =
        resources ? optional(resources->wavefronts) : Json(nullptr);
    return json;
  }

  /// Columns of the CSV file, each with a comma behind it.
  void write_measured(const CompareEntry &entry, const Machine &machine, std::ostream &out)
  {
    const auto write_if_known = [&out](const std::optional<double> &value) {
      if (value)
        out << *value;
      out << ',';
    };
    for (const double value :
        {entry.time.median, entry.time.fastest, entry.time.slowest, entry.time.spread,
            1e-9 * entry.dofs_per_second(), entry.bytes(), percent_of_scale(entry, machine),
            1e-12 * entry.flops() / entry.seconds(), percent_of_peak(entry, machine)})
      out << value << ',';
    write_if_known(entry.instructions_per_dof);
    if (entry.resources)
      out << entry.resources->registers << ',' << entry.resources->shared_bytes << ','
          << entry.resources->occupancy << ',';
    else
      out << ",,,";
    const auto &lasting = entry.under_load.lasting;
    write_if_known(entry.under_load.burst_gigahertz);
    write_if_known(lasting ? std::optional(lasting->milliseconds) : std::nullopt);
    write_if_known(lasting ? lasting->gigahertz : std::nullopt);
    const std::vector<Bound> bounds = predict(entry, machine);
    for (const char *name : bound_names)
      write_if_known(predicted_milliseconds(bounds, name));
    const Bound tightest = tightest_bound(entry, machine);
    out << tightest.name << ',' << holds(tightest, entry) << ',';
  }
} // namespace

void write_compare_csv(const Comparison &comparison, std::ostream &out)
{
  constexpr std::string_view of_every_entry =
      "dimension,degree,precision,form,step,backend,dofs,outcome,error";
  constexpr std::string_view of_measured_ones =
      "milliseconds,milliseconds_fastest,milliseconds_slowest,milliseconds_between_quartiles,"
      "gdofs_per_second,bytes,percent_of_scale,tflops_per_second,percent_of_peak,"
      "instructions_per_dof,registers,shared_bytes,occupancy,clock_ghz,lasting_milliseconds,"
      "lasting_clock_ghz";
  out << of_every_entry << ',' << of_measured_ones;
  for (const char *name : bound_names)
    out << ",predicted_milliseconds_" << key_of(name);
  out << ",bound,bound_holds,reason\n"
      << std::setprecision(std::numeric_limits<double>::max_digits10);
  const auto unmeasured = std::count(of_measured_ones.begin(), of_measured_ones.end(), ',') + 1 +
      static_cast<std::ptrdiff_t>(bound_names.size()) + 2;
  for (const CompareEntry &entry : comparison.entries)
  {
    const Choice &choice = entry.choice;
    const bool available = entry.outcome != Outcome::not_available;
    out << choice.dim << ',' << choice.degree << ',' << choice.precision << ',' << choice.form
        << ',' << choice.step << ',' << choice.backend << ','
        << (available ? entry.dofs : choice.dofs) << ',' << outcome_word(entry.outcome) << ',';
    if (entry.error)
      out << *entry.error;
    out << ',';
    if (entry.outcome == Outcome::measured)
      write_measured(entry, comparison.machine(entry.place), out);
    else
      out << std::string(static_cast<std::size_t>(unmeasured), ',');
    std::string reason = entry.reason; // quotes are doubled within quotes
    for (std::size_t at = 0; (at = reason.find('"', at)) != std::string::npos; at += 2)
      reason.insert(at, 1, '"');
    out << (reason.empty() ? "" : '"' + reason + '"') << '\n';
  }
}

void write_compare_json(const Comparison &comparison, std::ostream &out)
{
  Json machines = Json::array(), entries = Json::array(), failed = Json::array(),
       not_available = Json::array();
  for (const Machine &machine : comparison.machines)
    machines.push_back(machine_json(machine));
  for (const CompareEntry &entry : comparison.entries)
    if (entry.outcome == Outcome::measured)
      entries.push_back(entry_json(entry, comparison.machine(entry.place)));
    else
      (entry.outcome == Outcome::failed ? failed : not_available).push_back(reason_json(entry));
  const Machine &main = comparison.main_machine();
  const Json json{{"device", main.name},
      {"driver", main.driver.empty() ? Json(nullptr) : Json(main.driver)}, {"git", git_hash},
      {"version", version}, {"date", comparison.date}, {"command", comparison.command},
      {"complete", comparison.complete}, {"ranks", comparison.ranks},
      {"no_device", comparison.no_device.empty() ? Json(nullptr) : Json(comparison.no_device)},
      {"no_counters",
          comparison.no_counters.empty() ? Json(nullptr) : Json(comparison.no_counters)},
      {"scale_bandwidth_gb_per_s", 1e-9 * main.scale_bandwidth}, {"machines", machines},
      {"entries", entries}, {"failed", failed}, {"not_available", not_available},
      {"parameters", json_of_text(json_text(comparison.parameters)).at("compare")}};
  out << text_of_json(json) << '\n';
}
} // namespace tensormg
