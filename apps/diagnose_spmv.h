// What the kernels of class `spmv` work on, how their results are checked, and those of the device.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <tuple>

#include "apps/diagnose_table.h"
#include "kernels/core/half.h"
#include "kernels/spmv/cusparse.h"
#include "kernels/spmv/spmv.h"
#include "operators/array.h"
#include "operators/random_numbers.h"
#include "operators/sparse/sparse_matrix.h"

namespace tensormg::diagnose
{
/// The x of all products: random.
template <typename Number>
Array<Number> product_input(std::int64_t size)
{
  constexpr std::uint64_t seed = 29;
  Array<Number> x(size);
  for (std::int64_t i = 0; i < size; ++i)
    x[i] = static_cast<Number>(
        static_cast<Compute<Number>>(random_value(seed, static_cast<std::uint64_t>(i))));
  return x;
}

/// x, A x in double precision for the rounded A and x, and |A| |x|.
template <typename Number>
struct ProductReference
{
  explicit ProductReference(const sparse::SparseMatrix<double> &matrix)
    : x(product_input<Number>(matrix.columns))
    , exact(matrix.rows)
    , magnitude(matrix.rows)
  {
    using Result = Compute<Number>; // has the rounded numbers without loss
    sparse::SparseMatrix<Result> rounded = sparse::convert<Result>(matrix);
    for (Result &value : rounded.value)
      value = static_cast<Result>(static_cast<Number>(value));
    Array<Result> factors(x.size());
    for (std::int64_t i = 0; i < x.size(); ++i)
      factors[i] = static_cast<Result>(x[i]);
    spmv::reference(rounded.view(), factors.data(), exact.data());
    for (std::int32_t row = 0; row < matrix.rows; ++row)
    {
      magnitude[row] = std::numeric_limits<double>::min();
      for (std::int32_t e = matrix.row_begin[row]; e < matrix.row_begin[row + 1]; ++e)
        magnitude[row] += std::abs(static_cast<double>(rounded.value[e]) *
            static_cast<double>(factors[rounded.column[e]]));
    }
  }

  /// The largest |y - A x| relative to |A| |x| of the row; infinite if an entry is not finite.
  double error_of(const Compute<Number> *y) const
  {
    double error = 0.;
    for (std::int64_t row = 0; row < exact.size(); ++row)
    {
      const double difference = std::abs(static_cast<double>(y[row]) - exact[row]);
      if (!std::isfinite(difference))
        return std::numeric_limits<double>::infinity();
      error = std::max(error, difference / magnitude[row]);
    }
    return error;
  }

  Array<Number> x;
  Array<double> exact, magnitude;
};

/// All kernels of a precision have the same x and the same reference, made when the first asks for it.
class ProductProblem
{
public:
  explicit ProductProblem(const sparse::SparseMatrix<double> &matrix_)
    : matrix(matrix_)
  {}
  template <typename Number>
  std::shared_ptr<const ProductReference<Number>> reference() const
  {
    auto &known = std::get<std::shared_ptr<const ProductReference<Number>>>(references_);
    if (known == nullptr)
      known = std::make_shared<const ProductReference<Number>>(matrix);
    return known;
  }
  const sparse::SparseMatrix<double> &matrix;

private:
  mutable std::tuple<std::shared_ptr<const ProductReference<double>>,
      std::shared_ptr<const ProductReference<float>>, std::shared_ptr<const ProductReference<Half>>>
      references_;
};

enum class CsrMethod : std::uint8_t
{
  rows,
  merge
};

template <typename Number, CsrMethod method>
std::unique_ptr<Candidate> make_device_csr(const ProductProblem &problem, ThreadTeam &team);
template <typename Number, spmv::CusparseAlgorithm algorithm>
std::unique_ptr<Candidate> make_device_cusparse(const ProductProblem &problem, ThreadTeam &team);
template <typename Number>
std::unique_ptr<Candidate> make_device_sliced_fma(const ProductProblem &problem, ThreadTeam &team);
template <typename Number>
std::unique_ptr<Candidate> make_device_sliced_mma(const ProductProblem &problem, ThreadTeam &team);
} // namespace tensormg::diagnose
