// Checks the arguments of deal.II's generators before these are called.
#pragma once

#include <string>

namespace tensormg
{
/// "the generator hyper_shell makes no mesh of 'ARGUMENTS': WHAT; allowed: center : inner_radius : outer_radius : n_cells : colorize", the latter
/// for generators that are known here.
std::string generator_refusal(
    const std::string &name, const std::string &arguments, const std::string &what);

/// Throws MeshError, with the values and what is allowed, for arguments by which deal.II would end the program, run out of memory, or give other cells
/// than it was asked for: radii the wrong way round, a length below 0, 10^12 cells. Generators, numbers of arguments and words that are not known here
/// are left to deal.II.
void check_generator_arguments(int dim, const std::string &name, const std::string &arguments);
} // namespace tensormg
