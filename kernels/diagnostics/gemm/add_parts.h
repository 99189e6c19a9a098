// Adds what parts along k of tiles of a product have summed up.
#pragma once

#include "kernels/device/device.h"
#include "kernels/diagnostics/gemm/tile_order.h"

namespace tensormg::gemm
{
/// The divided tiles, rows x columns each, to C, m x n: their parts are added in a fixed order. They lie one after
/// the other in `partial`. `columns` is a multiple of 32. Queued in the stream; needs compute capability 9.0.
void add_parts(const Division &division, int rows, int columns, int m, int n, const float *partial,
    float *c, Stream stream);
} // namespace tensormg::gemm
