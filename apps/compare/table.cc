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

  // The reference computes in double precision whatever it stores.
  constexpr std::array rows_of_rank2{
      Implementation{"reference", "rank2", "double", Place::host, Unit::fp64, double_tolerance,
          make_host_candidate<double>},
      Implementation{"reference", "rank2", "single", Place::host, Unit::fp64, single_tolerance,
          make_host_candidate<float>},
      Implementation{"reference", "rank2", "half", Place::host, Unit::fp64, half_tolerance,
          make_host_candidate<Half>},
      Implementation{"cpu", "rank2", "double", Place::host, Unit::fp64, double_tolerance,
          make_host_candidate<double>},
      Implementation{"cpu", "rank2", "single", Place::host, Unit::fp32, single_tolerance,
          make_host_candidate<float>},
      Implementation{"cpu", "rank2", "half", Place::host, Unit::fp32, half_tolerance,
          make_host_candidate<Half>},
      Implementation{"device_reference", "rank2", "double", Place::device, Unit::fp64,
          double_tolerance, make_device_candidate<double>},
      Implementation{"device_reference", "rank2", "single", Place::device, Unit::fp64,
          single_tolerance, make_device_candidate<float>},
      Implementation{"device_reference", "rank2", "half", Place::device, Unit::fp64, half_tolerance,
          make_device_candidate<Half>},
      Implementation{"cuda", "rank2", "double", Place::device, Unit::fp64, double_tolerance,
          make_device_candidate<double>},
      Implementation{"cuda", "rank2", "single", Place::device, Unit::fp32, single_tolerance,
          make_device_candidate<float>},
      Implementation{"cuda", "rank2", "half", Place::device, Unit::fp32, half_tolerance,
          make_device_candidate<Half>},
      Implementation{"wmma", "rank2", "double", Place::device, Unit::fp64_tensor, double_tolerance,
          make_device_candidate<double>},
      Implementation{"wmma", "rank2", "tf32", Place::device, Unit::tf32_tensor, half_tolerance,
          make_device_candidate<float>},
      Implementation{"wmma", "rank2", "half", Place::device, Unit::fp16_tensor, half_tolerance,
          make_device_candidate<Half>},
      Implementation{"wmma", "rank2", "2xfp16", Place::device, Unit::fp16_tensor, half_tolerance,
          make_device_candidate<Half>},
      Implementation{"mma", "rank2", "double", Place::device, Unit::fp64_tensor, double_tolerance,
          make_device_candidate<double>},
      Implementation{"mma", "rank2", "tf32", Place::device, Unit::tf32_tensor, half_tolerance,
          make_device_candidate<float>},
      Implementation{"mma", "rank2", "half", Place::device, Unit::fp16_tensor, half_tolerance,
          make_device_candidate<Half>},
      Implementation{"mma", "rank2", "2xfp16", Place::device, Unit::fp16_tensor, half_tolerance,
          make_device_candidate<Half>},
  };
} // namespace

std::span<const Implementation> implementations()
{
  static const std::vector<Implementation> rows = [] {
    std::vector<Implementation> all(rows_of_rank2.begin(), rows_of_rank2.end());
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
