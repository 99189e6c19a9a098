// The operator with numbers of each cell: `cpu` against the reference on odd sizes, each kind of side, also Robin, poisoned outputs, every
// degree, form and number type; and with equal numbers against the operator with one coefficient.
#include "kernels/laplace/cellwise/cellwise.h"

#include <array>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "kernels/laplace/reference/reference.h"
#include "tests/kernels/laplace/cellwise/cell_numbers.h"
#include "tests/support/random_vector.h"

namespace tensormg
{
namespace
{
  using laplace::Backend;
  using laplace::Form;

  struct Case
  {
    int dim;
    std::array<std::int64_t, 3> cells;
    std::array<Side, 6> sides;
  };

  constexpr Side D = Side::dirichlet, N = Side::neumann, W = Side::wrap, G = Side::ghost;

  const Case cases[] = {
      {3, {1, 1, 1}, {D, D, D, D, D, D}},
      {3, {3, 2, 1}, {D, N, N, D, D, N}},
      {3, {7, 3, 5}, {W, W, G, G, G, G}},
      {3, {17, 11, 3}, {D, D, G, D, N, G}},
      {3, {25, 2, 2}, {N, D, D, G, G, D}},
      {3, {5, 3, 2}, {N, N, N, N, N, N}},
      {3, {18, 1, 1}, {D, N, N, G, G, N}},
      {2, {1, 1, 1}, {D, N, D, D, D, D}},
      {2, {9, 5, 1}, {W, W, G, G, D, D}},
      {2, {65, 3, 1}, {N, D, D, G, D, D}},
      {2, {33, 4, 1}, {N, N, N, N, D, D}},
  };

  template <typename Number>
  class CellwiseTest : public testing::Test
  {
  protected:
    using C = Compute<Number>;

    static double tolerance()
    {
      return sizeof(C) == 8 ? (sizeof(Number) == 8 ? 4e-14 : 2e-7)
                            : (sizeof(Number) == 4 ? 8e-6 : 2e-3);
    }

    /// kappa of a third of the faces is zero.
    static double robin(int s, std::int64_t x, std::int64_t y, std::int64_t z)
    {
      return (s + x + y + z) % 3 == 0 ? 0. : 3. + 2. * std::sin(1. * s + 2. * x + 3. * y + 5. * z);
    }

    /// The kernels of both backends on the same data, or that with one coefficient in place of the second.
    static void compare(const Case &c, int degree, Form form, bool with_old, bool is_constant)
    {
      SCOPED_TRACE(testing::Message()
          << "dim " << c.dim << " degree " << degree << " cells " << c.cells[0] << "x" << c.cells[1]
          << "x" << c.cells[2] << " form " << int(form) << (is_constant ? " constant" : ""));
      const CellBasis basis = make_cell_basis(degree);
      const Block block(c.dim, degree, c.cells);
      const auto src = test::random_vector<Number>(block, 1);
      const auto b = test::random_vector<Number>(block, 2);
      const auto old = test::random_vector<Number>(block, 3);
      std::array<std::vector<C>, 6> ghosts;
      laplace::CellwiseArguments<Number> a;
      a.block = block;
      a.basis = &basis;
      a.factor = {1., 0.5, 0.75};
      a.sides = c.sides;
      for (int s = 2; s < 2 * c.dim; ++s)
        if (c.sides[s] == G)
        {
          const auto neighbour = test::random_vector<Number>(block, 10 + s);
          ghosts[s].resize(laplace::ghost_size(block, s));
          laplace::select_pack<Number>(degree)(block, basis, s, neighbour.data(), ghosts[s].data());
          a.ghost[s] = ghosts[s].data();
        }
      a.src = src.data();
      a.b = b.data();
      a.old = with_old ? old.data() : nullptr;
      a.theta = 0.3;
      a.alpha = 0.8;
      const test::CellNumbersFor<C> numbers(
          block, basis.penalty, c.sides,
          [&](int d, std::int64_t x, std::int64_t y, std::int64_t z) {
            if (is_constant)
              return d == 3 ? 0. : a.factor[d];
            return 1.1 + std::sin(1. * d + 2. * x + 3. * y + 5. * z);
          },
          is_constant ? typename test::CellNumbersFor<C>::Kappa{} : robin);
      a.cells = numbers.view;

      Vector<Number> expected(block), found(block);
      test::poison(expected);
      test::poison(found);
      a.dst = expected.data();
      if (is_constant)
        laplace::select<Number>(Backend::reference, form, c.dim, degree)(a);
      else
        laplace::select_cellwise<Number>(Backend::reference, form, c.dim, degree)(a);
      a.dst = found.data();
      laplace::select_cellwise<Number>(Backend::cpu, form, c.dim, degree)(a);
      EXPECT_LT(test::relative_difference(found, expected), tolerance());
      EXPECT_TRUE(test::padding_is_zero(found));
      EXPECT_TRUE(test::padding_is_zero(expected));
    }
  };
  using NumberTypes = testing::Types<double, float, Half>;
  TYPED_TEST_SUITE(CellwiseTest, NumberTypes);

  TYPED_TEST(CellwiseTest, CpuEqualsReference)
  {
    for (const bool is_constant : {false, true})
      for (const Case &c : cases)
        for (int degree = 1; degree <= (c.dim == 3 && c.cells[0] > 8 ? 3 : max_degree); ++degree)
        {
          this->compare(c, degree, Form::apply, false, is_constant);
          this->compare(c, degree, Form::residual, false, is_constant);
          this->compare(c, degree, Form::chebyshev, true, is_constant);
          this->compare(c, degree, Form::chebyshev, false, is_constant);
        }
  }

  TEST(WideCellwiseTest, CpuEqualsReference)
  {
    struct Wide : CellwiseTest<WideFloat>
    {
      using CellwiseTest<WideFloat>::compare;
      void TestBody() override {}
    };
    for (const Case &c : cases)
      for (int degree = 1; degree <= 4; ++degree)
        Wide::compare(c, degree, Form::apply, false, false);
  }

  TEST(SelectCellwise, NamesWhatExists)
  {
    try
    {
      laplace::select_cellwise<double>(Backend::mma, Form::apply, 3, 3);
      FAIL();
    }
    catch (const std::invalid_argument &error)
    {
      EXPECT_NE(std::string(error.what()).find("reference and cpu"), std::string::npos);
    }
  }
} // namespace
} // namespace tensormg
