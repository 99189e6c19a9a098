// Which kernel another one is compared with, where a table names several.
#pragma once

#include <string>
#include <vector>

#include "apps/diagnose/diagnose.h"

namespace tensormg::diagnose
{
/// The names in the column `twin` of a table.
std::vector<std::string> twin_names(const std::string &twin);

/// Of the names in `entry.twins` that of the fastest kernel among the measured ones that did the same: class, problem, precision and
/// place. The first name if none of them is measured; empty without names.
std::string fastest_twin(const Entry &entry, const Diagnosis &diagnosis);
} // namespace tensormg::diagnose
