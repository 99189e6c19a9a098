// The functions of multigrid_preconditioner.h for any context: included where they are compiled for one.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>

#include "operators/multigrid/box_family.h"
#include "operators/multigrid/coarsening_choice.h"
#include "operators/multigrid/multigrid_implementation.h"
#include "operators/multigrid/multigrid_preconditioner.h"
#include "operators/vectors/with_number.h"

namespace tensormg
{
namespace internal
{
  /// Of the smoother's steps, where it is not that of the backend.
  inline std::optional<laplace::Arithmetic> step_arithmetic(Precision precision)
  {
    switch (precision)
    {
      case Precision::tf32_precision:
        return laplace::Arithmetic::tf32;
      case Precision::corrected_half_precision:
        return laplace::Arithmetic::fp16x2;
      default:
        return std::nullopt;
    }
  }

  /// Sizes do not depend on the basis nor on the backend.
  template <typename Context>
  BoxFamily<Context> family_for_sizes(const Grid &grid, const CellBasis &basis)
  {
    if constexpr (Context::on_device)
      return {grid, basis, laplace::Backend::automatic, DeviceContext(nullptr)};
    else
      return {grid, basis, laplace::Backend::cpu, HostContext()};
  }
} // namespace internal

template <typename Context>
std::unique_ptr<MultigridPreconditionerIn<Context>> make_multigrid_in(const Grid &grid,
    const CellBasis &basis, laplace::Backend backend, const MultigridOptions &options,
    const Context &context, const CycleOptions &cycle_options)
{
  const MultigridOptions chosen = with_chosen_precision(options, grid, basis);
  if (!Context::on_device && takes_tensor_cores(chosen.precision))
    throw std::invalid_argument(std::string("multigrid in ") + to_string(chosen.precision) +
        " takes the tensor cores of a device; in host memory there are double, single and half");
  BoxFamily<Context> family(
      grid, basis, backend, context, internal::step_arithmetic(chosen.precision));
  family.choose(chosen);
  using Result = std::unique_ptr<MultigridPreconditionerIn<Context>>;
  return with_number(chosen.precision, [&](auto number) -> Result {
    return std::make_unique<MultigridImplementation<BoxFamily<Context>, decltype(number)>>(
        family, chosen, cycle_options);
  });
}

template <typename Context>
std::int64_t multigrid_bytes(const Grid &grid, const MultigridOptions &options)
{
  const CellBasis basis;
  auto family = internal::family_for_sizes<Context>(grid, basis);
  family.choose(options);
  const bool is_double = choose_coarsening(grid, options).whole_grid;
  const Precision precision = is_double ? Precision::double_precision : options.precision;
  return with_number(precision, [&](auto number) {
    return MultigridImplementation<BoxFamily<Context>, decltype(number)>::bytes(
        family, options, {});
  });
}

template <typename Context>
std::size_t coarsest_level(const Grid &grid, const CycleOptions &cycle_options)
{
  const CellBasis basis;
  const auto family = internal::family_for_sizes<Context>(grid, basis);
  return CyclesIn<Context>{family.context(), cycle_options}.coarsest_level(family);
}
} // namespace tensormg
