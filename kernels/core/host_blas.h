// The product of two matrices by the BLAS that the program is linked with.
#pragma once

#include <cstdint>

namespace tensormg::host_blas
{
/// c = a b: a is m x k, b is k x n, c is m x n, all by rows. Number: double or float. As many threads as BLAS has been told.
/// @throws std::length_error for a size beyond what BLAS takes
template <typename Number>
void multiply(
    std::int64_t m, std::int64_t n, std::int64_t k, const Number *a, const Number *b, Number *c);
} // namespace tensormg::host_blas
