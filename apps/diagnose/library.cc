#include "apps/diagnose/library.h"

#include <algorithm>
#include <cmath>

namespace tensormg::diagnose
{
std::vector<LibraryComparison> csr_against_library(const Diagnosis &diagnosis)
{
  const auto is_compared = [](const Entry &entry) {
    return entry.class_name == "spmv" && entry.kernel == "csr_merge" &&
        entry.place == Place::device && entry.outcome == Outcome::measured;
  };
  const double least = 2e6 * diagnosis.parameters.diagnose.cached_megabytes;
  std::vector<LibraryComparison> result;
  for (const Entry &entry : diagnosis.entries)
  {
    const Entry *const library = diagnosis.twin_of(entry);
    if (!is_compared(entry) || library == nullptr || entry.working_set <= least)
      continue;
    auto comparison = std::find_if(result.begin(), result.end(),
        [&](const LibraryComparison &c) { return c.precision == entry.precision; });
    if (comparison == result.end())
      comparison = result.insert(result.end(), {entry.precision, {}});
    comparison->matrices.push_back(
        {entry.problem, library->kernel, library->time.median / entry.time.median});
  }
  for (LibraryComparison &comparison : result)
  {
    double sum = 0.;
    for (const LibraryQuotient &matrix : comparison.matrices)
      sum += std::log(matrix.quotient);
    comparison.mean = std::exp(sum / static_cast<double>(comparison.matrices.size()));
  }
  return result;
}

std::string library_text(const Diagnosis &diagnosis)
{
  std::string text;
  for (const LibraryComparison &comparison : csr_against_library(diagnosis))
  {
    const std::size_t count = comparison.matrices.size();
    text += "  " + comparison.precision + ": " + format_number(comparison.mean) + " on " +
        std::to_string(count) + (count == 1 ? " matrix" : " matrices");
    for (const LibraryQuotient &matrix : comparison.matrices)
      text += (&matrix == &comparison.matrices.front() ? ": " : "; ") + matrix.problem + ' ' +
          format_number(matrix.quotient) + " (" + matrix.algorithm + ')';
    text += '\n';
  }
  return text.empty()
      ? text
      : "\ncuSPARSE     time of its fastest algorithm for compressed rows, which is named, / time of "
        "csr_merge, on matrices beyond the caches\n" +
          text;
}
} // namespace tensormg::diagnose
