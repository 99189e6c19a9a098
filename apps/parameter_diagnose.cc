#include "apps/parameter_diagnose.h"

#include <algorithm>

#include "apps/parameter_section.h"
#include "operators/sparse/generators.h"
#include "operators/sparse/twins.h"

namespace tensormg
{
namespace
{
  /// Generated matrices and twins of published ones.
  std::vector<std::string> matrix_names()
  {
    std::vector<std::string> names;
    for (const sparse::Generator &generator : sparse::generators())
      names.emplace_back(generator.name);
    for (const sparse::Twin &twin : sparse::twins())
      names.push_back(std::string("twin_") + twin.name);
    return names;
  }
} // namespace

void add_diagnose(std::vector<ParameterEntry> &table)
{
  const Section diagnose(
      table, "diagnose", [](auto &p) -> auto & { return p.diagnose; });
  diagnose.word_list("classes", &DiagnoseOptions::classes, diagnose_classes,
      "Classes of kernels; words on the command line override the list.");
  diagnose.boolean("quick", &DiagnoseOptions::quick,
      "Whether only the first two entries of every other list are taken, and fewer repetitions; "
      "--quick on the command line.");
  const std::vector<std::string> places(diagnose_places.begin(), diagnose_places.end());
  diagnose.add(
      "place",
      "Where kernels run: auto is the device if there is one that can be used, otherwise the host.",
      join(places, ", "), words_pattern(places),
      [places](DiagnoseOptions &o, const std::string &text) -> std::string {
        if (std::find(places.begin(), places.end(), text) == places.end())
          return complaint_about_word(text, places);
        o.place = text;
        return "";
      },
      [](const DiagnoseOptions &o) { return o.place; });
  diagnose.integer("threads", &DiagnoseOptions::threads, 0, 1024,
      "Threads of the kernels on the host; 0 takes all cores that the process may use.");
  diagnose.number("cached_megabytes", &DiagnoseOptions::cached_megabytes, above(0.),
      "Working set of the problems that shall stay in the last cache: less than half of it.");
  diagnose.number("memory_megabytes", &DiagnoseOptions::memory_megabytes, above(0.),
      "Working set of the problems that shall come from memory: at least five times the last cache.");
  diagnose.word_list("matrices", &DiagnoseOptions::matrices, matrix_names(),
      "spmv: matrices made by a rule, each so large that a product goes through cached_megabytes and "
      "through memory_megabytes; twin_NAME is a random matrix with the published features of NAME, in "
      "its size.");
  diagnose.add(
      "matrix_files", "spmv: further matrices, as Matrix Market files.",
      "a list of paths, separated by commas, or nothing", any_pattern(),
      [](DiagnoseOptions &o, const std::string &text) -> std::string {
        o.matrix_files = split(text, ',');
        const bool empty =
            std::find(o.matrix_files.begin(), o.matrix_files.end(), "") != o.matrix_files.end();
        return empty ? "has an empty entry" : "";
      },
      [](const DiagnoseOptions &o) { return join(o.matrix_files, ", "); });
  diagnose.integer("repetitions", &DiagnoseOptions::repetitions, 1, 100000,
      "Timings of every kernel, after some that do not count; the median is reported.");
  diagnose.number("max_seconds", &DiagnoseOptions::max_seconds, above(0.),
      "Time after which a kernel gets no further repetitions.");
}
} // namespace tensormg
