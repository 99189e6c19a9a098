// How a product C = A B is checked.
//
//   some rows     every entry against the reference, relative to (|A| |B|)_ij
//   all entries   C x against A (B x) and y' C against (y' A) B, x and y of random signs, row by row and column by column,
//                 relative to (|A| |B| 1)_i / sqrt(n) and (1' |A| |B|)_j / sqrt(m)
//
// Errors of the entries of a row are independent of x: their sum with random signs grows with the root of their number, so both
// measures of a right product are about the same. A single entry that is wrong by the size of an entry is some 1 / sqrt(n k) in
// the second one (at 8192^3 1.2e-4, where 9e-5 are allowed with factors in TF32 and 6e-6 with sums in FP32), wrong tiles are the root
// of their columns more. O(m n + m k + k n) work.
// Tests: tests/apps/diagnose/gemm/check_test.cc.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "apps/common/thread_team.h"
#include "kernels/core/random_numbers.h"
#include "kernels/diagnostics/gemm/gemm.h"

namespace tensormg::diagnose::gemm_class
{
using gemm::Size;

/// What a kernel rounds.
enum class Rounding : std::uint8_t
{
  fp64,        ///< sums
  fp32,        ///< sums; products that are corrected to single precision as well
  cut_off,     ///< sums in FP32, cut off after every 16 products
  factors,     ///< factors to 11 bits (TF32, FP16) and sums in FP32, cut off after every 8 products
  three_terms, ///< sums in FP32, cut off three times in 8 products
};

/// The largest error to be expected relative to |A| |B|, factors of random signs:
///
///   hypot(2.75 u_f / sqrt(k), u_s (4 + 2 c sqrt(k)))
///
/// with the units of rounding u_f of factors and u_s of sums, and c cuts per product. Rounding a product's factors is an error of
/// either sign, so k of them make sqrt(k) of k products. Where a sum is rounded, the error is a part of the sum so far,
/// some sqrt(k) of k products, and of either sign; where it is cut off, all errors point to zero. The constants are from a run with
/// products from 64 x 64 x 65536 to 8192^3 (an H200, revision 1d39e5d), whose largest errors are 0.1 to 1.25 of it.
inline double expected_error(Rounding rounding, std::int64_t k)
{
  constexpr double unit_fp64 = 0x1p-53, unit_fp32 = 0x1p-24, unit_factor = 0x1p-11;
  const double root = std::sqrt(std::max(1., static_cast<double>(k)));
  const auto sums = [&](double cuts) { return unit_fp32 * (4. + 2. * cuts * root); };
  switch (rounding)
  {
    case Rounding::fp64:
      return 8. * unit_fp64; // the reference's errors are as large
    case Rounding::fp32:
      return sums(0.);
    case Rounding::cut_off:
      return sums(1. / 16.);
    case Rounding::factors:
      return std::hypot(2.75 * unit_factor / root, sums(1. / 8.));
    case Rounding::three_terms:
      return sums(3. / 8.);
  }
  return 0.;
}

/// What is allowed, in expected errors: 5 times the largest error of that run.
inline constexpr double times_expected = 6.;

/// About `count` rows that are compared with the reference, in order: all of a small matrix; otherwise spread over it, with the first
/// and the last. Row number t has the place 67 t % 256 in a tile of 256 rows: as all powers of two up to `count` divide into
/// the places, all places of tiles of so many rows are among them.
inline std::vector<std::int64_t> checked_rows(std::int64_t m, std::int64_t count)
{
  constexpr std::int64_t tile = 256, next = 67;
  std::vector<std::int64_t> rows;
  if (2 * count >= m)
  {
    for (std::int64_t row = 0; row < m; ++row)
      rows.push_back(row);
    return rows;
  }
  for (std::int64_t t = 0; t < count; ++t)
  {
    const std::int64_t place = next * t % tile,
                       row =
                           t * (m - 1) / std::max<std::int64_t>(1, count - 1) / tile * tile + place;
    rows.push_back(row < m ? row : row >= tile ? row - tile : row % m);
  }
  rows.push_back(m - 1);
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

/// 1 or -1.
inline double random_sign(std::uint64_t seed, std::int64_t index)
{
  return random_bits(seed, static_cast<std::uint64_t>(index)) % 2 == 0 ? 1. : -1.;
}

/// Sums are more exact than what they check.
template <typename Number>
using CheckSum = std::conditional_t<std::is_same_v<Number, double>, long double, double>;

/// M v and |M| w, M of rows x columns, row-major.
template <typename Sum, typename Number>
void multiply_rows(ThreadTeam &team, std::int64_t rows, std::int64_t columns, const Number *matrix,
    const std::vector<Sum> &v, const std::vector<double> &w, std::vector<Sum> &sums,
    std::vector<double> &magnitudes)
{
  sums.resize(static_cast<std::size_t>(rows));
  magnitudes.resize(sums.size());
  for_parts(team, rows, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
    {
      Sum sum = 0;
      double magnitude = 0.;
      for (std::int64_t j = 0; j < columns; ++j)
      {
        const auto x = static_cast<double>(matrix[i * columns + j]);
        sum += static_cast<Sum>(x) * v[static_cast<std::size_t>(j)];
        magnitude += std::abs(x) * w[static_cast<std::size_t>(j)];
      }
      sums[static_cast<std::size_t>(i)] = sum;
      magnitudes[static_cast<std::size_t>(i)] = magnitude;
    }
  });
}

/// v' M and w' |M|. Each thread has some columns.
template <typename Sum, typename Number>
void multiply_columns(ThreadTeam &team, std::int64_t rows, std::int64_t columns,
    const Number *matrix, const std::vector<Sum> &v, const std::vector<double> &w,
    std::vector<Sum> &sums, std::vector<double> &magnitudes)
{
  sums.assign(static_cast<std::size_t>(columns), Sum(0));
  magnitudes.assign(sums.size(), 0.);
  for_parts(team, columns, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = 0; i < rows; ++i)
    {
      const Sum factor = v[static_cast<std::size_t>(i)];
      const double positive = w[static_cast<std::size_t>(i)];
      for (std::int64_t j = begin; j < end; ++j)
      {
        const auto x = static_cast<double>(matrix[i * columns + j]);
        sums[static_cast<std::size_t>(j)] += factor * static_cast<Sum>(x);
        magnitudes[static_cast<std::size_t>(j)] += positive * std::abs(x);
      }
    }
  });
}

/// What C x and y' C must be.
template <typename Number>
class SumsOfEntries
{
public:
  using Sum = CheckSum<Number>;

  SumsOfEntries() = default;
  SumsOfEntries(ThreadTeam &team, const Size &size, const Number *a, const Number *b)
    : size_(size)
    , x_(signs(seed_x, size.n))
    , y_(signs(seed_y, size.m))
  {
    std::vector<Sum> inner;
    std::vector<double> positive;
    multiply_rows(team, size.k, size.n, b, x_, ones(size.n), inner, positive);
    multiply_rows(team, size.m, size.k, a, inner, positive, rows_, of_rows_);
    multiply_columns(team, size.m, size.k, a, y_, ones(size.m), inner, positive);
    multiply_columns(team, size.k, size.n, b, inner, positive, columns_, of_columns_);
    scale(of_rows_, size.n);
    scale(of_columns_, size.m);
  }

  /// The largest error of a row and of a column; infinite if any entry is not finite.
  template <typename Result>
  double error(ThreadTeam &team, const Result *c) const
  {
    std::vector<Sum> sums;
    std::vector<double> magnitudes;
    multiply_rows(team, size_.m, size_.n, c, x_, ones(size_.n), sums, magnitudes);
    double largest = largest_error(sums, rows_, of_rows_);
    multiply_columns(team, size_.m, size_.n, c, y_, ones(size_.m), sums, magnitudes);
    return std::max(largest, largest_error(sums, columns_, of_columns_));
  }

private:
  static constexpr std::uint64_t seed_x = 53, seed_y = 54;

  static std::vector<Sum> signs(std::uint64_t seed, std::int64_t size)
  {
    std::vector<Sum> result;
    for (std::int64_t i = 0; i < size; ++i)
      result.push_back(static_cast<Sum>(random_sign(seed, i)));
    return result;
  }
  static std::vector<double> ones(std::int64_t size)
  {
    return std::vector<double>(static_cast<std::size_t>(size), 1.);
  }
  static void scale(std::vector<double> &magnitudes, std::int64_t terms)
  {
    for (double &x : magnitudes)
      x /= std::sqrt(static_cast<double>(std::max<std::int64_t>(1, terms)));
  }
  /// Sums that are not finite, and of what must be zero, included.
  static double largest_error(const std::vector<Sum> &sums, const std::vector<Sum> &exact,
      const std::vector<double> &magnitudes)
  {
    double largest = 0.;
    for (std::size_t i = 0; i < sums.size(); ++i)
    {
      const auto difference = static_cast<double>(std::abs(sums[i] - exact[i]));
      if (!std::isfinite(difference))
        return std::numeric_limits<double>::infinity();
      if (difference > 0.)
        largest = std::max(largest, difference / magnitudes[i]);
    }
    return largest;
  }

  Size size_;
  std::vector<Sum> x_, y_, rows_, columns_;
  std::vector<double> of_rows_, of_columns_;
};
} // namespace tensormg::diagnose::gemm_class
