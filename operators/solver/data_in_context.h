// What the data of a problem are as vectors of a context: right-hand side, initial guess, errors, means.
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <utility>

#include "operators/data/device_functions.h"
#include "operators/data/errors.h"
#include "operators/data/right_hand_side.h"
#include "operators/mesh/grid.h"
#include "operators/vectors/context.h"

namespace tensormg
{
/// Where the context is on a device, which lacks some functions of expressions, and all of the calling program's, the host
/// evaluates these; `on_host` is called before with what it evaluates, and may throw.
template <typename Context>
class DataInContext
{
public:
  using VectorType = typename Context::template Vector<double>;
  using Space = typename Context::Space;
  using OnHost = std::function<void(const std::string &what)>;

  /// All but the last must outlive the object.
  DataInContext(const Problem &problem, const LevelGrid &level, const CellBasis &basis,
      const Context &context, const Space &space, OnHost on_host = {})
    : problem_(problem)
    , level_(level)
    , basis_(basis)
    , context_(context)
    , space_(space)
    , on_host_(std::move(on_host))
  {}

  /// check_compatible()
  Balance check() const
  {
    if constexpr (Context::on_device)
      return check_compatible(problem_, level_, basis_, device_integrator(context_.stream));
    else
      return check_compatible(problem_, level_, basis_);
  }
  /// assemble_right_hand_side(); of a singular problem without its mean.
  void right_hand_side(VectorType &b) const
  {
    if constexpr (Context::on_device)
      evaluate("the right-hand side", assemble_on_device, assemble_right_hand_side, b);
    else
      assemble_right_hand_side(problem_, level_, basis_, b);
    if (problem_.is_singular())
      subtract_constant(b);
  }
  /// project_initial_guess(); of a singular problem without its mean.
  void initial_guess(VectorType &x) const
  {
    if constexpr (Context::on_device)
      evaluate("the initial guess", project_guess_on_device, project_initial_guess, x);
    else
      project_initial_guess(problem_, level_, basis_, x);
    if (problem_.is_singular())
      subtract_mean(x);
  }
  /// compute_errors()
  Errors errors(const VectorType &x) const
  {
    if constexpr (Context::on_device)
    {
      if (const auto errors = errors_on_device(problem_, level_, basis_, x, context_.stream))
        return *errors;
      tell_of_host("the error");
      Vector<double> on_host(level_.block);
      copy_to_host(x, on_host, context_.stream);
      return compute_errors(problem_, level_, basis_, on_host);
    }
    else
      return compute_errors(problem_, level_, basis_, x);
  }

  /// subtract_constant() of a right-hand side
  void subtract_constant(VectorType &b) const
  {
    if constexpr (Context::on_device)
      subtract_constant_on_device(level_, basis_, b, space_);
    else
      tensormg::subtract_constant(level_, basis_, b);
  }
  /// b of each cell times its volume in units of the mean one.
  void weigh(VectorType &b) const
  {
    if constexpr (Context::on_device)
      multiply_by_volume_on_device(level_, 1., b, context_.stream);
    else
      multiply_cells(level_, volume_factor(level_), b);
  }
  /// Times the square root of that: so that the norm of the modes of a function is that of the function in mean cells.
  void weigh_for_norm(VectorType &x) const
  {
    if constexpr (Context::on_device)
      multiply_by_volume_on_device(level_, 0.5, x, context_.stream);
    else if (const CellFactor volume = volume_factor(level_))
      multiply_cells(
          level_, [&](auto... cell) { return std::sqrt(volume(cell...)); }, x);
  }
  /// The mean over the box of a function.
  void subtract_mean(VectorType &x) const
  {
    if constexpr (Context::on_device)
      subtract_mean_on_device(level_, basis_, x, space_);
    else
      tensormg::subtract_mean(level_, basis_, x);
  }
  /// x *= 2^exponent
  void scale(VectorType &x, int exponent) const
  {
    // In two steps, since the power itself may leave the range.
    for (const int part : {exponent / 2, exponent - exponent / 2})
      if (part != 0)
        space_.axpby(std::ldexp(1., part), x, 0., x);
  }
  /// Divides b by a power of two, whose exponent is returned, if the square of its norm could leave the range of double precision:
  /// a norm that underflows would pass for b = 0. `largest`: its largest magnitude, which is finite.
  int bring_into_range(VectorType &b, double largest) const
  {
    if (largest == 0. || (largest > 1e-100 && largest < 1e100))
      return 0;
    const int exponent = std::ilogb(largest);
    scale(b, -exponent);
    return exponent;
  }

private:
  void evaluate(const char *what, decltype(assemble_on_device) &by_device,
      decltype(assemble_right_hand_side) &by_host, VectorType &to) const
      requires(Context::on_device)
  {
    if (by_device(problem_, level_, basis_, to, context_.stream))
      return;
    tell_of_host(what);
    Vector<double> on_host;
    by_host(problem_, level_, basis_, on_host);
    copy_to_device(on_host, to, context_.stream);
  }
  void tell_of_host(const char *what) const
  {
    if (on_host_)
      on_host_(what);
  }

  const Problem &problem_;
  const LevelGrid &level_;
  const CellBasis &basis_;
  const Context &context_;
  const Space &space_;
  OnHost on_host_;
};
} // namespace tensormg
