// What the screen and the files show of a comparison.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>

#include "apps/compare/compare.h"

namespace tensormg
{
/// The machines with their bandwidths and peaks, or why there is no device.
std::string machines_text(const Comparison &comparison);

/// Above the entries of one dimension, size, form and step: what they are, and the columns.
std::string group_heading(
    int dim, std::int64_t dofs, const std::string &form, const std::string &step);

/// The line of one entry, as wide as the columns of the heading.
std::string entry_text(const Comparison &comparison, const CompareEntry &entry);

/// What the entries from `first` on take of the machine, and the time that each bound predicts.
std::string bounds_text(const Comparison &comparison, std::size_t first);

/// One line per degree and precision of every group: which is fastest, and what it is bound by.
std::string verdicts_text(const Comparison &comparison);

/// Every reason once, with what it concerns; empty if all is available.
std::string not_available_text(const Comparison &comparison);

/// One line per entry, also of those that are not measured.
void write_compare_csv(const Comparison &comparison, std::ostream &out);

/// `entries` holds what is measured, `failed` and `not_available` the rest.
void write_compare_json(const Comparison &comparison, std::ostream &out);
} // namespace tensormg
