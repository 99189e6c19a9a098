#include "apps/parameters/values.h"

#include <algorithm>
#include <cctype>
#include <numbers>
#include <optional>
#include <sstream>

#include "apps/parameters/table.h"
#include "apps/parameters/words.h"

namespace tensormg
{
namespace
{
  /// The length of the character that begins there in UTF-8; 0 if none does.
  std::size_t character_length(const std::string &text, std::size_t at)
  {
    const auto byte = [&](std::size_t i) {
      return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
    };
    const unsigned int first = byte(at);
    const std::size_t length = first < 0x80 ? 1
        : first >= 0xC2 && first < 0xE0     ? 2
        : first >= 0xE0 && first < 0xF0     ? 3
        : first >= 0xF0 && first < 0xF5     ? 4
                                            : 0;
    for (std::size_t i = 1; i < length; ++i)
      if ((byte(at + i) & 0xC0U) != 0x80U)
        return 0;
    const unsigned int second = byte(at + 1);
    const bool is_overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
    const bool is_no_character =
        (first == 0xED && second >= 0xA0) || (first == 0xF4 && second >= 0x90);
    return is_overlong || is_no_character ? 0 : length;
  }

  template <typename Integer>
  std::string read_integers(
      std::vector<Integer> &list, std::int64_t lower, std::int64_t upper, const std::string &text)
  {
    list.clear();
    for (const std::string &part : split(text, ','))
    {
      const std::optional<std::int64_t> value = to_integer(part);
      if (!value || *value < lower || *value > upper)
        return "has the entry '" + cut(part) + "'";
      if (!list.empty() && *value <= list.back())
        return "is not increasing";
      list.push_back(static_cast<Integer>(*value));
    }
    return list.empty() ? "is empty" : "";
  }

  bool is_coefficient(double value)
  {
    return value >= least_coefficient && value <= 1. / least_coefficient;
  }

  template <typename Integer>
  std::string write_integers(const std::vector<Integer> &list)
  {
    std::vector<std::string> parts;
    for (const Integer value : list)
      parts.push_back(std::to_string(value));
    return join(parts, ", ");
  }
} // namespace

std::string complaint_about_name(const std::string &name)
{
  const auto is_letter = [](unsigned char c) { return std::isalpha(c) != 0 || c == '_'; };
  const auto is_part = [&](unsigned char c) { return is_letter(c) || std::isdigit(c) != 0; };
  if (name.empty() || !is_letter(static_cast<unsigned char>(name[0])) ||
      !std::all_of(name.begin(), name.end(), is_part))
    return "has '" + cut(name) + "' where a name of letters, digits and underscores should be";
  for (const char *taken : {"x", "y", "z", "t", "pi", "_pi", "_e", "rand", "rand_seed"})
    if (name == taken)
      return "gives the name '" + name + "', which already has a meaning in expressions";
  if (std::find(expression_functions.begin(), expression_functions.end(), name) !=
      expression_functions.end())
    return "gives the name '" + name + "', which is a function";
  return "";
}

std::string read_constants(std::map<std::string, double> &constants, const std::string &text)
{
  constants = {{"pi", std::numbers::pi}};
  for (const std::string &part : split(text, ','))
  {
    const std::size_t equals = part.find('=');
    const std::string name = trim(part.substr(0, equals));
    if (std::string complaint = complaint_about_name(name); !complaint.empty())
      return complaint;
    const std::string number = equals == std::string::npos ? "" : trim(part.substr(equals + 1));
    const std::optional<double> value = to_number(number);
    if (!value)
      return "gives '" + cut(name) + "' the value '" + cut(number) +
          "', which is not a finite number";
    if (!constants.emplace(name, *value).second)
      return "gives '" + cut(name) + "' twice";
  }
  return "";
}

std::string write_constants(const std::map<std::string, double> &constants)
{
  std::vector<std::string> parts;
  for (const auto &[name, value] : constants)
    if (name != "pi")
      parts.push_back(name + "=" + to_text(value));
  return join(parts, ", ");
}

std::string read_gradient(std::array<std::string, 3> &gradient, int dim, const std::string &text)
{
  const std::vector<std::string> parts = split(text, ';');
  gradient = {};
  if (parts.empty())
    return "";
  if (parts.size() != static_cast<std::size_t>(dim))
    return "has " + std::to_string(parts.size()) + " components, but problem.dimension is " +
        std::to_string(dim);
  for (std::size_t d = 0; d < parts.size(); ++d)
  {
    if (parts[d].empty())
      return "has an empty component";
    gradient[d] = parts[d];
  }
  return "";
}

std::string write_gradient(const std::array<std::string, 3> &gradient, int dim)
{
  if (gradient[0].empty())
    return "";
  return join({gradient.begin(), gradient.begin() + dim}, "; ");
}

std::string read_increasing(
    std::vector<int> &list, std::int64_t lower, std::int64_t upper, const std::string &text)
{
  return read_integers(list, lower, upper, text);
}

std::string read_increasing(std::vector<std::int64_t> &list, std::int64_t lower, std::int64_t upper,
    const std::string &text)
{
  return read_integers(list, lower, upper, text);
}

std::string write_list(const std::vector<int> &list) { return write_integers(list); }

std::string write_list(const std::vector<std::int64_t> &list) { return write_integers(list); }

std::string read_words(
    std::vector<std::string> &list, const std::vector<std::string> &known, const std::string &text)
{
  list.clear();
  for (const std::string &part : split(text, ','))
  {
    if (std::find(known.begin(), known.end(), part) == known.end())
      return "has the entry '" + cut(part) + "'" + suggestion(part, known);
    if (std::find(list.begin(), list.end(), part) != list.end())
      return "has the entry '" + cut(part) + "' twice";
    list.push_back(part);
  }
  return list.empty() ? "is empty" : "";
}

std::string read_points(
    std::vector<std::array<double, 3>> &points, int dim, const std::string &text)
{
  points.clear();
  for (std::string part : split(text, ';'))
  {
    std::replace(part.begin(), part.end(), ',', ' ');
    std::istringstream words(part);
    std::array<double, 3> point{};
    int count = 0;
    for (std::string word; words >> word; ++count)
    {
      const std::optional<double> number = to_number(word);
      if (!number)
        return "has the entry '" + cut(word) + "'";
      if (count < dim)
        point[static_cast<std::size_t>(count)] = *number;
    }
    if (count != dim)
      return "has a point of " + std::to_string(count) + " numbers, '" + cut(part) +
          "', but problem.dimension is " + std::to_string(dim);
    points.push_back(point);
  }
  return "";
}

std::string write_points(const std::vector<std::array<double, 3>> &points, int dim)
{
  std::vector<std::string> parts;
  for (const std::array<double, 3> &point : points)
  {
    std::vector<std::string> numbers;
    for (int d = 0; d < dim; ++d)
      numbers.push_back(to_text(point[static_cast<std::size_t>(d)]));
    parts.push_back(join(numbers, " "));
  }
  return join(parts, "; ");
}

std::string read_lines(std::vector<LineProbe> &lines, int dim, const std::string &text)
{
  constexpr int most_points = 1000000;
  lines.clear();
  for (const std::string &part : split(text, ';'))
  {
    const std::vector<std::string> words = split(part, ':');
    if (words.size() != 3)
      return "has the line '" + cut(part) + "', which is not FROM : TO : POINTS";
    LineProbe line;
    for (const auto &[end, word] : {std::pair{&line.from, words[0]}, std::pair{&line.to, words[1]}})
    {
      std::vector<std::array<double, 3>> points;
      if (const std::string complaint = read_points(points, dim, word); !complaint.empty())
        return complaint;
      if (points.size() != 1)
        return "has the line '" + cut(part) + "' without two points";
      *end = points.front();
    }
    const std::optional<double> count = to_number(words[2]);
    if (!count || !(*count >= 2. && *count <= most_points) || *count != std::floor(*count))
      return "has a line of '" + cut(words[2]) + "' points; their number is from 2 to " +
          std::to_string(most_points);
    line.n_points = static_cast<int>(*count);
    lines.push_back(line);
  }
  return "";
}

std::string write_lines(const std::vector<LineProbe> &lines, int dim)
{
  std::vector<std::string> parts;
  for (const LineProbe &line : lines)
    parts.push_back(write_points({line.from}, dim) + " : " + write_points({line.to}, dim) + " : " +
        std::to_string(line.n_points));
  return join(parts, "; ");
}

std::string read_backend(std::string &backend, const std::string &text)
{
  const std::vector<std::string> known = backend_words();
  if (std::find(known.begin(), known.end(), text) == known.end())
    return complaint_about_word(text, known);
  backend = text;
  return "";
}

std::string read_file_name(std::string &name, const std::string &text)
{
  if (text.empty())
    return "is empty";
  if (text.find('/') != std::string::npos)
    return "contains '/'";
  name = text;
  return "";
}

std::string read_printable(
    std::string &name, const std::vector<std::string> &taken, const std::string &text)
{
  constexpr unsigned char first_printable = 0x20, delete_character = 0x7F;
  for (std::size_t i = 0; i < text.size();)
  {
    const std::size_t length = character_length(text, i);
    if (length == 0)
      return "is not in UTF-8";
    if (const auto c = static_cast<unsigned char>(text[i]);
        c < first_printable || c == delete_character)
      return "contains a control character";
    i += length;
  }
  if (std::find(taken.begin(), taken.end(), text) != taken.end())
    return text.empty() ? "is empty" : "is the name of something else in the files";
  name = text;
  return "";
}

std::string read_log_name(std::string &name, const std::string &text)
{
  name = text;
  if (text.empty())
    return "";
  if (!text.ends_with(".txt") && !text.ends_with(".log"))
    return "ends in neither .txt nor .log";
  return read_file_name(name, text);
}

std::string read_coefficient(Problem &problem, const std::string &text)
{
  problem.coefficient = 1.;
  problem.cell_coefficient = {};
  problem.mixed_coefficient = {};
  const std::vector<std::string> parts = split(text, ';');
  if (parts.empty())
    return "is empty";
  const auto dim = static_cast<std::size_t>(problem.dim), all = dim * (dim + 1) / 2;
  if (parts.size() != 1 && parts.size() != dim && parts.size() != all)
    return "has " + std::to_string(parts.size()) + " entries, but problem.dimension is " +
        std::to_string(problem.dim);
  if (const std::optional<double> value = to_number(text))
  {
    if (!is_coefficient(*value))
      return "is out of range";
    problem.coefficient = *value;
    return "";
  }
  for (std::size_t i = 0; i < parts.size(); ++i)
  {
    if (parts[i].empty())
      return "has an empty entry";
    (i < dim ? problem.cell_coefficient[i] : problem.mixed_coefficient[i - dim]) = parts[i];
  }
  return "";
}

std::string write_coefficient(const Problem &problem)
{
  const auto &parts = problem.cell_coefficient;
  const auto &mixed = problem.mixed_coefficient;
  if (parts[0].empty())
    return to_text(problem.coefficient);
  if (parts[1].empty())
    return parts[0];
  std::vector<std::string> all(parts.begin(), parts.begin() + problem.dim);
  for (const std::string &part : mixed)
    if (!part.empty())
      all.push_back(part);
  return join(all, "; ");
}

std::string read_reaction(std::string &reaction, const std::string &text)
{
  reaction = to_number(text) == 0. ? "" : text;
  return "";
}

std::string read_materials(std::map<std::int64_t, double> &materials, const std::string &text)
{
  materials.clear();
  for (const std::string &part : split(text, ','))
  {
    const std::size_t colon = part.find(':');
    const std::optional<std::int64_t> label = to_integer(trim(part.substr(0, colon)));
    const std::string number = colon == std::string::npos ? "" : trim(part.substr(colon + 1));
    const std::optional<double> value = to_number(number);
    if (!label || !value)
      return "has the entry '" + cut(part) + "'";
    if (!is_coefficient(*value))
      return "gives the label " + std::to_string(*label) + " the value '" + cut(number) +
          "', which is out of range";
    if (!materials.emplace(*label, *value).second)
      return "gives the label " + std::to_string(*label) + " twice";
  }
  return "";
}

std::string write_materials(const std::map<std::int64_t, double> &materials)
{
  std::vector<std::string> parts;
  for (const auto &[label, value] : materials)
    parts.push_back(std::to_string(label) + ": " + to_text(value));
  return join(parts, ", ");
}

std::string read_directory(std::string &directory, const std::string &text)
{
  if (text.empty())
    return "is empty";
  if (text.front() == '~')
    return "begins with '~', which only a shell replaces";
  if (text.find('$') != std::string::npos)
    return "contains '$', which only a shell replaces";
  if (text.size() > 1 && text.front() == text.back() &&
      (text.front() == '"' || text.front() == '\''))
    return "stands in quotation marks, which would be part of the name";
  directory = text;
  return "";
}
} // namespace tensormg
