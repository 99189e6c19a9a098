// The `reference` backend: the oracle of nodal.h for any size and number type.
#pragma once

#include "kernels/diagnostics/nodal/nodal.h"

namespace tensormg::nodal
{
/// Plain loops, arithmetic in double for every number type.
template <typename Number>
void apply_reference(const Arguments<Number> &arguments);

/// [direction][End][mass, stiffness][i][a] in double; zero where there is no matrix.
std::vector<std::byte> pack_reference(const Matrices &matrices, int n);

/// Throws std::invalid_argument unless every matrix that is there is n x n.
void check_sizes(const Matrices &matrices, int n);
} // namespace tensormg::nodal
