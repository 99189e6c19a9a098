#include "apps/parameter_diagnose.h"

#include <algorithm>

#include "apps/parameter_section.h"

namespace tensormg
{
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
  diagnose.integer("repetitions", &DiagnoseOptions::repetitions, 1, 100000,
      "Timings of every kernel, after some that do not count; the median is reported.");
  diagnose.number("max_seconds", &DiagnoseOptions::max_seconds, above(0.),
      "Time after which a kernel gets no further repetitions.");
}
} // namespace tensormg
