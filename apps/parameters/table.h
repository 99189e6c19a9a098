// The one list of all parameters: name, default, meaning, allowed values, and the member it fills.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/parameters/parameters.h"

namespace dealii
{
class ParameterHandler;
namespace Patterns
{
  class PatternBase;
}
} // namespace dealii

namespace tensormg
{
struct ParameterEntry
{
  std::string section;
  std::string key;
  std::string description; ///< one sentence, or few
  std::string allowed;     ///< completes "allowed: "
  std::shared_ptr<const dealii::Patterns::PatternBase> pattern;
  /// Stores the value. Returns what is wrong with it, as in "is not a number"; empty if nothing is.
  std::function<std::string(Parameters &, const std::string &)> read;
  /// The value as it stands in a file; of default-constructed parameters: the default.
  std::function<std::string(const Parameters &)> write;
  char list_separator = ','; ///< joins the items if a .json file gives a list

  /// "section.key"
  std::string name() const { return section + "." + key; }
};

/// The sections in the order of the file, each with what it is about.
inline constexpr std::array<std::pair<std::string_view, std::string_view>, 10> parameter_sections{
    {{"problem", "The box, its grid and the data of -div(K grad u) + c u = f."},
        {"mesh",
            "Curved cells in place of those of the box: every cell of a coarse mesh is a block of 2^refinements cells per direction "
            "(docs/meshes.md)."},
        {"boundary",
            "The condition on each side of the box: `left` and `right` bound x, `front` and `back` "
            "y, `bottom` and `top` z."},
        {"solver", "The outer iteration, in double precision."},
        {"multigrid", "The preconditioner: one cycle of geometric multigrid."},
        {"operator", "Which implementation of the kernels runs."},
        {"output", "What is written, and where."},
        {"converge",
            "The study of `tensormg converge`: all pairs of these degrees and refinements."},
        {"compare",
            "What `tensormg compare` measures: the operator in every combination of these "
            "lists. Other sections than this one and `output` play no part."},
        {"diagnose",
            "What `tensormg diagnose` measures. Other sections than this one and `output` play no "
            "part."}}};

/// The programs that read these sections, in the same order; compare reads those of a problem for whole solves only.
inline constexpr std::array<std::string_view, 10> section_readers{
    "solve, converge, compare --solve", "solve, converge", "solve, converge, compare --solve",
    "solve, converge, compare --solve", "solve, converge, compare --solve",
    "solve, converge, compare --solve", "solve, converge, compare, diagnose", "converge", "compare",
    "diagnose"};

/// The sections that this program reads, as in "solve"; compare with its parameters.
std::vector<std::string> sections_of(const std::string &program, const Parameters &parameters);

/// The functions of every expression, for the reference; no constant may have one of their names.
inline constexpr std::array<std::string_view, 36> expression_functions{"sin", "cos", "tan", "cot",
    "sec", "csc", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh",
    "atanh", "exp", "log", "ln", "log2", "log10", "sqrt", "pow", "erf", "erfc", "abs", "sign",
    "rint", "int", "ceil", "floor", "min", "max", "sum", "avg", "if"};

/// All parameters, in the order of the file; an entry stands after those that its reading needs.
const std::vector<ParameterEntry> &parameter_table();

/// The entry of "section.key"; nullptr if there is none.
const ParameterEntry *find_parameter(const std::string &name);

/// Declares every entry of these sections, so that deal.II reads and writes the files; without sections: of all.
void declare(dealii::ParameterHandler &handler, const std::vector<std::string> &sections = {});
} // namespace tensormg
