// What every family of operators (operators/multigrid/family.h) promises, checked through its own vectors alone.
#pragma once

#include <cmath>
#include <cstddef>
#include <memory>

#include <gtest/gtest.h>

#include "operators/multigrid/family.h"
#include "operators/multigrid/multigrid_implementation.h"

namespace tensormg::test
{
/// Tolerance of what these numbers compute.
template <typename Number>
inline constexpr double rounding = sizeof(Number) == 8 ? 1e-12
    : sizeof(Number) == 4                              ? 1e-5
                                                       : 2e-2;

/// Vectors of level l in double, and an operator in Number.
template <typename Number, LevelFamily Family>
struct FamilyLevel
{
  using Space = typename Family::Space;
  using Outer = typename Space::VectorType;
  using Operator = typename Family::template Operator<Number>;
  using VectorType = typename Operator::VectorType;

  FamilyLevel(const Family &family, std::size_t l, bool exact_steps)
    : space(family.make_space(l))
    , op(family.template make_operator<Number>(l, exact_steps))
    , random(family.make_start_vector(l))
  {}

  VectorType rounded(const Outer &x) const
  {
    VectorType result = op->make_vector();
    space.convert(Space::scale(1.), x, result);
    return result;
  }
  Outer widened(const VectorType &x) const
  {
    Outer result = space.make_vector();
    space.convert(Space::scale(1.), x, result);
    return result;
  }
  /// |x - y| / |y|
  double difference(const VectorType &x, const VectorType &y) const
  {
    Outer d = widened(x), e = widened(y);
    space.axpby(-1., e, 1., d);
    return space.norm(d) / space.norm(e);
  }
  double product(const VectorType &x, const VectorType &y) const
  {
    return space.dot(widened(x), widened(y));
  }
  /// Another vector without a structure.
  VectorType another() const
  {
    VectorType x = rounded(random), y = op->make_vector();
    op->vmult(y, x);
    Outer result = widened(y);
    space.axpby(0.25, random, 0.125, result);
    return rounded(result);
  }

  Space space;
  std::unique_ptr<Operator> op;
  Outer random;
};

/// B is symmetric and positive, and the functions of the operator are what they say they are.
template <typename Number, LevelFamily Family>
void check_operator(const Family &family, std::size_t l, bool exact_steps, double tolerance)
{
  const FamilyLevel<Number, Family> level(family, l, exact_steps);
  using Space = typename Family::Space;
  auto &op = *level.op;
  auto x = level.rounded(level.random), y = level.another(), b = level.another();
  auto bx = op.make_vector(), by = op.make_vector(), r = op.make_vector();
  op.vmult(bx, x);
  op.vmult(by, y);
  const double scale = std::sqrt(level.product(bx, bx) * level.product(y, y));
  EXPECT_NEAR(level.product(bx, y), level.product(by, x), tolerance * scale);
  EXPECT_GT(level.product(bx, x), 0.);

  op.residual(r, x, b);
  auto expected = level.widened(b);
  level.space.axpby(-1., level.widened(bx), 1., expected);
  EXPECT_LT(level.difference(r, level.rounded(expected)), tolerance);

  constexpr double theta = 0.3, alpha = 0.7;
  auto correction = op.make_vector(), step = op.make_vector();
  op.inverse_diagonal(correction, r, alpha);
  auto wide = level.widened(x);
  level.space.axpby(-theta, level.widened(y), 1. + theta, wide);
  level.space.axpby(1., level.widened(correction), 1., wide);
  op.chebyshev_step(step, x, &y, b, theta, alpha);
  EXPECT_LT(level.difference(step, level.rounded(wide)), tolerance);

  if (!op.has_pointwise_diagonal())
    return;
  auto half = level.widened(level.rounded(level.random));
  level.space.axpby(0., half, 0.5, half);
  auto converted = op.make_vector(), first = op.make_vector();
  op.convert_and_divide(alpha, Space::scale(0.5), level.widened(x), converted, first);
  EXPECT_LT(level.difference(converted, level.rounded(half)), tolerance);
  op.inverse_diagonal(correction, converted, alpha);
  EXPECT_LT(level.difference(first, correction), tolerance);
}

/// R is the adjoint of P but for 1/2 in each halved direction, and R P = 1.
template <typename Number, LevelFamily Family>
void check_transfer(const Family &family, std::size_t l, double tolerance)
{
  const FamilyLevel<Number, Family> fine(family, l, false), coarse(family, l - 1, false);
  const auto transfer = family.template make_transfer<Number>(l);
  const auto f = fine.rounded(fine.random), c = coarse.rounded(coarse.random);
  auto pc = fine.op->make_vector(), rf = coarse.op->make_vector(), rpc = coarse.op->make_vector();
  transfer->prolongate(pc, c, 1., false);
  transfer->restrict_to(rf, f, 1.);
  transfer->restrict_to(rpc, pc, 1.);
  const double children = std::exp2(family.halved(l));
  const double scale = std::sqrt(fine.product(f, f) * fine.product(pc, pc));
  EXPECT_NEAR(children * coarse.product(rf, c), fine.product(f, pc), tolerance * scale);
  EXPECT_LT(coarse.difference(rpc, c), tolerance);
}

/// The direct solution of level 0.
template <typename Number, LevelFamily Family>
void check_coarse_solver(const Family &family, double tolerance)
{
  const FamilyLevel<Number, Family> level(family, 0, false);
  const auto solver = family.template make_coarse_solver<Number>(0);
  auto &op = *level.op;
  auto x = level.rounded(level.random), b = op.make_vector(), y = op.make_vector();
  op.vmult(b, x);
  solver->solve(y, b);
  EXPECT_LT(level.difference(y, x), tolerance);
}

/// Cycles over all levels reduce the residual; what they are said to take is at least the vectors of the finest level.
template <typename Number, LevelFamily Family>
void check_cycles(const Family &family, const MultigridOptions &options, double reduction)
{
  using Hierarchy = MultigridImplementation<Family, Number>;
  const FamilyLevel<double, Family> level(family, family.size() - 1, false);
  Hierarchy multigrid(family, options, {.longest_direct_line = 0});
  auto b = level.op->make_vector(), x = level.op->make_vector(), r = level.op->make_vector();
  level.op->vmult(b, level.random);
  auto z = level.op->make_vector();
  const double start = level.space.norm(b);
  constexpr int cycles = 4;
  for (int i = 0; i < cycles; ++i)
  {
    level.op->residual(r, x, b);
    multigrid.apply(z, r, level.space.norm(r));
    level.space.axpby(1., z, 1., x);
  }
  level.op->residual(r, x, b);
  EXPECT_LT(level.space.norm(r), start * std::pow(reduction, cycles));
  EXPECT_GE(Hierarchy::bytes(family, options, {.longest_direct_line = 0}),
      3 * family.block(family.size() - 1).size() * std::int64_t{sizeof(Number)});
}
} // namespace tensormg::test
