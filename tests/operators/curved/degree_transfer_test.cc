// The transfer between degrees embeds polynomials exactly, and its restriction is the transposed embedding.
#include "operators/curved/degree_transfer.h"

#include <cmath>
#include <stdexcept>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "tests/operators/multigrid/family_checks.h"
#include "tests/support/random_vector.h"

namespace tensormg
{
namespace
{
  template <typename Number>
  class Degrees : public testing::Test
  {};
  using Numbers = testing::Types<double, float, Half>;
  TYPED_TEST_SUITE(Degrees, Numbers);

  /// use(place in a vector, cell, modes) for every degree of freedom.
  template <typename Use>
  void for_modes(const Block &block, const Use &use)
  {
    for (std::int64_t cz = 0; cz < block.cells[2]; ++cz)
      for (std::int64_t cy = 0; cy < block.cells[1]; ++cy)
        for (std::int64_t cx = 0; cx < block.cells[0]; ++cx)
          for (int k = 0; k < block.nz(); ++k)
            for (int j = 0; j < block.n; ++j)
              for (int i = 0; i < block.n; ++i)
                use(block.index(cx, cy, cz, i, j, k), cx + block.cells[0] * (cy + 7 * cz),
                    std::array{i, j, k});
  }

  template <typename Number>
  Vector<Number> random(const Block &block)
  {
    Vector<Number> x(block);
    int seed = 1;
    for_modes(block, [&](std::int64_t place, std::int64_t, const auto &) {
      x[place] = Number(static_cast<Compute<Number>>(std::sin(1.7 * seed++)));
    });
    return x;
  }

  template <typename Number>
  double dot(const Vector<Number> &x, const Vector<Number> &y)
  {
    double sum = 0.;
    for (std::int64_t at = 0; at < x.size(); ++at)
      sum +=
          double(static_cast<Compute<Number>>(x[at])) * double(static_cast<Compute<Number>>(y[at]));
    return sum;
  }

  /// The polynomial of every cell at a point, by cell.
  template <typename Number>
  std::vector<double> values(
      const Vector<Number> &x, const CellBasis &basis, const std::array<double, 3> &point)
  {
    const Block &block = x.block();
    const std::vector<double> at = mode_value_matrix(basis, point);
    std::vector<double> result(static_cast<std::size_t>(block.cells[0] * 7 * 7), 0.);
    for_modes(block, [&](std::int64_t place, std::int64_t cell, const auto &mode) {
      double value = static_cast<Compute<Number>>(x[place]);
      for (int d = 0; d < block.dim; ++d)
        value *= at[d * basis.n + mode[d]];
      result[static_cast<std::size_t>(cell)] += value;
    });
    return result;
  }

  TYPED_TEST(Degrees, EmbedsExactlyAndRestrictsByTheTransposed)
  {
    const double tolerance = test::rounding<TypeParam>;
    for (const auto &[dim, p, q] :
        {std::tuple{2, 5, 2}, {2, 8, 4}, {2, 2, 1}, {3, 3, 1}, {3, 2, 1}, {3, 7, 3}})
    {
      SCOPED_TRACE(testing::Message() << dim << "D, " << p << " to " << q);
      const std::array<std::int64_t, 3> cells{11, 2, dim == 3 ? 3 : 1};
      const Block fine(dim, p, cells), coarse(dim, q, cells);
      const CellBasis of_fine = make_cell_basis(p), of_coarse = make_cell_basis(q);
      DegreeTransfer<TypeParam> transfer(fine, coarse, of_fine, of_coarse);
      const auto f = random<TypeParam>(fine), c = random<TypeParam>(coarse);
      Vector<TypeParam> pc(fine), rf(coarse), rpc(coarse);
      transfer.prolongate(pc, c, 1., false);
      transfer.restrict_to(rf, f, 0.5);
      transfer.restrict_to(rpc, pc, 1.);
      EXPECT_TRUE(test::padding_is_zero(pc));
      EXPECT_TRUE(test::padding_is_zero(rf));
      EXPECT_NEAR(2. * dot(rf, c), dot(f, pc), tolerance * std::sqrt(dot(f, f) * dot(pc, pc)));
      for (const auto &point :
          {std::array{0., 0.3, 1.}, std::array{0.9, 0.1, 0.55}, std::array{1., 1., 0.}})
      {
        const auto before = values(c, of_coarse, point), after = values(pc, of_fine, point);
        for (std::size_t cell = 0; cell < before.size(); ++cell)
          EXPECT_NEAR(before[cell], after[cell], 30. * tolerance);
      }
      for (std::int64_t at = 0; at < c.size(); ++at)
        EXPECT_NEAR(static_cast<Compute<TypeParam>>(rpc[at]),
            static_cast<Compute<TypeParam>>(c[at]), tolerance);
    }
  }

  // x + d has more digits than x: of numbers in half precision nearly those of float.
  TYPED_TEST(Degrees, PairsKeepWhatRoundingTakes)
  {
    const Block fine(3, 3, {5, 1, 1}), coarse(3, 1, {5, 1, 1});
    const CellBasis of_fine = make_cell_basis(3), of_coarse = make_cell_basis(1);
    DegreeTransfer<TypeParam> transfer(fine, coarse, of_fine, of_coarse);
    DegreeTransfer<double> exact(fine, coarse, of_fine, of_coarse);
    const auto c = random<TypeParam>(coarse);
    auto x = random<TypeParam>(fine), d = random<TypeParam>(fine);
    Vector<double> wide(coarse), expected(fine);
    for (std::int64_t at = 0; at < c.size(); ++at)
      wide[at] = 2. * double(static_cast<Compute<TypeParam>>(c[at]));
    for (std::int64_t at = 0; at < x.size(); ++at)
      expected[at] = 2. * double(static_cast<Compute<TypeParam>>(x[at]));
    exact.prolongate(expected, wide, 0.25, true);
    transfer.prolongate_pair(x, d, c, &c, 0.25, true, true);
    for (std::int64_t at = 0; at < x.size(); ++at)
      EXPECT_NEAR(double(static_cast<Compute<TypeParam>>(x[at])) +
              double(static_cast<Compute<TypeParam>>(d[at])),
          expected[at], sizeof(TypeParam) == 8 ? 1e-14 : 3e-6);
  }

  TEST(DegreeTransfer, RefusesWhatDoesNotFit)
  {
    const CellBasis two = make_cell_basis(2), one = make_cell_basis(1);
    const Block a(2, 2, {3, 1, 1}), b(2, 1, {4, 1, 1}), c(2, 1, {3, 1, 1});
    EXPECT_THROW(DegreeTransfer<double>(a, b, two, one), std::invalid_argument);
    EXPECT_THROW(DegreeTransfer<double>(c, a, one, two), std::invalid_argument);
    EXPECT_THROW(DegreeTransfer<double>(a, c, one, two), std::invalid_argument);
  }
} // namespace
} // namespace tensormg
