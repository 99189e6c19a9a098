// FP32 matrices as sums of two FP16 matrices, X = X1 + X2 / scale, for products on tensor cores: X1 is X rounded, X2 what
// that loses, scaled so that it is no smaller than X was. For numbers between 2^-14 and 65504; larger ones become infinite.
//
// Source: H. Ootomo and R. Yokota, IJHPCA 36 (2022).
#pragma once

#include <cstdint>

#include "kernels/core/half.h"
#include "kernels/diagnostics/gemm/aligned_rows.h"

namespace tensormg::gemm
{
inline constexpr float scale_of_small_term = 1 << 11;

/// Packed rows of `columns` numbers. Both terms have rows of aligned_columns(columns) numbers of which the rest is zero, X2
/// follows X1.
struct TwoTerms
{
  std::int64_t rows = 0, columns = 0;
  const float *from = nullptr;
  Half *to = nullptr;

  constexpr std::int64_t numbers_of_term() const { return rows * aligned_columns(columns); }
};

/// Both in one launch. `from` and `to` are aligned to 16 bytes. Needs compute capability 9.0. Throws std::length_error for more
/// than 1.3e11 numbers.
void split_in_two_terms(const TwoTerms &first, const TwoTerms &second, Stream stream);
} // namespace tensormg::gemm
