// Lists of paths in parameters: commas separate them, "\\," is a comma and "\\\\" a backslash within one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tensormg
{
/// The trimmed paths; "" has none, "a,,b" has an empty one. A backslash before anything else stands for itself.
std::vector<std::string> split_paths(std::string_view text);

/// The text that split_paths() reads as these paths.
std::string join_paths(const std::vector<std::string> &paths);
} // namespace tensormg
