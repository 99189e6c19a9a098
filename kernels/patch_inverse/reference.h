// The `reference` backend: the oracle of patch_inverse.h for any size and number type.
#pragma once

#include "kernels/patch_inverse/patch_inverse.h"

namespace tensormg::patch_inverse
{
/// Plain loops, arithmetic in double for every number type.
template <typename Number>
void apply_reference(const Arguments<Number> &arguments);

/// [direction][End] Q row by row, then the values, in double; zero where there is nothing.
std::vector<std::byte> pack_reference(const Factors &factors, int n);

/// Throws std::invalid_argument unless all that is there fits to n.
void check_sizes(const Factors &factors, int n);
} // namespace tensormg::patch_inverse
