#include "apps/parameters/grading.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "apps/parameters/checks.h"
#include "apps/parameters/parameters.h"
#include "apps/parameters/text.h"
#include "operators/mesh/grid.h"

namespace tensormg
{
namespace
{
  constexpr std::array<std::pair<const char *, FineEnd>, 3> ends{
      {{"lower", FineEnd::lower}, {"upper", FineEnd::upper}, {"both", FineEnd::both}}};
  constexpr std::array<std::pair<const char *, Grading::Kind>, 5> kinds{
      {{"equal", Grading::Kind::equal}, {"geometric", Grading::Kind::geometric},
          {"tanh", Grading::Kind::tanh}, {"corners", Grading::Kind::corners},
          {"file", Grading::Kind::file}}};

  template <typename Value, std::size_t n>
  std::optional<Value> value_of(
      const std::array<std::pair<const char *, Value>, n> &table, const std::string &word)
  {
    for (const auto &[name, value] : table)
      if (word == name)
        return value;
    return std::nullopt;
  }
  template <typename Value, std::size_t n>
  std::string word_of(const std::array<std::pair<const char *, Value>, n> &table, Value value)
  {
    for (const auto &[name, entry] : table)
      if (entry == value)
        return name;
    return "";
  }

  std::string read_law(Grading &grading, std::istringstream &words)
  {
    std::string ratio, end, rest;
    words >> ratio >> end >> rest;
    const auto value = to_number(ratio);
    const auto fine_end = value_of(ends, end);
    if (!value || !(*value >= 1. && *value <= 1e9))
      return "has the ratio '" + cut(ratio) + "' of the largest to the smallest cell";
    if (!fine_end || !rest.empty())
      return "has '" + cut(end + (rest.empty() ? "" : " " + rest)) +
          "' where the smallest cells lie";
    grading.ratio = *value;
    grading.end = *fine_end;
    return "";
  }

  std::string read_numbers(std::vector<double> &numbers, std::istream &words)
  {
    for (std::string word; words >> word;)
    {
      const auto value = to_number(word);
      if (!value)
        return "has the corner '" + cut(word) + "'";
      numbers.push_back(*value);
    }
    return "";
  }

  std::string read_direction(Grading &grading, const std::string &text)
  {
    std::istringstream words(text);
    std::string word;
    words >> word;
    const auto kind = value_of(kinds, word);
    if (!kind)
      return "has the entry '" + cut(text) + "'";
    grading = {};
    grading.kind = *kind;
    switch (*kind)
    {
      case Grading::Kind::equal:
        return trim(text) == word ? "" : "has the entry '" + cut(text) + "'";
      case Grading::Kind::geometric:
      case Grading::Kind::tanh:
        return read_law(grading, words);
      case Grading::Kind::corners:
        return read_numbers(grading.corners, words);
      case Grading::Kind::file:
        std::getline(words >> std::ws, grading.path);
        grading.path = trim(grading.path);
        return grading.path.empty() ? "names no file" : "";
    }
    return "";
  }

  std::string write_direction(const Grading &grading)
  {
    std::string text = word_of(kinds, grading.kind);
    if (grading.kind == Grading::Kind::geometric || grading.kind == Grading::Kind::tanh)
      text += ' ' + to_text(grading.ratio) + ' ' + word_of(ends, grading.end);
    if (grading.kind == Grading::Kind::corners)
      for (const double corner : grading.corners)
        text += ' ' + to_text(corner);
    if (grading.kind == Grading::Kind::file)
      text += ' ' + grading.path;
    return text;
  }

  std::vector<double> read_file(const std::string &path)
  {
    constexpr std::uintmax_t most_bytes = 1U << 27U;
    std::error_code ignored;
    const bool is_usable = std::filesystem::is_regular_file(path, ignored) &&
        std::filesystem::file_size(path, ignored) <= most_bytes;
    std::ifstream file(path);
    std::vector<double> corners;
    if (!file || !is_usable)
      throw std::invalid_argument(
          path + " cannot be read; allowed: a text file of numbers, of at most 128 MiB");
    if (const std::string complaint = read_numbers(corners, file); !complaint.empty())
      throw std::invalid_argument(
          path + ' ' + complaint + "; allowed: numbers, with white space between them");
    if (file.bad())
      throw std::invalid_argument(path + " cannot be read to its end");
    return corners;
  }

  std::vector<double> corners_of(Grading &grading, const Problem &problem, std::size_t d)
  {
    const std::int64_t cells = problem.cells(static_cast<int>(d));
    const double lower = problem.lower[d], upper = problem.upper[d];
    switch (grading.kind)
    {
      case Grading::Kind::geometric:
        return geometric_corners(lower, upper, cells, grading.ratio, grading.end);
      case Grading::Kind::tanh:
        return tanh_corners(lower, upper, cells, grading.ratio, grading.end);
      case Grading::Kind::file:
        if (grading.corners.empty())
          grading.corners = read_file(grading.path);
        [[fallthrough]];
      case Grading::Kind::corners:
        if (grading.corners.empty())
          throw std::invalid_argument("there are no corners; allowed: two or more numbers");
        return grading.corners;
      case Grading::Kind::equal:
        break;
    }
    return {};
  }
} // namespace

std::string read_grading(std::array<Grading, 3> &grading, int dim, const std::string &text)
{
  grading = {};
  const std::vector<std::string> parts = split(text, ';');
  if (parts.empty())
    return "";
  const auto directions = static_cast<std::size_t>(dim);
  if (parts.size() != 1 && parts.size() != directions)
    return "has " + std::to_string(parts.size()) + " entries, but problem.dimension is " +
        std::to_string(dim);
  for (std::size_t d = 0; d < directions; ++d)
    if (std::string complaint = read_direction(grading[d], parts[parts.size() == 1 ? 0 : d]);
        !complaint.empty())
      return complaint;
  return "";
}

std::string write_grading(const std::array<Grading, 3> &grading, int dim)
{
  std::vector<std::string> parts;
  for (std::size_t d = 0; d < static_cast<std::size_t>(dim); ++d)
    parts.push_back(write_direction(grading[d]));
  const bool alike = std::all_of(
      parts.begin(), parts.end(), [&](const std::string &part) { return part == parts[0]; });
  if (!alike)
    return join(parts, "; ");
  return grading[0].kind == Grading::Kind::equal ? "" : parts[0];
}

void set_corners(Parameters &parameters)
{
  Problem &problem = parameters.problem;
  for (std::size_t d = 0; d < static_cast<std::size_t>(problem.dim); ++d)
  {
    std::string complaint;
    try
    {
      problem.corners[d] = corners_of(parameters.grading[d], problem, d);
      complaint = complaint_about_corners(problem, static_cast<int>(d));
    }
    catch (const std::invalid_argument &error)
    {
      complaint = error.what();
    }
    if (!complaint.empty())
      fail_for(parameters, {"problem.grading"}, std::string("in ") + "xyz"[d] + ": " + complaint);
  }
}
} // namespace tensormg
