// What a family of operators makes for the levels of a mesh, so that cycles, full multigrid and estimates of eigenvalues
// are one text for all families, in host and in device memory.
//
// A family names types and makes objects for level l = 0 (the coarsest) .. size() - 1. It knows the mesh, the basis and the
// coefficient; who uses it knows none of them. operators/multigrid/box_family.h is the first.
// Test that every family passes: tests/operators/multigrid/family_checks.h.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "kernels/core/half.h"
#include "kernels/core/wide_float.h"
#include "tensormg/options.h"

namespace tensormg
{
/// An operator B of one level and the steps of its smoother, D an approximation of B that is easily inverted.
///   vmult(y, x): y = B x; residual(r, x, b): r = b - B x
///   chebyshev_step(y, x, old, b, theta, alpha): y = x + theta (x - old) + alpha D^-1 (b - B x); old = nullptr is zero
///   inverse_diagonal(x, b, alpha): x = alpha D^-1 b
///   convert_and_divide(alpha, scale, r, b, x): b = scale r, rounded, x = alpha D^-1 b; r in double
///   has_pointwise_diagonal(): whether convert_and_divide() may take the place of the first step
template <typename Op, typename Space>
concept LevelOperator = requires(Op &op, typename Op::VectorType &y,
    const typename Op::VectorType &x, const typename Space::VectorType &r, double number)
{
  op.vmult(y, x);
  op.residual(y, x, x);
  op.chebyshev_step(y, x, &x, x, number, number);
  op.inverse_diagonal(y, x, number);
  op.convert_and_divide(number, Space::scale(number), r, y, y);
  {
    op.has_pointwise_diagonal()
    } -> std::convertible_to<bool>;
  {
    op.make_vector()
    } -> std::same_as<typename Op::VectorType>;
};

/// Between level l and the next coarser one: restriction R, the L2 projection, and prolongation P, the embedding.
template <typename Transfer>
concept LevelTransfer = requires(Transfer &transfer, typename Transfer::VectorType &fine,
    typename Transfer::VectorType &coarse, double factor, bool add)
{
  transfer.restrict_to(coarse, fine, factor);
  transfer.prolongate(fine, coarse, factor, add);
  transfer.prolongate_pair(fine, fine, coarse, &coarse, factor, add, add);
};

/// What is made in one number type.
template <typename F, typename Number>
concept LevelFamilyIn = requires(const F &family, std::size_t l, bool exact_steps)
{
  requires LevelOperator < typename F::template Operator<Number>,
  typename F::Space > ;
  requires LevelTransfer<typename F::template Transfer<Number>>;
  // Unique pointers. exact_steps: D is as good as the family can make it.
  *family.template make_operator<Number>(l, exact_steps);
  *family.template make_transfer<Number>(l);
  *family.template make_coarse_solver<Number>(l);
  // The corrections of solvers/schwarz.h.
  family.template make_patch_correction<Number>(l);
  // In which lambda_max of a cycle in Number is estimated.
  typename F::template EstimateNumber<Number>;
  // Bytes that these take besides the vectors of a cycle, before they are made.
  {
    family.template bytes_of_steps<Number>(l)
    } -> std::same_as<std::int64_t>;
  {
    family.template bytes_between_levels<Number>(l)
    } -> std::same_as<std::int64_t>;
  {
    family.template bytes_of_patches<Number>(l)
    } -> std::same_as<std::int64_t>;
  {
    family.template bytes_of_coarse_solver<Number>(l)
    } -> std::same_as<std::int64_t>;
};

template <typename F>
concept LevelFamily = LevelFamilyIn<F, double> && LevelFamilyIn<F, float> &&
    LevelFamilyIn<F, Half> &&
    requires(const F &family, std::size_t l, const MultigridOptions &options)
{
  typename F::Context; // operators/vectors/context.h
  family.context();
  {
    family.size()
    } -> std::same_as<std::size_t>;
  {
    family.in_single(l)
    } -> std::same_as<F>; // of the coarsest l levels
  {
    family.make_space(l)
    } -> std::same_as<typename F::Space>;
  {family.block(l)};           // of a vector
  family.make_start_vector(l); // in double, without a structure
  // (H_c / H_f)^2 of level l and the next coarser one (solvers/multigrid.h), and in how many directions cells are halved.
  {
    family.coarsening(l)
    } -> std::same_as<double>;
  {
    family.halved(l)
    } -> std::same_as<int>;
  // The level whose largest eigenvalue serves level l.
  {
    family.representative_level(l)
    } -> std::same_as<std::size_t>;
  {
    family.options_of_level(options, l)
    } -> std::same_as<MultigridOptions>;
  // The smallest non-zero eigenvalue of B on the finest level, about.
  {
    family.smallest_eigenvalue()
    } -> std::same_as<double>;
  // Whether the finest level lies on several ranks.
  {
    family.is_distributed()
    } -> std::same_as<bool>;
  // The level on which cycles in host memory end.
  {
    family.coarsest_level()
    } -> std::same_as<std::size_t>;
  // Whether all work of a cycle in device memory is queued in its stream.
  {
    family.can_be_recorded()
    } -> std::same_as<bool>;
  // Whether a direct solution of level l takes less time on a device than cycles on the levels below.
  {
    family.has_short_lines(l, std::int64_t{})
    } -> std::same_as<bool>;
};
} // namespace tensormg
