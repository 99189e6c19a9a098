// What earlier runs with another number of ranks left beside the solution files of this one.
#pragma once

#include <string>

namespace tensormg
{
/// After the solution has been written to base + ".vtu" (n_pieces = 1), or to n_pieces pieces and
/// base + ".pvtu": removes the files of the other kind and the pieces of further ranks, which would
/// pass for parts of this solution. Only files with exactly these names that deal.II has written.
/// A file that cannot be removed stays.
void remove_stale_files(const std::string &base, int n_pieces);
} // namespace tensormg
