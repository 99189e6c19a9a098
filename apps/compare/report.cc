#include "apps/compare/report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>

#include "apps/compare/tensor/tensor.h"

namespace tensormg
{
namespace
{
  /// A column of the entries, which are shown one by one and so have no common table.
  struct Column
  {
    const char *title;
    std::size_t width;
    bool left;
  };
  constexpr std::array columns{Column{"p", 1, false}, Column{"precision", 9, true},
      Column{"backend", 28, true}, Column{"unknowns", 13, false}, Column{"error", 8, false},
      Column{"ms", 7, false}, Column{"spread", 6, false}, Column{"GDoF/s", 7, false},
      Column{"% scale", 7, false}, Column{"TFLOP/s", 7, false}, Column{"% peak", 6, false}};

  std::string row_text(const std::vector<std::string> &cells)
  {
    std::string line = " ";
    for (std::size_t c = 0; c < cells.size(); ++c)
    {
      const std::string padding(
          columns[c].width - std::min(columns[c].width, cells[c].size()), ' ');
      line += ' ' + (columns[c].left ? cells[c] + padding : padding + cells[c]) + ' ';
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return line + '\n';
  }

  /// Two digits, at least.
  std::string percent(double value)
  {
    const long tenths = std::lround(10. * value);
    return tenths >= 100 ? std::to_string(std::lround(value))
                         : std::to_string(tenths / 10) + '.' + std::to_string(tenths % 10);
  }

  std::string giga(double value) { return format_number(1e-9 * value); }
  std::string tera(double value) { return format_number(1e-12 * value); }

  bool same_group(const Choice &a, const Choice &b)
  {
    return a.dim == b.dim && a.dofs == b.dofs && a.form == b.form && a.step == b.step;
  }

  std::string group_text(
      int dim, std::int64_t dofs, const std::string &form, const std::string &step)
  {
    return step + " in " + std::to_string(dim) + "D, form " + form + ", about " +
        format_count(dofs) + " unknowns";
  }

  /// What an entry of a form stands for, where the name does not say it.
  std::string form_note(const std::string &form)
  {
    if (!is_tensor_form(form))
      return "";
    return (form == "nodal_cells" ? "  cells, N = p + 1"
                                  : "  vertex patches of one colour, N = 2 (p + 1)") +
        std::string(
            "; random dense matrices; unknowns are the numbers of all tensors; the reference has "
            "at most ") +
        format_count(most_reference_dofs) +
        "\n  compared with the reference on the host: all of two small batches; of the one that is timed, "
        "the tensors at the corners\n  and 24 others, and that all numbers are finite\n";
  }

  std::string machine_text(const Machine &machine)
  {
    std::string text = "  " + machine.name + ", " + machine.detail + "\n    scale " +
        giga(machine.scale_bandwidth) + " GB/s";
    for (const auto &[unit, peak] : machine.peaks)
    {
      const char *per_second = unit == peak::Unit::shared_memory ? " TB/s"
          : unit == peak::Unit::issue                            ? " T instructions/s"
                                                                 : " TFLOP/s";
      text += std::string(", ") + peak::to_string(unit) + ' ' + tera(peak) + per_second;
    }
    return text + '\n';
  }

  std::string bound_text(const CompareEntry &entry, const Machine &machine)
  {
    const Bound bound = tightest_bound(entry, machine);
    const double part = bound.milliseconds / entry.time.median;
    return part >= bound_holds_from
        ? bound.name
        : "none (" + std::string(bound.name) + ' ' + percent(100. * part) + " %)";
  }

  std::string registers_text(const Resources &resources)
  {
    const std::string text = std::to_string(resources.registers);
    return resources.computing_registers == 0
        ? text
        : text + " (" + std::to_string(resources.computing_registers) + ')';
  }

  std::string clock_text(const std::optional<double> &gigahertz)
  {
    return gigahertz ? format_number(*gigahertz) : "-";
  }

  std::string lasting_text(const CompareEntry &entry)
  {
    const auto speed = entry.lasting_dofs_per_second();
    return speed ? giga(*speed) + " at " + clock_text(entry.under_load.lasting->gigahertz) : "-";
  }

  std::string bytes_text(int bytes) { return format_number(bytes / 1024.) + " KiB"; }

  /// The verdict on the entries of one degree and precision, fastest first.
  std::string verdict(const Comparison &comparison, const std::vector<const CompareEntry *> &sorted)
  {
    const CompareEntry &best = *sorted.front();
    const Machine &machine = comparison.machine(best.place);
    const Bound bound = tightest_bound(best, machine);
    const double part = bound.milliseconds / best.time.median;
    std::string text = best.choice.backend + ' ' + giga(best.dofs_per_second()) + " GDoF/s";
    if (sorted.size() > 1)
      text += " is fastest (" +
          format_number(best.dofs_per_second() / sorted[1]->dofs_per_second()) + " x " +
          sorted[1]->choice.backend + ")";
    text += ", " + percent(percent_of_scale(best, machine)) + " % of scale, ";
    if (part >= bound_holds_from)
      return text + "bound by " + bound.name;
    text += "at no bound";
    return std::string(bound.name) == "memory" ? text
                                               : text + " (the tightest, " + bound.name + ", is " +
            percent(100. * part) + " % of the time)";
  }
} // namespace

std::string machines_text(const Comparison &comparison)
{
  std::string text = "machines     measured in this run\n";
  for (const Machine &machine : comparison.machines)
    text += machine_text(machine);
  if (!comparison.no_device.empty())
    text += "  no device: " + comparison.no_device + '\n';
  if (!comparison.no_counters.empty())
    text += "  no hardware counters, and so no bound by issue: " + comparison.no_counters + '\n';
  return text;
}

std::string group_heading(
    int dim, std::int64_t dofs, const std::string &form, const std::string &step)
{
  std::vector<std::string> titles;
  for (const Column &column : columns)
    titles.emplace_back(column.title);
  return '\n' + group_text(dim, dofs, form, step) + '\n' + form_note(form) + row_text(titles);
}

std::string entry_text(const Comparison &comparison, const CompareEntry &entry)
{
  const Machine &machine = comparison.machine(entry.place);
  std::vector<std::string> cells{std::to_string(entry.choice.degree), entry.choice.precision,
      entry.choice.backend, format_count(entry.dofs),
      entry.error ? format_residual(*entry.error) : "-"};
  if (entry.outcome == Outcome::failed)
  {
    std::string line = row_text(cells);
    line.pop_back();
    return line + "  FAILED: " + entry.reason + '\n';
  }
  for (std::string cell : {format_number(entry.time.median),
           percent(100. * entry.time.spread / entry.time.median) + " %",
           giga(entry.dofs_per_second()), percent(percent_of_scale(entry, machine)),
           tera(entry.flops() / entry.seconds()), percent(percent_of_peak(entry, machine))})
    cells.push_back(std::move(cell));
  return row_text(cells);
}

std::string bounds_text(const Comparison &comparison, std::size_t first)
{
  TextTable table("  ", 3);
  table.add_row({"p", "precision", "backend", "measured", "memory", "shared", "issue", "arithmetic",
      "bound", "registers", "shared/block", "occupancy", "wavefronts", "GHz", "lasting"});
  bool empty = true;
  for (std::size_t i = first; i < comparison.entries.size(); ++i)
  {
    const CompareEntry &entry = comparison.entries[i];
    if (entry.outcome != Outcome::measured)
      continue;
    empty = false;
    const Machine &machine = comparison.machine(entry.place);
    std::vector<std::string> row{std::to_string(entry.choice.degree), entry.choice.precision,
        entry.choice.backend, format_number(entry.time.median)};
    const std::vector<Bound> bounds = predict(entry, machine);
    for (const char *name : bound_names)
    {
      const auto milliseconds = predicted_milliseconds(bounds, name);
      row.push_back(milliseconds ? format_number(*milliseconds) : "-");
    }
    row.push_back(bound_text(entry, machine));
    const auto &resources = entry.resources;
    row.push_back(resources ? registers_text(*resources) : "-");
    row.push_back(resources ? bytes_text(resources->shared_bytes) : "-");
    row.push_back(resources ? percent(100. * resources->occupancy) + " %" : "-");
    row.push_back(
        resources && resources->wavefronts ? format_number(*resources->wavefronts) + " x" : "-");
    row.push_back(clock_text(entry.under_load.burst_gigahertz));
    row.push_back(lasting_text(entry));
    table.add_row(row);
  }
  return empty
      ? "  nothing was measured\n"
      : "\n  predicted ms if only one bound held (issue: by hardware counters); registers: as "
        "compiled (of threads\n  that compute, where others give them theirs); GHz: clock while timed; "
        "lasting: GDoF/s and GHz when run without pauses\n" +
          table.text();
}

std::string verdicts_text(const Comparison &comparison)
{
  std::string text;
  std::vector<const CompareEntry *> rest;
  for (const CompareEntry &entry : comparison.entries)
    if (entry.outcome != Outcome::not_available)
      rest.push_back(&entry);
  const Choice *group = nullptr;
  while (!rest.empty())
  {
    const Choice &choice = rest.front()->choice;
    if (group == nullptr || !same_group(*group, choice))
      text +=
          "\nverdict      " + group_text(choice.dim, choice.dofs, choice.form, choice.step) + '\n';
    group = &choice;

    // The entries that compete with the first of the rest.
    std::vector<const CompareEntry *> measured, failed, others;
    for (const CompareEntry *entry : rest)
      if (!same_group(entry->choice, choice) || entry->choice.degree != choice.degree ||
          entry->choice.precision != choice.precision)
        others.push_back(entry);
      else
        (entry->outcome == Outcome::measured ? measured : failed).push_back(entry);
    std::stable_sort(
        measured.begin(), measured.end(), [](const CompareEntry *a, const CompareEntry *b) {
          return a->dofs_per_second() > b->dofs_per_second();
        });
    const std::string name =
        "  p = " + std::to_string(choice.degree) + ", " + choice.precision + ": ";
    if (!measured.empty())
      text += name + verdict(comparison, measured) + '\n';
    for (const CompareEntry *entry : failed)
      text += name + entry->choice.backend + " FAILED: " + entry->reason + '\n';
    rest = others;
  }
  return text;
}

std::string not_available_text(const Comparison &comparison)
{
  std::vector<std::pair<std::string, int>> lines; // in the order of the entries
  for (const CompareEntry &entry : comparison.entries)
    if (entry.outcome == Outcome::not_available)
    {
      const std::string line = entry.choice.backend + ": " + entry.reason;
      const auto known = std::find_if(
          lines.begin(), lines.end(), [&](const auto &pair) { return pair.first == line; });
      if (known == lines.end())
        lines.emplace_back(line, 1);
      else
        ++known->second;
    }
  std::string text = lines.empty() ? "" : "\nnot available\n";
  for (const auto &[line, count] : lines)
    text += "  " + line + " (" + std::to_string(count) + (count == 1 ? " entry)\n" : " entries)\n");
  return text;
}
} // namespace tensormg
