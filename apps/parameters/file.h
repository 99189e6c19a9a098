// From a parameter file or an override to a list of assignments, each with the place it came from.
#pragma once

#include <string>
#include <vector>

namespace tensormg
{
/// "section.key = items", not yet checked against the table of parameters.
struct Assignment
{
  std::string section; ///< nested sections joined by dots; empty: outside every section
  std::string key;
  std::vector<std::string> items; ///< one, or the entries of a .json list
  std::string where;              ///< "file.prm:12", "file.json" or "--set"

  /// "section.key", or "key" outside every section.
  std::string name() const { return section.empty() ? key : section + "." + key; }
};

/// Begin of a message about something at `where`.
std::string prefix(const std::string &where);

/// The assignments of a file in deal.II's .prm format or in .json. Throws ParameterError if the
/// file cannot be read, is not in its format, is empty, or sets a key twice.
std::vector<Assignment> read_assignments(const std::string &file);

/// The assignment of an override "section.key=value".
Assignment parse_override(const std::string &text);
} // namespace tensormg
