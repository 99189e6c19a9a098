#include "operators/blocks/generators/argument_rules.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numbers>
#include <numeric>
#include <sstream>
#include <vector>

#include "operators/blocks/block_mesh.h"
#include "operators/blocks/generators/generators.h"
#include "operators/data/short_text.h"
#include "tensormg/report.h"

namespace tensormg
{
namespace
{
  using Numbers = std::vector<double>;
  using Values = std::map<std::string, Numbers>;

  std::vector<std::string> parts_of(const std::string &text, char separator)
  {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, separator);)
    {
      const auto begin = part.find_first_not_of(' ');
      parts.push_back(begin == std::string::npos
              ? ""
              : part.substr(begin, part.find_last_not_of(' ') + 1 - begin));
    }
    return parts;
  }

  /// Of a list, of a list of lists, and of such with colons, one after the other; of words none.
  Numbers numbers_of(std::string text)
  {
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == ',' || c == ';' || c == ':'; }, ' ');
    std::istringstream words(text);
    Numbers numbers;
    for (std::string word; words >> word;)
    {
      char *end = nullptr;
      const double number = std::strtod(word.c_str(), &end);
      if (*end != '\0')
        return {};
      numbers.push_back(number);
    }
    return numbers;
  }

  double product(const Numbers &numbers)
  {
    return std::accumulate(numbers.begin(), numbers.end(), 1., std::multiplies<>());
  }

  double sum(const Numbers &numbers) { return std::accumulate(numbers.begin(), numbers.end(), 0.); }

  double distance(const Numbers &a, const Numbers &b)
  {
    double sum = 0.;
    for (std::size_t d = 0; d < std::min(a.size(), b.size()); ++d)
      sum += (a[d] - b[d]) * (a[d] - b[d]);
    return std::sqrt(sum);
  }

  /// How many cells a generator makes, at most, where arguments may ask for too many.
  double count_cells(int dim, const std::string &name, const Values &values)
  {
    const auto of = [&](const char *argument) { return values.at(argument).front(); };
    if (name == "subdivided_hyper_cube")
      return std::pow(of("repetitions"), dim);
    if (name == "subdivided_hyper_rectangle")
      return values.contains("step_sizes") ? 1. : product(values.at("repetitions"));
    if (name == "cheese")
      return std::pow(3., dim) * product(values.at("holes"));
    if (name == "hyper_cross")
      return sum(values.at("sizes")) + 1.;
    if (name == "subdivided_cylinder")
      return 5. * of("x_subdivisions");
    if (name == "truncated_cone")
      return 5. * (2. + of("half_length") / std::max(of("radius_0"), of("radius_1")));
    if (name == "plate_with_a_hole")
      return (3. + (of("pad_left") + of("pad_right")) / of("outer_radius")) *
          (3. + (of("pad_bottom") + of("pad_top")) / of("outer_radius")) *
          (dim == 3 ? of("n_slices") : 1.);
    if (name == "concentric_hyper_shells")
      return of("n_shells") * std::max(of("n_cells"), dim == 2 ? 8. : 6.);
    const double around = std::numbers::pi * (of("inner_radius") + of("outer_radius")),
                 automatic = 1. + around / (of("outer_radius") - of("inner_radius"));
    if (name != "cylinder_shell")
      return of("n_cells") > 0. || dim == 3 ? of("n_cells") : automatic;
    const double radial = of("n_radial_cells") > 0. ? of("n_radial_cells") : automatic;
    return radial *
        (of("n_axial_cells") > 0. ? of("n_axial_cells") : 1. + of("length") * radial / around);
  }

  /// The arguments as numbers; nothing where deal.II cannot read them.
  Values values_of(const Generator &generator, const std::string &arguments)
  {
    const std::vector<std::string> names = parts_of(generator.arguments, generator.separator),
                                   texts = parts_of(arguments, generator.separator);
    Values values;
    if (names.size() != texts.size())
      return values;
    for (std::size_t a = 0; a < names.size(); ++a)
    {
      const bool is_word = names[a] == "colorize" || names[a] == "attach_spherical_manifold";
      values[names[a]] = numbers_of(texts[a]);
      if (!is_word && values[names[a]].empty())
        return {};
      const char separator = texts[a].find(';') == std::string::npos ? ',' : ';';
      values["count(" + names[a] + ')'] = {
          static_cast<double>(parts_of(texts[a], separator).size())};
      if (names[a] == "repetitions" && separator == ';')
      {
        Numbers &sums = values["step_sizes"];
        for (const std::string &direction : parts_of(texts[a], separator))
          sums.push_back(sum(numbers_of(direction)));
      }
    }
    return values;
  }

  /// What a rule says of, and is not an argument.
  Numbers derived_values(
      int dim, const Generator &generator, const std::string &what, const Values &values)
  {
    if (what == "cells")
      return {count_cells(dim, generator.name, values)};
    if (what == "|inner_center-outer_center|")
      return {distance(values.at("inner_center"), values.at("outer_center"))};
    if (what == "outer_radius-inner_radius")
      return {values.at("outer_radius").front() - values.at("inner_radius").front()};
    if (what == "|p2-p1|" || what == "sum(step_sizes)")
    {
      const Numbers &p = values.at("p1"), &q = values.at("p2");
      if (what == "sum(step_sizes)" && values.contains("step_sizes"))
        return values.at("step_sizes");
      Numbers result;
      for (std::size_t d = 0; d < std::min(p.size(), q.size()); ++d)
        result.push_back(std::abs(q[d] - p[d]));
      return result;
    }
    if (what == "radii") // each behind the three coordinates of a point
    {
      Numbers radii;
      for (const char *points : {"openings", "bifurcation"})
        for (std::size_t i = 3; i < values.at(points).size(); i += 4)
          radii.push_back(values.at(points)[i]);
      return radii;
    }
    const std::map<std::string, double> constants{{"dim", dim}, {"dim+1", dim + 1},
        {"2*dim", 2 * dim}, {"2^dim", std::pow(2., dim)}, {"2*pi", 2. * std::numbers::pi}};
    if (const auto found = constants.find(what); found != constants.end())
      return {found->second};
    Numbers result;
    for (const std::string &number : parts_of(what, '|'))
      result.push_back(std::strtod(number.c_str(), nullptr));
    return result;
  }

  bool compare(const Numbers &a, const std::string &relation, const Numbers &b)
  {
    constexpr double rounding = 1e-12;
    if (a.empty() || b.empty()) // not as many numbers as there should be
      return false;
    if (relation == "in")
      return std::find(b.begin(), b.end(), a.front()) != b.end();
    for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i)
    {
      const double x = a[std::min(i, a.size() - 1)], y = b[std::min(i, b.size() - 1)];
      const bool is_true = relation == "<" ? x < y
          : relation == "<="               ? x <= y * (1. + rounding)
          : relation == "!="               ? x != y
                                           : std::abs(x - y) <= rounding * std::abs(y);
      if (!is_true)
        return false;
    }
    return true;
  }

  /// "inner_radius = 2, outer_radius = 1" where the rule does not hold of the values.
  std::string broken(
      int dim, const Generator &generator, const std::string &rule, const Values &values)
  {
    std::istringstream words(rule);
    std::string what, relation, text;
    words >> what;
    const auto numbers = [&](const std::string &name) {
      const auto found = values.find(name);
      return found != values.end() ? found->second : derived_values(dim, generator, name, values);
    };
    bool holds = true;
    const auto add = [&](const std::string &name, const Numbers &of) {
      if (std::isdigit(name.front()) != 0)
        return;
      text += (text.empty() ? "" : ", ") + name + " = ";
      for (std::size_t i = 0; i < of.size(); ++i)
        text += (i > 0 ? "," : "") + number_text(of[i]);
    };
    Numbers left = numbers(what);
    add(what, left);
    for (std::string next; words >> relation >> next;)
    {
      const Numbers right = numbers(next);
      holds = holds && compare(left, relation, right);
      add(next, right);
      left = right;
    }
    return holds ? "" : text;
  }
} // namespace

std::string generator_refusal(
    const std::string &name, const std::string &arguments, const std::string &what)
{
  const Generator *generator = find_generator(name);
  return "the generator " + name + " makes no mesh of '" + cut(arguments) + "': " + what +
      (generator == nullptr ? "" : std::string("; allowed: ") + generator->arguments);
}

void check_generator_arguments(int dim, const std::string &name, const std::string &arguments)
{
  const Generator *generator = find_generator(name);
  if (generator == nullptr)
    return;
  if (dim == 2 && !generator->has_2d)
    throw MeshError(
        "the generator " + name + " is one of three dimensions; allowed: problem.dimension = 3");
  const Values values = values_of(*generator, arguments);
  if (values.empty())
    return;
  for (std::string rule : generator->rules)
  {
    if (rule.substr(1, 3) == "D: ")
    {
      if (rule.front() != '0' + dim)
        continue;
      rule = rule.substr(4);
    }
    if (const std::string what = broken(dim, *generator, rule, values); !what.empty())
      throw MeshError(generator_refusal(name, arguments, what) + " with " + rule);
  }
}
} // namespace tensormg
