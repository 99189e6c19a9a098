#include "apps/diagnose/spmv/matrix_files.h"

#include <algorithm>
#include <filesystem>

#include "apps/diagnose/table.h"
#include "kernels/diagnostics/sparse/matrix_market.h"
#include "operators/solver/memory_plan.h"

namespace tensormg::diagnose
{
namespace
{
  /// What hardly has entries is a mistake of its header; times of its products would say nothing.
  constexpr double most_sizes_per_entry = 1000.;

  /// Of a product in double precision: x; y, the exact result and the sum of magnitudes.
  sparse::Room room_for_a_product()
  {
    return {
        MemoryBudget::usable_part * available_host_bytes(), 3. * 8., 8., 0., most_sizes_per_entry};
  }

  /// A path with a comma is taken for two: says so if the next entry continues it.
  std::string hint_at_comma(const std::vector<std::string> &paths, std::size_t which)
  {
    std::error_code unknown;
    if (std::filesystem::exists(paths[which], unknown) || which + 1 == paths.size())
      return "";
    for (const char *comma : {",", ", "})
      if (const std::string both = paths[which] + comma + paths[which + 1];
          std::filesystem::exists(both, unknown))
        return "; there is '" + both +
            "': in diagnose.matrix_files a comma of a path is written \\,";
    return "";
  }
} // namespace

std::vector<MatrixFile> read_matrix_files(
    const DiagnoseOptions &options, Console &console, Progress &progress)
{
  std::vector<MatrixFile> files;
  if (std::find(options.classes.begin(), options.classes.end(), "spmv") == options.classes.end())
    return files;
  for (std::size_t i = 0; i < options.matrix_files.size(); ++i)
    try
    {
      const std::string &path = options.matrix_files[i];
      console.normal("matrix       reading " + path + '\n');
      progress.begin("reading " + path);
      progress.rest();
      files.push_back({path, sparse::read_matrix_market(path, room_for_a_product())});
    }
    catch (const sparse::MatrixMarketError &error)
    {
      throw ParameterError(error.what() + hint_at_comma(options.matrix_files, i));
    }
  return files;
}
} // namespace tensormg::diagnose
