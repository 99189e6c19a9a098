#include "apps/diagnose/report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>

#include "apps/diagnose/bounds.h"
#include "apps/diagnose/caches.h"
#include "apps/diagnose/library.h"
#include "apps/parameters/text.h"

namespace tensormg::diagnose
{
namespace
{
  struct Column
  {
    const char *title;
    std::size_t width;
  };
  constexpr std::array columns{Column{"kernel", 18}, Column{"precision", 9}, Column{"error", 8},
      Column{"ms", 7}, Column{"spread", 6}, Column{"GB/s", 6}, Column{"% scale", 7},
      Column{"GFLOP/s", 7}, Column{"% peak", 6}, Column{"overl.", 7}, Column{"un-ov.", 7},
      Column{"bound", 13}};
  constexpr std::size_t left = 2; ///< columns aligned to the left

  std::string row_text(const std::vector<std::string> &cells)
  {
    std::string line = "   ";
    for (std::size_t c = 0; c < cells.size(); ++c)
    {
      const std::string padding(
          columns[c].width - std::min(columns[c].width, cells[c].size()), ' ');
      line += ' ' + (c < left ? cells[c] + padding : padding + cells[c]) + ' ';
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

  const char *unit_of(peak::Unit unit)
  {
    return unit == peak::Unit::shared_memory ? " GB/s"
        : unit == peak::Unit::issue          ? " G instructions/s"
                                             : " GFLOP/s";
  }

  bool counts_flops(peak::Unit unit)
  {
    return unit != peak::Unit::shared_memory && unit != peak::Unit::issue;
  }

  /// Of a kernel that arithmetic or shared memory bounds: what these need, and at the clock that there was.
  std::string clock_text(const Entry &entry, const Prediction &prediction)
  {
    const auto part = [&](double milliseconds) {
      return percent(100. * milliseconds / entry.time.median) + " %";
    };
    std::string text;
    if (prediction.shared > 0.)
      text += "; shared memory needs " + part(prediction.shared);
    if (prediction.slowdown > 1. && prediction.at_clock() > prediction.transfer)
      text += "; at " + format_number(*entry.clock_ghz) + " GHz, where the ceilings had " +
          format_number(prediction.slowdown * *entry.clock_ghz) + ", " +
          part(prediction.at_clock());
    return text;
  }

  /// The part of the time that the tightest bound explains.
  double part_of_bound(const Diagnosis &diagnosis, const Entry &entry)
  {
    return predict(entry, diagnosis.machine(entry.place)).overlapped() / entry.time.median;
  }

  /// Geometric mean and range of positive numbers.
  struct Summary
  {
    explicit Summary(const std::vector<double> &values)
    {
      double sum = 0.;
      for (const double value : values)
        sum += std::log(value);
      mean = std::exp(sum / static_cast<double>(values.size()));
      least = *std::min_element(values.begin(), values.end());
      most = *std::max_element(values.begin(), values.end());
    }
    template <typename Format>
    std::string text(Format &&format) const
    {
      return format(mean) +
          (format(least) == format(most) ? "" : " (" + format(least) + " to " + format(most) + ")");
    }
    double mean = 1., least = 1., most = 1.;
  };
} // namespace

std::string no_device_text(const Diagnosis &diagnosis)
{
  return diagnosis.no_device.empty() ? ""
                                     : "no device    " + diagnosis.no_device +
          (diagnosis.wants(Place::host)
                  ? ";\n             kernels of the host run, and nothing here "
                    "says anything about tensor cores\n"
                  : "\n");
}

std::string machines_text(const Diagnosis &diagnosis)
{
  std::string text;
  for (const Machine &machine : diagnosis.machines)
  {
    text += std::string("  ") + place_word(machine.place) + ": " + machine.name + ", " +
        machine.detail + "\n    scale " + giga(machine.memory_bandwidth()) + " GB/s";
    if (machine.theoretical_bandwidth > 0.)
      text += " (" +
          format_number(100. * machine.memory_bandwidth() / machine.theoretical_bandwidth) +
          " % of " + giga(machine.theoretical_bandwidth) + " by clock and bus)";
    for (const Ceiling &ceiling : machine.ceilings)
      text += std::string(", ") + ceiling.row->name + ' ' + giga(ceiling.rate) +
          unit_of(ceiling.row->unit);
    text += '\n';
  }
  return text;
}

std::string ceilings_text(const Machine &machine)
{
  TextTable bandwidth("    ", 1);
  std::vector<std::string> titles{"GB/s"};
  std::vector<double> sizes;
  for (const StreamSample &sample : machine.stream)
    sizes.push_back(sample.bytes);
  std::sort(sizes.begin(), sizes.end());
  // Operations with one array and with two differ a little in what they round a size to.
  sizes.erase(
      std::unique(sizes.begin(), sizes.end(), [](double a, double b) { return b < 1.2 * a; }),
      sizes.end());
  for (const double size : sizes)
    titles.push_back(format_number(1e-6 * size) + " MB");
  bandwidth.add_row(titles);
  for (const stream::Operation operation : stream::all_operations)
    for (const bool past_caches : {false, true})
    {
      std::vector<std::string> row{
          stream::to_string(operation) + std::string(past_caches ? ", past caches" : "")};
      bool any = false;
      for (const double size : sizes)
      {
        const auto sample =
            std::find_if(machine.stream.begin(), machine.stream.end(), [&](const StreamSample &s) {
              return s.operation == operation && s.past_caches == past_caches &&
                  s.bytes > size / 1.2 && s.bytes < 1.2 * size;
            });
        any = any || sample != machine.stream.end();
        row.push_back(sample == machine.stream.end() ? "" : giga(sample->rate));
      }
      if (any)
        bandwidth.add_row(row);
    }

  TextTable units("    ", 1);
  units.add_row({"unit", "rate", "balance (flop/byte)", "alpha", "limit 2-2/(1+alpha)"});
  for (const Ceiling &ceiling : machine.ceilings)
  {
    const std::optional<double> alpha = machine.alpha(ceiling.row->name);
    units.add_row({ceiling.row->name, giga(ceiling.rate) + unit_of(ceiling.row->unit),
        counts_flops(ceiling.row->unit) ? format_number(ceiling.rate / machine.memory_bandwidth())
                                        : "-",
        alpha ? format_number(*alpha) : "-",
        alpha ? format_number(roofline::memory_bound_limit(*alpha)) : "-"});
  }
  return std::string("  ") + place_word(machine.place) + ", working set of all arrays together\n" +
      bandwidth.text() + caches_text(machine.caches) + units.text();
}

std::string class_heading(const ClassRow &row, std::size_t number, std::size_t of)
{
  std::string text = "\n[" + std::to_string(number) + '/' + std::to_string(of) + "] " + row.name +
      ": " + row.about + '\n';
  if (*row.missing != '\0')
    text += std::string("  not written yet: ") +
        (row.run == nullptr ? "no kernel of this class exists, nothing is measured" : row.missing) +
        '\n';
  return text;
}

std::string problem_heading(const std::string &class_name, const std::string &problem)
{
  std::vector<std::string> titles;
  for (const Column &column : columns)
    titles.emplace_back(column.title);
  return "  " + class_name + ", " + problem + '\n' + row_text(titles);
}

std::string entry_text(const Diagnosis &diagnosis, const Entry &entry)
{
  std::vector<std::string> cells{entry.kernel, entry.precision};
  if (entry.outcome != Outcome::measured)
  {
    if (entry.error)
      cells.push_back(format_residual(*entry.error));
    std::string line = row_text(cells);
    line.pop_back();
    return line + "  " + (entry.outcome == Outcome::failed ? "FAILED: " : "not available: ") +
        entry.reason + '\n';
  }
  const Machine &machine = diagnosis.machine(entry.place);
  const Prediction prediction = predict(entry, machine);
  const double seconds = entry.seconds();
  const char *const bound = bound_that_holds(entry, prediction);
  for (std::string cell :
      {entry.error ? format_residual(*entry.error) : std::string("-"),
          format_number(entry.time.median),
          percent(100. * entry.time.spread / entry.time.median) + " %",
          giga(entry.work.bytes / seconds), percent(100. * prediction.transfer / entry.time.median),
          giga(entry.work.flops / seconds),
          percent(100. * prediction.arithmetic / entry.time.median),
          format_number(prediction.overlapped()), format_number(prediction.unoverlapped()),
          bound != nullptr ? std::string(bound)
                           : "none " + percent(100. * part_of_bound(diagnosis, entry)) + '%'})
    cells.push_back(std::move(cell));
  std::string line = row_text(cells);
  if (entry.items.count > 0.)
  {
    line.pop_back();
    line += "  " + giga(entry.items.count / seconds) + " G" + entry.items.name + "/s\n";
  }
  if (const std::optional<Gain> g = gain(entry, diagnosis))
  {
    line.pop_back();
    line += "  " + format_number(g->measured) + " x " + entry.twin +
        (g->is_by_turns ? " by turns" : "") +
        (g->alpha == 1.
                ? ""
                : ", bound " + format_number(g->bound) + ", 1+I/B " + format_number(g->most)) +
        '\n';
  }
  if (const std::string text = clock_text(entry, prediction); !text.empty())
  {
    line.pop_back();
    line += text + '\n';
  }
  for (const Figure &figure : entry.figures)
    line += "        " + figure.name + ' ' + format_number(figure.value) + ' ' + figure.unit + '\n';
  return line;
}

std::string accuracy_text(const Diagnosis &diagnosis, std::size_t first)
{
  std::vector<std::string> titles{"factors " + diagnosis.accuracies.at(first).range}, methods;
  std::map<std::string, std::vector<std::string>> rows;
  std::string wrong;
  for (std::size_t i = first; i < diagnosis.accuracies.size(); ++i)
  {
    const Accuracy &accuracy = diagnosis.accuracies[i];
    if (rows[accuracy.method].empty())
      methods.push_back(accuracy.method);
    if (accuracy.method == methods.front())
      titles.push_back("sums of " + std::to_string(accuracy.length));
    rows[accuracy.method].push_back(
        std::isfinite(accuracy.error) ? format_residual(accuracy.error) : "overflow");
    if (accuracy.is_wrong())
      wrong += "    FAILED: " + accuracy.method + ", sums of " + std::to_string(accuracy.length) +
          ": the error is above its bound " + format_residual(accuracy.expected) + '\n';
  }
  TextTable table("    ", 1);
  table.add_row(titles);
  for (const std::string &method : methods)
  {
    std::vector<std::string> row{method};
    row.insert(row.end(), rows[method].begin(), rows[method].end());
    for (std::size_t i = first; i < diagnosis.accuracies.size(); ++i)
      if (const Accuracy &a = diagnosis.accuracies[i]; a.method == method && !a.remark.empty())
      {
        row.push_back(a.remark);
        break;
      }
    table.add_row(row);
  }
  return table.text() + wrong;
}

std::string verdict(const Diagnosis &diagnosis, const Entry &entry)
{
  const Prediction prediction = predict(entry, diagnosis.machine(entry.place));
  const char *const bound = bound_that_holds(entry, prediction);
  std::string text = bound != nullptr ? std::string("bound by ") + bound : "at no bound";
  text += ": theory needs " + percent(100. * part_of_bound(diagnosis, entry)) + " % of the time";
  if (bound == nullptr || bound != std::string(prediction.bound()))
    text += std::string(", for ") + prediction.bound();
  text += clock_text(entry, prediction);
  if (entry.counters)
    text += "; counters: " + counters::in_words(*entry.counters);
  if (const std::optional<Gain> g = gain(entry, diagnosis))
  {
    text += "; " + format_number(g->measured) + " times as fast as " + entry.twin;
    if (g->alpha != 1.)
      text += ", where alpha = " + format_number(g->alpha) + " allows " + format_number(g->bound) +
          " un-overlapped (no unit more than 1 + I/B = " + format_number(g->most) + ") and " +
          format_number(g->overlapped) + " overlapped";
  }
  return text;
}

std::string verdicts_text(const Diagnosis &diagnosis)
{
  struct Kernel
  {
    std::string name, twins;
    std::vector<double> parts, gains, bounds;
  };
  std::vector<Kernel> kernels; // in the order of the entries
  for (const Entry &entry : diagnosis.entries)
  {
    if (entry.outcome != Outcome::measured)
      continue;
    const std::string name = entry.class_name + ", " + entry.kernel + ' ' + entry.precision + " (" +
        place_word(entry.place) + ')';
    const std::string twins = join(entry.twins, " or ");
    auto kernel = std::find_if(kernels.begin(), kernels.end(),
        [&](const Kernel &k) { return k.name == name && k.twins == twins; });
    if (kernel == kernels.end())
      kernel = kernels.insert(kernels.end(), {name, twins, {}, {}, {}});
    kernel->parts.push_back(100. * part_of_bound(diagnosis, entry));
    if (const std::optional<Gain> g = gain(entry, diagnosis))
    {
      kernel->gains.push_back(g->measured);
      if (g->alpha != 1.)
        kernel->bounds.push_back(g->bound);
    }
  }
  if (kernels.empty())
    return "";
  std::string text =
      "\nverdict      part of the overlapped prediction that is reached, geometric mean "
      "over the problems and range\n";
  for (const Kernel &kernel : kernels)
  {
    const auto number = [](double value) { return format_number(value); };
    text += "  " + kernel.name + ": " + Summary(kernel.parts).text(percent) + " % on " +
        std::to_string(kernel.parts.size()) + (kernel.parts.size() == 1 ? " problem" : " problems");
    if (!kernel.gains.empty())
      text += "; " + Summary(kernel.gains).text(number) + " x " + kernel.twins;
    if (!kernel.bounds.empty())
      text += ", un-overlapped bound " + Summary(kernel.bounds).text(number);
    text += '\n';
  }
  return text + library_text(diagnosis);
}

std::string missing_text(const Diagnosis &diagnosis)
{
  std::vector<std::pair<std::string, int>> lines; // in the order of the entries
  for (const Entry &entry : diagnosis.entries)
    if (entry.outcome == Outcome::not_available)
    {
      const std::string line =
          entry.class_name + ", " + entry.kernel + ' ' + entry.precision + ": " + entry.reason;
      const auto known = std::find_if(
          lines.begin(), lines.end(), [&](const auto &pair) { return pair.first == line; });
      if (known == lines.end())
        lines.emplace_back(line, 1);
      else
        ++known->second;
    }
  std::string text = lines.empty() ? "" : "\nnot available\n";
  for (const auto &[line, count] : lines)
    text +=
        "  " + line + " (" + std::to_string(count) + (count == 1 ? " problem)\n" : " problems)\n");

  std::string unwritten;
  for (const std::string &name : effective(diagnosis.parameters.diagnose).classes)
  {
    const ClassRow &row = find_class(name);
    if (row.run == nullptr)
      unwritten += "  " + name + ": no kernel exists; NOTHING was measured\n";
    else if (*row.missing != '\0')
      unwritten += "  " + name + ": " + row.missing + '\n';
  }
  return text + (unwritten.empty() ? "" : "\nnot written yet\n" + unwritten);
}
} // namespace tensormg::diagnose
