#include "apps/compare/table.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "apps/compare/tensor/tensor.h"
#include "apps/parameters/text.h"
#include "apps/parameters/words.h"

namespace tensormg
{
namespace
{
  using peak::Unit;

  constexpr double double_tolerance = 1e-13, single_tolerance = 1e-5, half_tolerance = 4e-3;

  using laplace::Arithmetic;

  /// The word of parameter files for a kernel on vectors of such numbers.
  const char *precision_word(std::size_t number_bytes, Arithmetic arithmetic)
  {
    if (number_bytes == sizeof(double))
      return "double";
    if (arithmetic == Arithmetic::tf32)
      return "tf32";
    if (arithmetic == Arithmetic::fp16x2)
      return "2xfp16";
    return number_bytes == sizeof(float) ? "single" : "half";
  }

  Unit unit_of(const laplace::Variant &variant)
  {
    const bool tensor = laplace::on_tensor_cores(variant.backend);
    switch (variant.arithmetic)
    {
      case Arithmetic::fp64:
        return tensor ? Unit::fp64_tensor : Unit::fp64;
      case Arithmetic::tf32:
        return Unit::tf32_tensor;
      case Arithmetic::fp16:
      case Arithmetic::fp16x2:
        return Unit::fp16_tensor;
      default:
        return Unit::fp32;
    }
  }

  /// Every variant of kernels/laplace/select.cc for these numbers.
  template <typename Number>
  void add_rank2(std::vector<Implementation> &all)
  {
    for (const laplace::Variant &variant : laplace::variants<Number>())
    {
      const laplace::BackendTraits &backend = laplace::traits(variant.backend);
      const bool on_device = backend.place == laplace::Place::device;
      const double tolerance = sizeof(Number) == sizeof(double) ? double_tolerance
          : sizeof(Number) == sizeof(float) && variant.arithmetic != Arithmetic::tf32
          ? single_tolerance
          : half_tolerance;
      all.push_back({backend.name, "rank2", precision_word(sizeof(Number), variant.arithmetic),
          on_device ? Place::device : Place::host, unit_of(variant), tolerance,
          on_device ? make_device_candidate<Number> : make_host_candidate<Number>});
    }
  }

  /// Those of kernels/laplace/cellwise/select.cc.
  template <typename Number>
  void add_cells(std::vector<Implementation> &all)
  {
    constexpr bool is_double = sizeof(Number) == sizeof(double);
    const char *const precision =
        precision_word(sizeof(Number), is_double ? Arithmetic::fp64 : Arithmetic::fp32);
    const double tolerance = is_double    ? double_tolerance
        : sizeof(Number) == sizeof(float) ? single_tolerance
                                          : half_tolerance;
    for (const laplace::Backend backend :
        {laplace::Backend::reference, laplace::Backend::cpu, laplace::Backend::cuda})
    {
      const bool on_device = laplace::is_device_backend(backend);
      all.push_back({laplace::to_string(backend), form_with_cells, precision,
          on_device ? Place::device : Place::host, is_double ? Unit::fp64 : Unit::fp32, tolerance,
          on_device ? make_device_candidate<Number> : make_host_candidate<Number>});
    }
  }
} // namespace

std::span<const Implementation> implementations()
{
  static const std::vector<Implementation> rows = [] {
    std::vector<Implementation> all;
    add_rank2<double>(all);
    add_rank2<float>(all);
    add_rank2<Half>(all);
    add_cells<double>(all);
    add_cells<float>(all);
    add_cells<Half>(all);
    const auto tensors = tensor_implementations();
    all.insert(all.end(), tensors.begin(), tensors.end());
    return all;
  }();
  return rows;
}

const Implementation &find_implementation(const Choice &choice)
{
  std::string of_form, of_backend; // what there is
  const auto append = [](std::string &list, const Implementation &row) {
    list += (list.empty() ? "" : ", ") + std::string(row.form) + " " + row.precision;
  };
  for (const Implementation &row : implementations())
  {
    if (choice.backend != row.backend)
      continue;
    if (choice.form == row.form && choice.precision == row.precision)
      return row;
    append(of_backend, row);
    if (choice.form == row.form)
      append(of_form, row);
  }
  throw NotAvailable(of_backend.empty() ? "this version has no such backend"
                                        : "no kernel for " + choice.form + " " + choice.precision +
              "; there are " + (of_form.empty() ? of_backend : of_form));
}

std::array<std::int64_t, 3> nearest_cells(
    int dim, int degree, std::int64_t dofs, bool powers_of_two)
{
  const double wanted = std::pow(static_cast<double>(dofs), 1. / dim) / (degree + 1);
  const double step = wanted < static_cast<double>(row_granularity) ? 1. : row_granularity;
  const auto cells = powers_of_two
      ? std::int64_t{1} << std::max<std::int64_t>(0, std::llround(std::log2(wanted)))
      : std::max<std::int64_t>(1, std::llround(wanted / step) * std::llround(step));
  return {cells, cells, dim == 3 ? cells : 1};
}

laplace::Form form_of_step(const std::string &step)
{
  for (const laplace::Form form :
      {laplace::Form::apply, laplace::Form::residual, laplace::Form::chebyshev})
    if (step == compare_steps[static_cast<std::size_t>(form)])
      return form;
  throw std::invalid_argument("unknown step '" + step +
      "'; known: " + join({compare_steps.begin(), compare_steps.end()}, ", "));
}
} // namespace tensormg
