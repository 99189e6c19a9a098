// D^-1 with exact directions: D times it is the identity, with D put together from dense line operators; and the operator's steps.
#include "operators/constant/line_inverse.h"

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "operators/constant/laplace_operator.h"
#include "operators/constant/line_operator.h"
#include "tests/support/exact_lines.h"
#include "tests/support/random_vector.h"

namespace tensormg
{
namespace
{
  using Case = test::ExactLines;
  const Case cases[] = {{2, {1, 5, 1}, {true, false, false}, "DNPP"},
      {2, {9, 1, 1}, {false, true, false}, "DDNN"}, {2, {3, 4, 1}, {true, false, false}, "PPDD"},
      {3, {2, 3, 1}, {false, false, true}, "DDDNPP"}, {3, {1, 9, 1}, {true, false, true}, "NNDDNN"},
      {3, {1, 1, 5}, {true, true, false}, "DNDDPP"}, {3, {9, 3, 2}, {false, true, false}, "DDDNDD"},
      {3, {10, 2, 3}, {false, false, true}, "DDPPND"}};

  /// D x by plain loops, in double.
  Vector<double> apply_d(
      const LevelGrid &level, const Case &c, const CellBasis &basis, const Vector<double> &x)
  {
    const Block &block = level.block;
    const int n = block.n;
    const auto factors = level.direction_factors();
    const auto kinds = test::boundary_from(c.boundary);
    Vector<double> y(block);
    const std::array<std::int64_t, 3> stride{block.pitch, block.row(), block.plane()};
    for (int d = 0; d < c.dim; ++d)
    {
      const std::int64_t cell_stride = d == 0 ? 1 : n * stride[d];
      const int size = static_cast<int>(block.cells[d]) * n;
      const auto matrix = line_operator(basis, block.cells[d], kinds[2 * d], kinds[2 * d + 1]);
      test::for_each_dof(block, [&](std::int64_t at) {
        const std::int64_t mode = at / stride[d] % n;
        const std::int64_t cell = d == 0 ? at % block.pitch : at / cell_stride % block.cells[d];
        const std::int64_t first = at - cell * cell_stride - mode * stride[d];
        if (!c.exact[d])
          y[at] += factors[d] * basis.lambda[mode] * x[at];
        else
          for (int u = 0; u < size; ++u)
            y[at] += factors[d] * matrix[(cell * n + mode) * size + u] *
                x[first + u / n * cell_stride + u % n * stride[d]];
      });
    }
    return y;
  }

  template <typename Number>
  class LineInverseTest : public testing::Test
  {};
  using Numbers = testing::Types<double, float, Half>;
  TYPED_TEST_SUITE(LineInverseTest, Numbers);

  TYPED_TEST(LineInverseTest, IsTheInverse)
  {
    using Number = TypeParam;
    const double tolerance = std::is_same_v<Number, double> ? 1e-12
        : std::is_same_v<Number, float>                     ? 2e-5
                                                            : 2e-3;
    for (const Case &c : cases)
      for (const int degree : {1, 2, 5, 8})
      {
        SCOPED_TRACE(testing::Message() << c.dim << "D " << c.boundary << ", degree " << degree);
        const CellBasis basis = make_cell_basis(degree);
        const LevelGrid level = c.level(degree);
        const auto x = test::random_vector<double>(level.block, 1);
        const Vector<double> exact_b = apply_d(level, c, basis, x);
        Vector<Number> b(level.block), found(level.block);
        test::for_each_dof(level.block, [&](std::int64_t at) {
          b[at] = test::from_double<Number>(exact_b[at] / 64.); // of the size of binary16
        });
        test::poison(found);
        LineSpectra spectra;
        LineInverse<Number, HostContext> lines(level, basis, spectra, HostContext());
        lines.step(found.data(), nullptr, nullptr, b.data(), 0., 64.);
        // The numbers of b are rounded, and D^-1 of that is as large as x where D is small.
        EXPECT_LT(test::relative_difference(found, x), 50. * tolerance);
        EXPECT_TRUE(test::padding_is_zero(found));
        // Steps are these and vectors; the result may replace the old one.
        const auto start = test::random_vector<Number>(level.block, 2);
        auto old = test::random_vector<Number>(level.block, 3);
        Vector<double> expected(level.block);
        test::for_each_dof(level.block, [&](std::int64_t at) {
          const double s = test::to_double(start[at]);
          expected[at] =
              s + 0.4 * (s - test::to_double(old[at])) + 0.5 * test::to_double(found[at]);
        });
        lines.step(old.data(), start.data(), old.data(), b.data(), 0.4, 32.);
        EXPECT_LT(test::relative_difference(old, expected), tolerance);
        EXPECT_TRUE(test::padding_is_zero(old));
      }
  }

  TEST(LineInverse, NeedsAnExactDirection)
  {
    const CellBasis basis = make_cell_basis(2);
    const LevelGrid level = Case{2, {2, 2, 1}, {false, false, false}, "DD"}.level(2);
    LineSpectra spectra;
    EXPECT_THROW(
        (LineInverse<double, HostContext>(level, basis, spectra, HostContext())), std::logic_error);
    EXPECT_TRUE(
        LaplaceOperator<double>(level, basis, laplace::Backend::cpu, {}, {.exact = &spectra})
            .has_pointwise_diagonal());
  }

  TEST(LineSpectra, AreSharedWhereLinesAreAlike)
  {
    const CellBasis basis = make_cell_basis(2);
    LineSpectra spectra;
    const auto kind = BoundaryKind::dirichlet, other = BoundaryKind::neumann;
    const LineSpectrum *first = &spectra.of(basis, 3, kind, other);
    EXPECT_EQ(first, &spectra.of(basis, 3, kind, other));
    EXPECT_NE(first, &spectra.of(basis, 3, other, kind));
    EXPECT_NE(first, &spectra.of(basis, 5, kind, other));
    EXPECT_EQ(first, &spectra.of(basis, 3, kind, other)) << "it stays where it is";
    EXPECT_EQ(spectra.of(basis, 3, other, other).values.front(), 0.);
    EXPECT_GT(first->values.front(), 0.);
  }

  TEST(LineInverse, StepsOfTheOperatorTakeIt)
  {
    const CellBasis basis = make_cell_basis(3);
    const LevelGrid level = Case{3, {4, 2, 1}, {false, false, true}, "DDDDNN"}.level(3);
    for (const auto backend : {laplace::Backend::reference, laplace::Backend::cpu})
    {
      LineSpectra spectra;
      LaplaceOperator<double> op(level, basis, backend, {}, {.exact = &spectra});
      EXPECT_FALSE(op.has_pointwise_diagonal());
      const auto x = test::random_vector<double>(level.block, 1),
                 b = test::random_vector<double>(level.block, 2);
      Vector<double> r(level.block), y(level.block), divided(level.block);
      op.residual(r, x, b);
      op.inverse_diagonal(divided, r, 0.7);
      op.chebyshev_step(y, x, nullptr, b, 0.5, 0.7);
      Vector<double> expected(level.block);
      for (std::int64_t at = 0; at < expected.size(); ++at)
        expected[at] = 1.5 * x[at] + divided[at];
      EXPECT_LT(test::relative_difference(y, expected), 1e-13);
    }
  }
} // namespace
} // namespace tensormg
