// The traces that one block of the Laplace operator gives to its neighbours, on the host.
#pragma once

#include "kernels/laplace/laplace.h"

namespace tensormg::laplace
{
/// See PackTraces: one line of src after the other, all its modes at once. Serves every CPU backend.
template <typename Number>
void pack_traces(const Block &block, const CellBasis &basis, int side, const Number *src,
    Compute<Number> *buffer);
} // namespace tensormg::laplace
