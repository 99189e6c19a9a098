// What the kernels of class `spmv` work on, how their results are checked, and those of the device.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>

#include "apps/diagnose_table.h"
#include "kernels/spmv/cusparse.h"
#include "kernels/spmv/spmv.h"
#include "operators/array.h"
#include "operators/random_numbers.h"
#include "operators/sparse/sparse_matrix.h"

namespace tensormg::diagnose
{
struct ProductProblem
{
  const sparse::SparseMatrix<double> &matrix;
};

/// The x of all products: random.
template <typename Number>
Array<Number> product_input(std::int64_t size)
{
  constexpr std::uint64_t seed = 29;
  Array<Number> x(size);
  for (std::int64_t i = 0; i < size; ++i)
    x[i] = static_cast<Number>(random_value(seed, static_cast<std::uint64_t>(i)));
  return x;
}

/// The largest |y - A x| relative to |A| |x| of the row; infinite if an entry is not finite.
template <typename Number>
double product_error(const spmv::Csr<Number> &a, const Number *x, const Number *y)
{
  Array<double> exact(a.rows);
  spmv::reference(a, x, exact.data());
  double error = 0.;
  for (std::int32_t row = 0; row < a.rows; ++row)
  {
    double magnitude = std::numeric_limits<double>::min();
    for (std::int32_t e = a.row_begin[row]; e < a.row_begin[row + 1]; ++e)
      magnitude += std::abs(static_cast<double>(a.value[e]) * static_cast<double>(x[a.column[e]]));
    const double difference = std::abs(static_cast<double>(y[row]) - exact[row]);
    if (!std::isfinite(difference))
      return std::numeric_limits<double>::infinity();
    error = std::max(error, difference / magnitude);
  }
  return error;
}

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
std::unique_ptr<Candidate> make_device_sliced_mma(const ProductProblem &problem, ThreadTeam &team);
} // namespace tensormg::diagnose
