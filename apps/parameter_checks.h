// What no single value shows: combinations that contradict each other, and expressions that fail.
#pragma once

#include <map>
#include <string>

#include "apps/parameters.h"

namespace tensormg
{
/// Where each "section.key" was set: "file.prm:12", "file.json" or "--set"; missing: a default.
using Origins = std::map<std::string, std::string>;

/// Throws ParameterError, naming the place, for the first contradiction or unusable expression.
void check_parameters(const Parameters &parameters, const Origins &origins);
} // namespace tensormg
