#include "operators/solver/precision_fallback.h"

namespace tensormg
{
namespace
{
  std::string precision_of_levels(const MultigridOptions &raised)
  {
    if (!raised.is_below_single())
      return "in single precision";
    const int last = raised.single_levels - 1;
    const std::string levels = last == 0 ? "level 0" : "the levels 0 to " + std::to_string(last);
    return "with " + levels + " in single precision";
  }
} // namespace

MultigridOptions raise_levels(
    MultigridOptions multigrid, std::optional<std::size_t> broken, std::size_t n_levels)
{
  const auto in_single = static_cast<std::size_t>(multigrid.single_levels);
  if (broken && *broken >= in_single && *broken + 1 < n_levels)
  {
    multigrid.single_levels = static_cast<int>(*broken) + 1;
    return multigrid;
  }
  multigrid.precision = Precision::single_precision;
  multigrid.single_levels = 0;
  return multigrid;
}

std::string fallback_text(
    Precision before, const std::string &detail, const MultigridOptions &raised)
{
  return std::string("multigrid.precision = ") + to_string(before) + ": " + detail +
      "; the solve starts again " + precision_of_levels(raised);
}
} // namespace tensormg
