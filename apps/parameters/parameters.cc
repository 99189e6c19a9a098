#include "apps/parameters/parameters.h"

#include <algorithm>
#include <ostream>

#include <deal.II/base/parameter_handler.h>

#include "apps/parameters/checks.h"
#include "apps/parameters/fields.h"
#include "apps/parameters/file.h"
#include "apps/parameters/mesh.h"
#include "apps/parameters/table.h"
#include "apps/parameters/text.h"
#include "apps/parameters/words.h"

namespace tensormg
{
namespace
{
  using dealii::ParameterHandler;

  /// The error for an assignment that no declaration matches, with the nearest known name.
  [[noreturn]] void fail_unknown(const Assignment &assignment)
  {
    std::vector<std::string> keys;       // of the section, if there is one of that name
    std::vector<std::string> same_key;   // full names in other sections
    std::vector<std::string> everything; // full names
    for (const ParameterEntry &entry : parameter_table())
    {
      everything.push_back(entry.name());
      if (entry.section == assignment.section)
        keys.push_back(entry.key);
      if (entry.key == assignment.key)
        same_key.push_back(entry.name());
    }
    const std::string start = prefix(assignment.where) + cut(assignment.name()) + ": ";
    if (!keys.empty())
    {
      std::string guess = nearest(assignment.key, keys);
      if (guess.empty() && same_key.empty())
        guess = one_with(assignment.key, keys);
      if (!guess.empty())
        guess = assignment.section + "." + guess;
      else
        guess = same_key.empty() ? nearest(assignment.name(), everything) : same_key.front();
      throw ParameterError(start + "unknown parameter" +
          (guess.empty() ? "" : " (did you mean " + guess + "?)") + "; allowed in section " +
          assignment.section + ": " + join(keys, ", "));
    }
    const std::vector<std::string> sections = first_column(parameter_sections);
    const std::string last = assignment.section.substr(assignment.section.rfind('.') + 1);
    std::string guess = nearest(last, sections);
    if (!same_key.empty() &&
        (guess.empty() || find_parameter(guess + "." + assignment.key) == nullptr))
      guess = same_key.front();
    throw ParameterError(start +
        (assignment.section.empty() ? "parameter outside every section"
                                    : "unknown section '" + cut(assignment.section) + "'") +
        (guess.empty() ? "" : " (did you mean " + guess + "?)") +
        "; allowed sections: " + join(sections, ", "));
  }

  [[noreturn]] void fail_value(const ParameterEntry &entry, const std::string &begin,
      const std::string &value, const std::string &complaint)
  {
    throw ParameterError(begin + entry.name() + " = '" + cut(value) + "' " + complaint +
        "; allowed: " + entry.allowed);
  }

  /// Gives the value of one assignment to the handler.
  void apply(const Assignment &assignment, ParameterHandler &handler, Parameters &parameters)
  {
    const ParameterEntry *entry = find_parameter(assignment.name());
    if (entry == nullptr)
      fail_unknown(assignment);
    const std::string separator = entry->list_separator == ',' ? ", " : "; ";
    const std::string value = join(assignment.items, separator);
    // Such a value could not be written to a .prm file and read back.
    if (value.find_first_of("#\n\r") != std::string::npos ||
        (!value.empty() && value.back() == '\\'))
      fail_value(*entry, prefix(assignment.where), value,
          "contains '#', a line break or a final backslash");

    handler.enter_subsection(entry->section);
    try
    {
      handler.set(entry->key, value);
    }
    catch (const dealii::ExceptionBase &)
    {
      // deal.II only says that its pattern does not match; the entry knows why.
      Parameters scratch;
      const std::string complaint = entry->read(scratch, value);
      fail_value(*entry, prefix(assignment.where), value,
          complaint.empty() ? "cannot be used" : complaint);
    }
    handler.leave_subsection();
    parameters.origins[entry->name()] = assignment.where;
  }

  Parameters read(const std::vector<Assignment> &from_file,
      const std::vector<std::string> &overrides, const std::string &source)
  {
    ParameterHandler handler;
    declare(handler);
    Parameters parameters;
    parameters.source = source;
    for (const Assignment &assignment : from_file)
      apply(assignment, handler, parameters);
    for (const std::string &text : overrides)
      apply(parse_override(text), handler, parameters);

    for (const ParameterEntry &entry : parameter_table())
    {
      const std::string value = handler.get({entry.section}, entry.key);
      const std::string complaint = entry.read(parameters, value);
      if (!complaint.empty())
        fail_value(entry, place(parameters, entry.name()), value, complaint);
    }
    if (has_blocks(parameters) && !parameters.origins.contains("solver.restart"))
      parameters.solver.restart = restart_on_blocks;
    check_box(parameters);
    set_corners(parameters);
    load_fields(parameters);
    check_parameters(parameters);
    return parameters;
  }

  /// `text` as the cell of a markdown table.
  std::string cell(std::string text)
  {
    for (std::size_t i = text.find('|'); i != std::string::npos; i = text.find('|', i + 2))
      text.insert(i, "\\");
    return text;
  }
} // namespace

std::string place(const Parameters &parameters, const std::string &name)
{
  const auto origin = parameters.origins.find(name);
  const std::string &where =
      origin != parameters.origins.end() ? origin->second : parameters.source;
  return where.empty() ? "" : prefix(where);
}

Parameters read_parameters(const std::string &file, const std::vector<std::string> &overrides)
{
  return read(read_assignments(file), overrides, file);
}

Parameters default_parameters(const std::vector<std::string> &overrides)
{
  return read({}, overrides, "");
}

void print_parameters(const Parameters &parameters, std::ostream &out, ParameterFormat format,
    const std::vector<std::string> &sections)
{
  ParameterHandler handler;
  declare(handler, sections);
  for (const ParameterEntry &entry : parameter_table())
  {
    if (!sections.empty() &&
        std::find(sections.begin(), sections.end(), entry.section) == sections.end())
      continue;
    handler.enter_subsection(entry.section);
    handler.set(entry.key, entry.write(parameters));
    handler.leave_subsection();
  }
  const ParameterHandler::OutputStyle style =
      format == ParameterFormat::json ? ParameterHandler::ShortJSON : ParameterHandler::PRM;
  handler.print_parameters(out, style | ParameterHandler::KeepDeclarationOrder);
}

void print_default_parameters(std::ostream &out) { print_parameters(Parameters{}, out); }

void print_parameter_reference(std::ostream &out)
{
  out << "# Parameters\n\n"
         "<!-- Written by tensormg-parameters from the declarations in apps/parameters/table.cc. "
         "-->\n\n"
         "A parameter file is in deal.II's `.prm` format,\n\n"
         "```\n"
         "subsection solver\n"
         "  set tolerance = 1e-10  # comment\n"
         "end\n"
         "```\n\n"
         "or in JSON, `{\"solver\": {\"tolerance\": 1e-10}}`, where a list may also be written as "
         "one. "
         "`--set solver.tolerance=1e-10` on the command line overrides the file. What is not given "
         "has its default; an unknown name, an unusable value or a contradiction stops the program "
         "before anything runs.\n\n"
         "Expressions are those of muParser: `+ - * / ^`, comparisons, `&& ||`, `a ? b : c`, the "
         "coordinates `x`, `y` and in 3D `z`, `pi`, the names in `problem.constants`, and the "
         "functions ";
  std::vector<std::string> functions;
  for (const std::string_view name : expression_functions)
    functions.push_back("`" + std::string(name) + "`");
  out << join(functions, ", ")
      << ". `log` is the natural logarithm. Some versions of deal.II lack `erf`: write `1 - "
         "erfc(x)`.\n";

  const Parameters defaults;
  for (std::size_t i = 0; i < parameter_sections.size(); ++i)
  {
    const auto &[section, about] = parameter_sections[i];
    std::vector<std::string> readers;
    for (const std::string &reader : split(section_readers[i], ','))
      readers.push_back("`" + reader + "`");
    out << "\n## " << section << "\n\n"
        << about << "\n\nRead by " << join(readers, ", ")
        << ".\n\n| key | default | allowed | meaning |\n|---|---|---|---|\n";
    for (const ParameterEntry &entry : parameter_table())
    {
      if (entry.section != section)
        continue;
      const std::string value = entry.write(defaults);
      out << "| `" << entry.key << "` | " << (value.empty() ? "" : "`" + cell(value) + "`") << " | "
          << cell(entry.allowed) << " | " << cell(entry.description) << " |\n";
    }
  }
}
} // namespace tensormg
