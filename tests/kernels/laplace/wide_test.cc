// Vectors stored in FP32 with arithmetic in FP64, on the host: every entry of B u is the FP64 result rounded once.
#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include "kernels/laplace/laplace.h"
#include "tests/support/wide_laplace.h"

namespace tensormg
{
namespace
{
  using laplace::Backend;
  using laplace::Form;
  using test::WideCase, test::WideLaplace;

  constexpr Side D = Side::dirichlet, N = Side::neumann, W = Side::wrap, G = Side::ghost;

  const WideCase cases[] = {
      {3, {1, 1, 1}, {D, D, D, D, D, D}},
      {3, {3, 2, 1}, {D, N, N, D, D, N}},
      {3, {7, 3, 2}, {W, W, G, G, G, G}},
      {3, {17, 5, 3}, {N, D, G, D, N, G}},
      {2, {1, 1, 1}, {D, N, D, D, D, D}},
      {2, {9, 5, 1}, {W, W, G, G, D, D}},
      {2, {33, 4, 1}, {D, D, D, N, D, D}},
  };

  Vector<WideFloat> run(const WideLaplace &problem, Backend backend)
  {
    laplace::Arguments<WideFloat> a = problem.arguments;
    Vector<WideFloat> dst(problem.block);
    test::poison(dst);
    a.dst = dst.data();
    laplace::select<WideFloat>(backend, Form::apply, problem.block.dim, problem.block.degree())(a);
    return dst;
  }

  TEST(WideFloat, IsAFloat)
  {
    EXPECT_EQ(static_cast<double>(WideFloat(0.1)), static_cast<double>(0.1f));
    EXPECT_EQ(WideFloat(1. + 0x1p-24).value, 1.f); // to even
    EXPECT_EQ(WideFloat(1. + 0x1.8p-24).value, 1.f + 0x1p-23f);
    EXPECT_EQ(WideFloat(-1e300).value, -std::numeric_limits<float>::infinity());
    static_assert(std::is_same_v<Compute<WideFloat>, double>);
    static_assert(std::is_trivially_copyable_v<WideFloat> && sizeof(WideFloat) == sizeof(float));
  }

  TEST(LaplaceWide, ResultIsRoundedOnce)
  {
    for (const WideCase &c : cases)
      for (int degree = 1; degree <= (c.dim == 3 && c.cells[0] > 8 ? 3 : max_degree); ++degree)
      {
        SCOPED_TRACE(testing::Message() << "dim " << c.dim << " degree " << degree << " cells "
                                        << c.cells[0] << "x" << c.cells[1] << "x" << c.cells[2]);
        const WideLaplace problem(c, degree);
        for (const Backend backend : {Backend::reference, Backend::cpu})
        {
          const auto found = run(problem, backend);
          EXPECT_EQ(test::not_rounded_once(found, problem.exact), 0) << laplace::to_string(backend);
          EXPECT_TRUE(test::padding_is_zero(found)) << laplace::to_string(backend);
        }
      }
  }

  // The measure of the other tests is worth something: FP32 arithmetic fails it.
  TEST(LaplaceWide, ArithmeticInSingleShows)
  {
    const WideLaplace problem(cases[3], 2);
    laplace::Arguments<float> a;
    a.block = problem.block;
    a.basis = &problem.basis;
    a.factor = problem.arguments.factor;
    a.sides = problem.arguments.sides;
    std::array<std::vector<float>, 6> ghosts;
    for (int s = 2; s < 6; ++s)
    {
      ghosts[s].assign(problem.ghosts[s].begin(), problem.ghosts[s].end());
      a.ghost[s] = ghosts[s].empty() ? nullptr : ghosts[s].data();
    }
    Vector<float> src(problem.block), dst(problem.block);
    for (std::int64_t at = 0; at < src.size(); ++at)
      src[at] = problem.src[at].value;
    a.src = src.data();
    a.dst = dst.data();
    laplace::select<float>(Backend::cpu, Form::apply, 3, 2)(a);
    EXPECT_GT(test::not_rounded_once(dst, problem.exact), problem.block.dofs() / 20);
  }

  // Large enough for streaming stores, whose alignment the processor checks; the reference would be slow.
  TEST(LaplaceWide, OutOfCache)
  {
    const Block block(3, 4, {64, 8, 46});
    const CellBasis basis = make_cell_basis(4);
    const auto src = test::random_vector<WideFloat>(block, 1);
    Vector<double> u(block), exact(block);
    for (std::int64_t at = 0; at < block.size(); ++at)
      u[at] = src[at].value;
    laplace::Arguments<double> in_double;
    laplace::Arguments<WideFloat> a;
    in_double.block = a.block = block;
    in_double.basis = a.basis = &basis;
    in_double.sides = a.sides = {D, N, D, D, N, D};
    in_double.src = u.data();
    in_double.dst = exact.data();
    laplace::select<double>(Backend::cpu, Form::apply, 3, 4)(in_double);
    Vector<WideFloat> dst(block);
    ASSERT_GT(block.size() * std::int64_t(sizeof(WideFloat)), 8 << 20);
    test::poison(dst);
    a.src = src.data();
    a.dst = dst.data();
    laplace::select<WideFloat>(Backend::cpu, Form::apply, 3, 4)(a);
    EXPECT_EQ(test::not_rounded_once(dst, exact), 0);
  }

  // Parts that are computed one after the other have the bits of the whole.
  TEST(LaplaceWide, RangeOfRows)
  {
    for (const int at : {2, 5})
    {
      const WideLaplace problem(cases[at], 3);
      const auto whole = run(problem, Backend::cpu);
      laplace::Arguments<WideFloat> a = problem.arguments;
      Vector<WideFloat> dst(problem.block);
      test::poison(dst);
      a.dst = dst.data();
      const auto apply =
          laplace::select<WideFloat>(Backend::cpu, Form::apply, problem.block.dim, 3);
      for (const auto &range : {laplace::RowRange{1, 2, 0, 2}, laplace::RowRange{0, 1, 0, 2},
               laplace::RowRange{2, laplace::RowRange::unbounded, 0, 2}})
      {
        a.range = range;
        apply(a);
      }
      EXPECT_EQ(std::memcmp(dst.data(), whole.data(),
                    static_cast<std::size_t>(dst.size()) * sizeof(WideFloat)),
          0);
    }
  }

  TEST(LaplaceWide, SaysWhatThereIs)
  {
    for (const Backend backend : {Backend::reference, Backend::cpu})
      for (const Form form : {Form::residual, Form::chebyshev})
        for (const int dim : {2, 3})
          try
          {
            laplace::select<WideFloat>(backend, form, dim, 2);
            FAIL() << "there is no such form";
          }
          catch (const std::invalid_argument &error)
          {
            EXPECT_NE(std::string(error.what()).find("have B u (apply) alone"), std::string::npos)
                << error.what();
          }
  }
} // namespace
} // namespace tensormg
