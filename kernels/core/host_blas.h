// The product of two matrices by the BLAS that the program is linked with.
#pragma once

#include <cstdint>

namespace tensormg::host_blas
{
/// c = a b: a is rows x inner, b is inner x columns, c is rows x columns, all by rows. Number: double or float. As many threads as BLAS has been told.
/// @throws std::length_error for a size beyond what BLAS takes
template <typename Number>
void multiply(std::int64_t rows, std::int64_t columns, std::int64_t inner, const Number *a,
    const Number *b, Number *c);
} // namespace tensormg::host_blas
