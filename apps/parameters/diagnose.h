// The part of the parameter table for `tensormg diagnose`.
#pragma once

#include <vector>

#include "apps/parameters/table.h"

namespace tensormg
{
/// Appends the entries of section `diagnose`.
void add_diagnose(std::vector<ParameterEntry> &table);
} // namespace tensormg
