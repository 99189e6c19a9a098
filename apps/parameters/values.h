// Values that are lists: one entry per direction, named constants, increasing integers.
// read_*() return what is wrong with the text (empty: nothing), as ParameterEntry::read does.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "apps/parameters/text.h"
#include "operators/output/line_file.h"
#include "tensormg/problem.h"

namespace tensormg
{
/// "1, 2, 3" or, for all directions alike, "1"; `parse` gives an optional number.
template <typename Number, typename Parse>
std::string read_directions(
    std::array<Number, 3> &values, int dim, const std::string &text, Parse parse)
{
  const std::vector<std::string> parts = split(text, ',');
  if (parts.size() != 1 && parts.size() != static_cast<std::size_t>(dim))
    return "has " + std::to_string(parts.size()) + " entries, but problem.dimension is " +
        std::to_string(dim);
  for (int d = 0; d < dim; ++d)
  {
    const std::string &part = parts[parts.size() == 1 ? 0 : static_cast<std::size_t>(d)];
    const auto value = parse(part);
    if (!value)
      return "has the entry '" + cut(part) + "'";
    values[static_cast<std::size_t>(d)] = *value;
  }
  return "";
}

template <typename Number, typename Print>
std::string write_directions(const std::array<Number, 3> &values, int dim, Print print)
{
  std::vector<std::string> parts;
  bool alike = true;
  for (int d = 0; d < dim; ++d)
  {
    parts.push_back(print(values[static_cast<std::size_t>(d)]));
    alike = alike && parts.back() == parts.front();
  }
  return alike ? parts.front() : join(parts, ", ");
}

/// What is wrong with a name for a constant or another thing in expressions; empty if nothing is.
std::string complaint_about_name(const std::string &name);

/// "name=number, ..."; pi is always there, and never written.
std::string read_constants(std::map<std::string, double> &constants, const std::string &text);
std::string write_constants(const std::map<std::string, double> &constants);

/// One expression per direction, separated by semicolons; empty: unknown.
std::string read_gradient(std::array<std::string, 3> &gradient, int dim, const std::string &text);
std::string write_gradient(const std::array<std::string, 3> &gradient, int dim);

/// Integers from `lower` to `upper`, each larger than the one before.
std::string read_increasing(
    std::vector<int> &list, std::int64_t lower, std::int64_t upper, const std::string &text);
std::string write_list(const std::vector<int> &list);

/// The same for numbers that need 64 bits.
std::string read_increasing(std::vector<std::int64_t> &list, std::int64_t lower, std::int64_t upper,
    const std::string &text);
std::string write_list(const std::vector<std::int64_t> &list);

/// Different words, all of them known.
std::string read_words(
    std::vector<std::string> &list, const std::vector<std::string> &known, const std::string &text);

/// Points of `dim` numbers each, as in "0.5 0.5 0; 1 0 0".
std::string read_points(
    std::vector<std::array<double, 3>> &points, int dim, const std::string &text);
std::string write_points(const std::vector<std::array<double, 3>> &points, int dim);

/// "0 0 0 : 1 1 1 : 101; ...": both ends and the number of points of each line.
std::string read_lines(std::vector<LineProbe> &lines, int dim, const std::string &text);
std::string write_lines(const std::vector<LineProbe> &lines, int dim);

/// A backend that a solve may ask for.
std::string read_backend(std::string &backend, const std::string &text);

/// Such that dividing by it does not leave the range of double precision at once.
inline constexpr double least_coefficient = 1e-300;
/// One number for the whole box, into Problem::coefficient; otherwise one expression or, separated by semicolons, one per
/// direction, into Problem::cell_coefficient.
std::string read_coefficient(Problem &problem, const std::string &text);
std::string write_coefficient(const Problem &problem);

/// An expression; nothing or zero: no reaction.
std::string read_reaction(std::string &reaction, const std::string &text);

/// "0: 1.2, 1: 45": K by labels.
std::string read_materials(std::map<std::int64_t, double> &materials, const std::string &text);
std::string write_materials(const std::map<std::int64_t, double> &materials);

/// A path without what a shell would replace.
std::string read_directory(std::string &directory, const std::string &text);

/// A text of one line in UTF-8 without control characters. `taken`: what it must not be.
std::string read_printable(
    std::string &name, const std::vector<std::string> &taken, const std::string &text);

/// A word without the characters that a file name cannot have.
std::string read_file_name(std::string &name, const std::string &text);

/// The same with an ending that no other file of a run has; or nothing.
std::string read_log_name(std::string &name, const std::string &text);
} // namespace tensormg
