// A warp on the host: the fragments of 32 lanes, and mma.sync and ldmatrix by their definitions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "kernels/mma/chaining.h"
#include "kernels/mma/ldmatrix_maps.h"

namespace tensormg::test
{
/// Small dense matrix, row by row.
struct DenseMatrix
{
  int rows;
  int columns;
  std::vector<double> entries;

  DenseMatrix(int rows_, int columns_)
    : rows(rows_)
    , columns(columns_)
    , entries(static_cast<std::size_t>(rows_ * columns_), 0.)
  {}
  double &operator()(int i, int j) { return entries[static_cast<std::size_t>(i * columns + j)]; }
  double operator()(int i, int j) const
  {
    return entries[static_cast<std::size_t>(i * columns + j)];
  }
  bool operator==(const DenseMatrix &) const = default;
};

/// Integers between -9 and 9 without a pattern that a wrong index could reproduce. Exact in every
/// multiplicand, and so are their products and sums.
inline DenseMatrix integer_matrix(int rows, int columns, unsigned seed)
{
  DenseMatrix matrix(rows, columns);
  std::uint32_t state = seed * 2654435761u + 12345u;
  for (double &entry : matrix.entries)
  {
    state = state * 1664525u + 1013904223u;
    entry = static_cast<double>(state >> 16) - 19. * static_cast<double>((state >> 16) / 19u) - 9.;
  }
  return matrix;
}

/// A B + C by three loops.
inline DenseMatrix multiply_add(const DenseMatrix &a, const DenseMatrix &b, const DenseMatrix &c)
{
  DenseMatrix d = c;
  for (int i = 0; i < a.rows; ++i)
    for (int j = 0; j < b.columns; ++j)
      for (int k = 0; k < a.columns; ++k)
        d(i, j) += a(i, k) * b(k, j);
  return d;
}

template <typename S, mma::Operand operand>
using Warp = std::array<mma::Fragment<S, operand>, mma::warp_size>;

/// The matrix in the fragments of all lanes.
template <typename S, mma::Operand operand>
Warp<S, operand> distribute(const DenseMatrix &matrix)
{
  using Element = typename mma::OperandOf<S, operand>::Element;
  Warp<S, operand> warp{};
  for (int lane = 0; lane < mma::warp_size; ++lane)
    warp[static_cast<std::size_t>(lane)] = mma::make_fragment<S, operand>(
        lane, [&](int i, int j) { return mma::RoundTo<Element>()(matrix(i, j)); });
  return warp;
}

/// Back: entry by entry from the lane that holds it.
template <typename S, mma::Operand operand>
DenseMatrix collect(const Warp<S, operand> &warp)
{
  using Traits = mma::OperandOf<S, operand>;
  DenseMatrix matrix(Traits::rows, Traits::columns);
  for (int i = 0; i < Traits::rows; ++i)
    for (int j = 0; j < Traits::columns; ++j)
    {
      const mma::Holder holder = mma::holder_of<S, operand>({i, j});
      const auto value = warp[static_cast<std::size_t>(holder.lane)].get(holder.element);
      if constexpr (std::is_same_v<typename Traits::Element, Half>)
        matrix(i, j) = static_cast<double>(Half::to_float_portable(value.bits));
      else if constexpr (std::is_same_v<typename Traits::Element, Tf32> ||
          std::is_same_v<typename Traits::Element, Bf16>)
        matrix(i, j) = static_cast<double>(static_cast<float>(value));
      else
        matrix(i, j) = static_cast<double>(value);
    }
  return matrix;
}

/// D = A B + C with exact accumulation, rounded once.
template <typename S>
Warp<S, mma::Operand::c> mma_sync(const Warp<S, mma::Operand::a> &a,
    const Warp<S, mma::Operand::b> &b, const Warp<S, mma::Operand::c> &c)
{
  return distribute<S, mma::Operand::c>(multiply_add(collect<S, mma::Operand::a>(a),
      collect<S, mma::Operand::b>(b), collect<S, mma::Operand::c>(c)));
}

/// ldmatrix as PTX defines it. rows[l]: the 16 bytes that lane l names. Register r of lane l is the
/// 32-bit word l % 4 of row l / 4 of matrix r; transposed, the 16-bit elements l / 4 of its rows
/// 2 (l % 4) and 2 (l % 4) + 1.
template <typename S, mma::Operand operand>
Warp<S, operand> ldmatrix(
    mma::LdmatrixForm form, const std::array<const unsigned char *, mma::warp_size> &rows)
{
  Warp<S, operand> warp{};
  for (std::size_t lane = 0; lane < mma::warp_size; ++lane)
    for (std::size_t r = 0; r < static_cast<std::size_t>(warp[lane].n_registers); ++r)
    {
      std::array<unsigned char, 4> word{};
      if (form == mma::LdmatrixForm::plain)
        std::memcpy(word.data(), rows[8 * r + lane / 4] + 4 * (lane % 4), 4);
      else
        for (std::size_t i = 0; i < 2; ++i)
          std::memcpy(&word[2 * i], rows[8 * r + 2 * (lane % 4) + i] + 2 * (lane / 4), 2);
      std::memcpy(&warp[lane].registers[r], word.data(), 4);
    }
  return warp;
}
} // namespace tensormg::test
