// What earlier runs with another number of ranks left beside the solution files of this one.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tensormg
{
/// The files under `base` that do not belong to a solution written to base + ".vtu" (n_pieces = 1), or to n_pieces
/// pieces and base + ".pvtu": those of the other kind and the pieces of further ranks, which would pass for parts of it.
/// n_pieces = 0: all. Only files with exactly these names that FieldWriter has written.
std::vector<std::filesystem::path> find_field_files(const std::string &base, int n_pieces);

/// Removes those. A file that cannot be removed stays.
void remove_stale_files(const std::string &base, int n_pieces);

/// The files base + "_line_N.csv" with N > n_lines that write_line() has written.
std::vector<std::filesystem::path> find_line_files(const std::string &base, std::size_t n_lines);
} // namespace tensormg
