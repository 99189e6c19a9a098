#include "apps/parameters/diagnose.h"

#include <algorithm>
#include <array>
#include <optional>

#include "apps/common/path_list.h"
#include "apps/parameters/section.h"
#include "kernels/diagnostics/sparse/generators.h"
#include "kernels/diagnostics/sparse/twins.h"
#include "kernels/diagnostics/stencil/stencil.h"

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

  std::vector<std::string> stencil_names()
  {
    std::vector<std::string> names;
    for (const stencil::Shape &shape : stencil::shapes)
      names.emplace_back(shape.name);
    return names;
  }

  /// Up to what no machine has, so that bytes can be counted in 64 bits.
  constexpr Range megabytes{.lower = 0., .upper = 1e9, .open_lower = true};

  /// "100x200, 10x20x30": products of positive integers, `fewest` to three of them.
  std::string read_sizes(
      std::vector<std::array<std::int64_t, 3>> &list, std::size_t fewest, const std::string &text)
  {
    list.clear();
    for (const std::string &part : split(text, ','))
    {
      const std::vector<std::string> numbers = split(part, 'x');
      std::array<std::int64_t, 3> sizes{1, 1, 1};
      bool usable = numbers.size() >= fewest && numbers.size() <= 3;
      for (std::size_t d = 0; usable && d < numbers.size(); ++d)
      {
        const std::optional<std::int64_t> value = to_integer(numbers[d]);
        usable = value && *value >= 1 && *value <= 1'000'000;
        sizes[d] = usable ? *value : 1;
      }
      if (!usable)
        return "has the entry '" + part + "'";
      list.push_back(sizes);
    }
    return "";
  }

  std::string write_sizes(const std::vector<std::array<std::int64_t, 3>> &list, std::size_t fewest)
  {
    std::vector<std::string> parts;
    for (const std::array<std::int64_t, 3> &sizes : list)
      parts.push_back(std::to_string(sizes[0]) + 'x' + std::to_string(sizes[1]) +
          (fewest < 3 && sizes[2] == 1 ? "" : 'x' + std::to_string(sizes[2])));
    return join(parts, ", ");
  }

  /// What the kernels of the classes do.
  void add_problems(const auto &diagnose)
  {
    diagnose.word_list("matrices", &DiagnoseOptions::matrices, matrix_names(),
        "spmv: matrices made by a rule, each so large that a product goes through cached_megabytes and "
        "through memory_megabytes; twin_NAME is a random matrix with the published features of NAME, in "
        "its size.",
        "where there are matrix_files");
    diagnose.add(
        "matrix_files", "spmv: further matrices, as Matrix Market files.",
        "a list of paths, separated by commas (a comma of a path is written \\,), or nothing",
        any_pattern(),
        [](DiagnoseOptions &o, const std::string &text) -> std::string {
          o.matrix_files = split_paths(text);
          const bool empty =
              std::find(o.matrix_files.begin(), o.matrix_files.end(), "") != o.matrix_files.end();
          return empty ? "has an empty entry" : "";
        },
        [](const DiagnoseOptions &o) { return join_paths(o.matrix_files); });
    diagnose.word_list("stencils", &DiagnoseOptions::stencils, stencil_names(),
        "stencil: shapes, with weights that have no structure; each on grids of cached_megabytes and of "
        "memory_megabytes.");
    diagnose.increasing("depths", &DiagnoseOptions::depths, 1, stencil::max_depth,
        "stencil: steps in time; what does more than one of them in one pass over memory is compared with "
        "as many passes. On a device up to 6 in 2D with radius 1, otherwise up to 2; more are left out.");
    diagnose.add(
        "stencil_grids",
        "stencil: further grids of a device, for the shapes of their dimension; not with --quick.",
        "a list of sizes as in 10240x10240 or 1024x1024x1024, separated by commas, or nothing",
        any_pattern(),
        [](DiagnoseOptions &o, const std::string &text) {
          return read_sizes(o.stencil_grids, 2, text);
        },
        [](const DiagnoseOptions &o) { return write_sizes(o.stencil_grids, 2); });
    diagnose.add(
        "gemm_sizes", "gemm: rows and columns of the product, and length of the sums.",
        "a list of sizes as in 1024x512x100, separated by commas", any_pattern(),
        [](DiagnoseOptions &o, const std::string &text) -> std::string {
          const std::string complaint = read_sizes(o.gemm_sizes, 3, text);
          return complaint.empty() && o.gemm_sizes.empty() ? "is empty" : complaint;
        },
        [](const DiagnoseOptions &o) { return write_sizes(o.gemm_sizes, 3); });
    diagnose.increasing("sum_lengths", &DiagnoseOptions::sum_lengths, 1, 1'000'000,
        "precision: lengths of the sums whose errors are shown.");
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
  diagnose.boolean("counters", &DiagnoseOptions::counters,
      "Whether the hardware counters of a device say what bounds each kernel (CUPTI); not with --quick.");
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
  diagnose.number("cached_megabytes", &DiagnoseOptions::cached_megabytes, megabytes,
      "Working set of the problems that shall stay in the last cache: less than half of it.");
  diagnose.number("memory_megabytes", &DiagnoseOptions::memory_megabytes, megabytes,
      "Working set of the problems that shall come from memory: at least five times the last cache.");
  add_problems(diagnose);
  diagnose.integer("repetitions", &DiagnoseOptions::repetitions, 1, 100000,
      "Timings of every kernel, after some that do not count; the median is reported.");
  diagnose.number("max_seconds", &DiagnoseOptions::max_seconds, above(0.),
      "Time after which a kernel gets no further repetitions.");
  diagnose.number("time_limit", &DiagnoseOptions::time_limit, at_least(0.),
      "Seconds for all classes together, shared among them; what has not begun by then is left out and "
      "listed so. 0 takes 45 for a quick run and 450 for a full one.");
}
} // namespace tensormg
