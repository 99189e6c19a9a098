// What the kernels of class `spmv` share: vectors, references, and copies of a matrix in device memory.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "apps/common/console.h"
#include "apps/diagnose/spmv/spmv.h"
#include "kernels/core/in_double.h"
#include "kernels/core/random_numbers.h"

namespace tensormg::diagnose
{
namespace
{
  constexpr std::uint64_t seed = 29;

  double largest_magnitude(const Array<double> &values, ThreadTeam &team)
  {
    return largest_of_parts(team, values.size(), [&](std::int64_t begin, std::int64_t end) {
      double largest = 0.;
      for (std::int64_t i = begin; i < end; ++i)
        largest = std::max(largest, std::abs(values[i]));
      return largest;
    });
  }

  /// The largest number of a format, and its name for a message.
  template <typename Number>
  constexpr double largest_number = static_cast<double>(std::numeric_limits<Number>::max());
  template <>
  constexpr double largest_number<Half> = 65504.;
  template <typename Number>
  constexpr const char *format_name = sizeof(Number) == 8 ? "FP64"
      : sizeof(Number) == 4                               ? "FP32"
                                                          : "FP16";
} // namespace

sparse::ForParts parts_of(ThreadTeam &team)
{
  return [&team](std::int64_t size, const sparse::Part &work) { for_parts(team, size, work); };
}

template <typename Number>
ProductReference<Number>::ProductReference(
    const sparse::SparseMatrix<double> &matrix, ThreadTeam &team)
  : x(matrix.columns)
  , exact(matrix.rows)
  , magnitude(matrix.rows)
  , team_(team)
{
  for_parts(team, x.size(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      x[i] = rounded<Number>(random_value(seed, static_cast<std::uint64_t>(i)));
  });
  using Result = Compute<Number>; // has the rounded numbers without loss
  for_parts(team, matrix.rows, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row)
    {
      // Below its normal numbers a format has no relative precision.
      double sum = 0., of_magnitudes = std::numeric_limits<Result>::min();
      for (std::int32_t e = matrix.row_begin[row]; e < matrix.row_begin[row + 1]; ++e)
      {
        const double product =
            static_cast<double>(static_cast<Result>(rounded<Number>(matrix.value[e]))) *
            static_cast<double>(static_cast<Result>(x[matrix.column[e]]));
        sum += product;
        of_magnitudes += std::abs(product);
      }
      exact[row] = sum;
      magnitude[row] = of_magnitudes;
    }
  });
  largest_entry = largest_magnitude(matrix.value, team);
  largest_sum = largest_magnitude(magnitude, team);
}

template <typename Number>
double ProductReference<Number>::error_of(const Compute<Number> *y) const
{
  return largest_of_parts(team_, exact.size(), [&](std::int64_t begin, std::int64_t end) {
    double error = 0.;
    for (std::int64_t row = begin; row < end; ++row)
    {
      const double difference = std::abs(static_cast<double>(y[row]) - exact[row]);
      if (!std::isfinite(difference))
        return std::numeric_limits<double>::infinity();
      error = std::max(error, difference / magnitude[row]);
    }
    return error;
  });
}

template <typename Number>
std::shared_ptr<const ProductReference<Number>> ProductProblem::reference() const
{
  auto &known = parts<Number>().reference;
  if (known == nullptr)
  {
    require_host_bytes(sizeof(Number) * static_cast<double>(matrix.columns) +
            16. * static_cast<double>(matrix.rows),
        "the vectors");
    known = std::make_shared<const ProductReference<Number>>(matrix, team_);
  }
  return known;
}

template <typename Number>
void require_within_format(const ProductProblem &problem)
{
  using Result = Compute<Number>;
  const auto reference = problem.reference<Number>();
  if (reference->largest_entry > largest_number<Number>)
    throw NotAvailable("an entry of magnitude " + format_number(reference->largest_entry) +
        " is beyond " + format_name<Number>);
  // Rounding may add to partial sums.
  if (!(reference->largest_sum < 0.5 * largest_number<Result>))
    throw NotAvailable("the magnitudes of a row add up to " +
        format_number(reference->largest_sum) + ", beyond sums in " + format_name<Result>);
}

std::shared_ptr<const DeviceStructure> ProductProblem::structure() const
{
  if (structure_ == nullptr)
    structure_ = std::make_shared<const DeviceStructure>(
        DeviceStructure{on_device(matrix.row_begin), on_device(matrix.column)});
  return structure_;
}

template <typename Number>
std::shared_ptr<const DeviceArray<Number>> ProductProblem::device_values() const
{
  auto &known = parts<Number>().values;
  if (known == nullptr)
  {
    if constexpr (std::is_same_v<Number, double>)
      known = std::make_shared<const DeviceArray<double>>(on_device(matrix.value));
    else
    {
      Array<Number> values(matrix.value.size());
      for_parts(team_, values.size(), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t e = begin; e < end; ++e)
          values[e] = rounded<Number>(matrix.value[e]);
      });
      known = std::make_shared<const DeviceArray<Number>>(on_device(values));
    }
  }
  return known;
}

template <typename Number>
std::shared_ptr<const DeviceArray<Number>> ProductProblem::device_x() const
{
  auto &known = parts<Number>().x;
  if (known == nullptr)
    known = std::make_shared<const DeviceArray<Number>>(on_device(reference<Number>()->x));
  return known;
}

template <typename Number>
std::shared_ptr<const SlicedForm<Number>> ProductProblem::sliced() const
{
  auto &known = parts<Number>().sliced;
  if (known == nullptr)
  {
    const auto start = std::chrono::steady_clock::now();
    auto form = std::make_shared<SlicedForm<Number>>();
    form->matrix = sparse::make_sliced<Number>(matrix, parts_of(team_));
    form->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    known = form;
  }
  return known;
}

template struct ProductReference<double>;
template struct ProductReference<float>;
template struct ProductReference<Half>;
template std::shared_ptr<const ProductReference<double>> ProductProblem::reference() const;
template std::shared_ptr<const ProductReference<float>> ProductProblem::reference() const;
template std::shared_ptr<const ProductReference<Half>> ProductProblem::reference() const;
template void require_within_format<double>(const ProductProblem &);
template void require_within_format<float>(const ProductProblem &);
template void require_within_format<Half>(const ProductProblem &);
template std::shared_ptr<const DeviceArray<double>> ProductProblem::device_values() const;
template std::shared_ptr<const DeviceArray<float>> ProductProblem::device_values() const;
template std::shared_ptr<const DeviceArray<Half>> ProductProblem::device_values() const;
template std::shared_ptr<const DeviceArray<double>> ProductProblem::device_x() const;
template std::shared_ptr<const DeviceArray<float>> ProductProblem::device_x() const;
template std::shared_ptr<const DeviceArray<Half>> ProductProblem::device_x() const;
template std::shared_ptr<const SlicedForm<double>> ProductProblem::sliced() const;
template std::shared_ptr<const SlicedForm<float>> ProductProblem::sliced() const;
template std::shared_ptr<const SlicedForm<Half>> ProductProblem::sliced() const;
} // namespace tensormg::diagnose
