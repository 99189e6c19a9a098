// The operator with numbers of each cell: `cpu` against the reference on odd sizes, each kind of side, also Robin, poisoned outputs, every
// degree, form and number type; and with equal numbers against the operator with one coefficient.
#include "kernels/laplace/cellwise/cellwise.h"

#include <gtest/gtest.h>

#include "kernels/laplace/reference/reference.h"
#include "tests/kernels/laplace/cellwise/inputs.h"

namespace tensormg
{
namespace
{
  using laplace::Backend;
  using laplace::Form;

  using test::CellwiseCase;

  constexpr Side D = Side::dirichlet, N = Side::neumann, W = Side::wrap, G = Side::ghost;

  const CellwiseCase cases[] = {
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
    /// The kernels of both backends on the same data, or that with one coefficient in place of the second.
    static void compare(
        const CellwiseCase &c, int degree, Form form, bool with_old, bool is_constant)
    {
      SCOPED_TRACE(testing::Message()
          << "dim " << c.dim << " degree " << degree << " cells " << c.cells[0] << "x" << c.cells[1]
          << "x" << c.cells[2] << " form " << int(form) << (is_constant ? " constant" : ""));
      const test::CellwiseInputs<Number> inputs(c, degree, with_old, is_constant);
      laplace::CellwiseArguments<Number> a = inputs.arguments;
      Vector<Number> expected(a.block), found(a.block);
      test::poison(expected);
      test::poison(found);
      a.dst = expected.data();
      if (is_constant)
        laplace::select<Number>(Backend::reference, form, c.dim, degree)(a);
      else
        laplace::select_cellwise<Number>(Backend::reference, form, c.dim, degree)(a);
      a.dst = found.data();
      laplace::select_cellwise<Number>(Backend::cpu, form, c.dim, degree)(a);
      EXPECT_LT(test::relative_difference(found, expected), inputs.tolerance());
      EXPECT_TRUE(test::padding_is_zero(found));
      EXPECT_TRUE(test::padding_is_zero(expected));
    }
  };
  using NumberTypes = testing::Types<double, float, Half>;
  TYPED_TEST_SUITE(CellwiseTest, NumberTypes);

  TYPED_TEST(CellwiseTest, CpuEqualsReference)
  {
    for (const bool is_constant : {false, true})
      for (const CellwiseCase &c : cases)
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
    for (const CellwiseCase &c : cases)
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
      EXPECT_NE(std::string(error.what()).find("reference, cpu"), std::string::npos);
    }
  }
} // namespace
} // namespace tensormg
