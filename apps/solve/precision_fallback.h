// What a solve is tried with after its cycle left the range of its numbers (multigrid.precision_fallback).
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "apps/common/run_record.h"
#include "tensormg/options.h"

namespace tensormg
{
/// The level of the grid that left its range and those below it in single; all of them if nobody knows which it was, if
/// it is the finest, or if it was in single before.
MultigridOptions raise_levels(
    MultigridOptions multigrid, std::optional<std::size_t> broken, std::size_t n_levels);

/// Leaves in the record what was wrong and what comes; returns that as a warning to the user.
std::string note_fallback(const MultigridOptions &raised, RunRecord &record);
} // namespace tensormg
