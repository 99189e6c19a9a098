// What a solve does where numbers of the cycle, in half precision, left their range.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "tensormg/options.h"

namespace tensormg
{
/// The level of the grid that left its range and those below it in single; all of them if nobody knows which it was, if
/// it is the finest, or if it was in single before.
MultigridOptions raise_levels(
    MultigridOptions multigrid, std::optional<std::size_t> broken, std::size_t n_levels);

/// The sentence about it: what was wrong in `before`, and the levels that are in single now.
std::string fallback_text(
    Precision before, const std::string &detail, const MultigridOptions &raised);
} // namespace tensormg
