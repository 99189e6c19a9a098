// Inverses on lines and cells against the operators that they invert.
#include "kernels/laplace/cellwise/relaxation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "tests/kernels/laplace/cellwise/cell_numbers.h"
#include "tests/support/random_vector.h"

namespace tensormg
{
namespace
{
  using laplace::Backend;
  using laplace::Form;
  constexpr Side D = Side::dirichlet, N = Side::neumann, G = Side::ghost;

  struct Case
  {
    int dim;
    std::array<std::int64_t, 3> cells;
    std::array<Side, 6> sides;
  };
  const Case cases[] = {
      {2, {1, 1, 1}, {D, N, N, D, D, D}},
      {2, {5, 3, 1}, {D, D, N, D, D, D}},
      {2, {17, 9, 1}, {N, D, D, D, D, D}},
      {3, {3, 2, 4}, {D, N, N, D, D, D}},
      {3, {9, 10, 2}, {D, D, D, D, N, D}},
      {3, {2, 3, 3}, {N, N, N, N, N, N}},
      {2, {1, 2, 1}, {N, N, D, N, D, D}},
  };

  double contrast(int d, std::int64_t x, std::int64_t y, std::int64_t z)
  {
    return std::pow(10., 2. * std::sin(1. * d + 2. * double(x) + 3. * double(y) + 5. * double(z)));
  }

  /// Of Robin sides; zero for a third of the faces.
  double kappa(int s, std::int64_t x, std::int64_t y, std::int64_t z)
  {
    return (s + x + y + z) % 3 == 0 ? 0. : contrast(s, x, y, z);
  }

  /// x_ijk times the part of D of the directions but d, and the reaction.
  template <typename Number>
  void add_diagonal(const Block &block, const CellBasis &basis,
      const laplace::CellNumbers<Compute<Number>> &cells, int d, const Vector<Number> &x,
      Vector<Number> &y)
  {
    for (std::int64_t cz = 0; cz < block.cells[2]; ++cz)
      for (std::int64_t cy = 0; cy < block.cells[1]; ++cy)
        for (std::int64_t cx = 0; cx < block.cells[0]; ++cx)
          for (int k = 0; k < block.nz(); ++k)
            for (int j = 0; j < block.n; ++j)
              for (int i = 0; i < block.n; ++i)
              {
                const std::int64_t place = cx + cy * cells.row + cz * cells.plane;
                const std::array<int, 3> mode{i, j, k};
                double sum = cells.reaction[place];
                for (int a = 0; a < block.dim; ++a)
                  if (a != d)
                    sum += cells.c[a][place] * basis.lambda[mode[a]] +
                        cells.jump[a][place] * basis.v[mode[a]] * basis.v[mode[a]];
                const std::int64_t at = block.index(cx, cy, cz, i, j, k);
                y[at] = Number(static_cast<Compute<Number>>(y[at]) +
                    static_cast<Compute<Number>>(sum) * static_cast<Compute<Number>>(x[at]));
              }
  }

  template <typename Number>
  void expect_lines(const Case &c, int degree, int d, bool is_robin)
  {
    SCOPED_TRACE(testing::Message()
        << "dim " << c.dim << " degree " << degree << " cells " << c.cells[0] << "x" << c.cells[1]
        << "x" << c.cells[2] << " direction " << d << (is_robin ? " Robin" : ""));
    using C = Compute<Number>;
    const CellBasis basis = make_cell_basis(degree);
    const Block block(c.dim, degree, c.cells);
    const typename test::CellNumbersFor<C>::Kappa of_sides =
        is_robin ? kappa : typename test::CellNumbersFor<C>::Kappa{};
    const test::CellNumbersFor<C> all(block, basis.penalty, c.sides, contrast, of_sides);
    const test::CellNumbersFor<C> one(
        block, basis.penalty, c.sides,
        [&](int a, std::int64_t x, std::int64_t y, std::int64_t z) {
          return a == d ? contrast(a, x, y, z) : 0.;
        },
        of_sides);
    const auto r = test::random_vector<Number>(block, 1);
    Vector<Number> z(block), found(block);
    laplace::add_line_inverse(block, basis, all.view, c.sides, d, 0.5, r.data(), z.data());
    laplace::add_line_inverse(block, basis, all.view, c.sides, d, 0.5, r.data(), z.data());
    laplace::CellwiseArguments<Number> a;
    a.block = block;
    a.basis = &basis;
    a.sides = c.sides;
    a.cells = one.view;
    a.src = z.data();
    a.dst = found.data();
    laplace::select_cellwise<Number>(Backend::reference, Form::apply, c.dim, degree)(a);
    add_diagonal(block, basis, all.view, d, z, found);
    EXPECT_LT(test::relative_difference(found, r), sizeof(Number) == 8 ? 5e-9 : 2e-2);
    EXPECT_TRUE(test::padding_is_zero(z));
  }

  TEST(Relaxation, LinesAreTheInverseOfOneDirection)
  {
    for (const Case &c : cases)
      for (int degree = 1; degree <= (c.dim == 3 ? 4 : max_degree); ++degree)
        for (int d = 0; d < c.dim; ++d)
        {
          for (const bool is_robin : {false, true})
          {
            expect_lines<double>(c, degree, d, is_robin);
            if (degree <= 3)
              expect_lines<float>(c, degree, d, is_robin);
          }
        }
  }

  TEST(Relaxation, CellsWithEqualNeighboursHaveTheirDiagonal)
  {
    for (const Case &c : cases)
    {
      const CellBasis basis = make_cell_basis(3);
      const Block block(c.dim, 3, c.cells);
      const laplace::CellBases<double> bases(basis);
      const test::CellNumbersFor<double> cells(block, basis.penalty, c.sides,
          [](int d, std::int64_t, std::int64_t, std::int64_t) { return 1. + d; });
      const auto r = test::random_vector<double>(block, 1);
      Vector<double> z(block), expected(block);
      laplace::apply_cell_inverse(block, basis, cells.view, bases, 0.5, r.data(), z.data());
      laplace::cellwise_inverse_diagonal(block, basis, cells.view, 0.5, r.data(), expected.data());
      EXPECT_LT(test::relative_difference(z, expected), 1e-14);
      EXPECT_TRUE(test::padding_is_zero(z));
    }
  }

  TEST(Relaxation, CellsAtRobinSidesAreAsWithALargerNeighbour)
  {
    for (const int dim : {2, 3})
      for (const int degree : {1, 2, 3, 5})
      {
        const Block block(dim, degree, {9, 3, dim == 3 ? 2 : 1});
        const CellBasis basis = make_cell_basis(degree);
        const laplace::CellBases<double> bases(basis);
        const test::CellNumbersFor<double> robin(
            block, basis.penalty, {N, N, N, N, N, N}, contrast, kappa);
        // Behind the sides what has the same effect.
        const auto around = [&](int d, std::int64_t x, std::int64_t y, std::int64_t z) {
          std::array<std::int64_t, 3> cell{x, y, z};
          double factor = 1.;
          for (int a = 0; a < dim; ++a)
          {
            const std::int64_t inside = std::clamp(cell[a], std::int64_t(0), block.cells[a] - 1);
            const int s = 2 * a + (cell[a] > inside ? 1 : 0);
            const bool is_behind = cell[a] != inside;
            cell[a] = inside;
            if (is_behind && a == d)
              factor = 1. + 2. * kappa(s, cell[0], cell[1], cell[2]) / basis.penalty;
          }
          return factor * contrast(d, cell[0], cell[1], cell[2]);
        };
        const test::CellNumbersFor<double> larger(block, basis.penalty, {G, G, G, G, G, G}, around);
        const auto r = test::random_vector<double>(block, 1);
        Vector<double> z(block), expected(block);
        laplace::apply_cell_inverse(block, basis, robin.view, bases, 1., r.data(), z.data());
        laplace::apply_cell_inverse(
            block, basis, larger.view, bases, 1., r.data(), expected.data());
        EXPECT_LT(test::relative_difference(z, expected), 1e-13);
        laplace::cellwise_inverse_diagonal(block, basis, robin.view, 1., r.data(), z.data());
        laplace::cellwise_inverse_diagonal(
            block, basis, larger.view, 1., r.data(), expected.data());
        EXPECT_LT(test::relative_difference(z, expected), 1e-13);
      }
  }

  /// The parts of the operator that stay in the cells: what it makes of a vector that is zero in all but one.
  TEST(Relaxation, CellsAreNearlyInvertedWhereTheCoefficientJumps)
  {
    for (const int dim : {2, 3})
      for (const int degree : {1, 2, 3, 4})
      {
        const Block block(dim, degree, {3, 3, dim == 3 ? 3 : 1});
        const CellBasis basis = make_cell_basis(degree);
        const laplace::CellBases<double> bases(basis);
        const std::array<Side, 6> sides{D, D, D, D, D, D};
        const test::CellNumbersFor<double> cells(
            block, basis.penalty, sides, [](int d, std::int64_t x, std::int64_t y, std::int64_t z) {
              return d == 3 ? 0.5 : contrast(0, x, y, z);
            });
        const auto all = test::random_vector<double>(block, 1);
        Vector<double> x(block), y(block), z(block);
        const std::int64_t cz = dim == 3 ? 1 : 0;
        const auto for_modes = [&](auto &&use) {
          for (int k = 0; k < block.nz(); ++k)
            for (int j = 0; j < block.n; ++j)
              for (int i = 0; i < block.n; ++i)
                use(block.index(1, 1, cz, i, j, k));
        };
        for_modes([&](std::int64_t at) { x[at] = all[at]; });
        laplace::CellwiseArguments<double> a;
        a.block = block;
        a.basis = &basis;
        a.sides = sides;
        a.cells = cells.view;
        a.src = x.data();
        a.dst = y.data();
        laplace::select_cellwise<double>(Backend::reference, Form::apply, dim, degree)(a);
        laplace::apply_cell_inverse(block, basis, cells.view, bases, 1., y.data(), z.data());
        // x'Bx / x'F^-1x, by x'B F B x / x'Bx: near one.
        double of_block = 0., of_both = 0.;
        for_modes([&](std::int64_t at) {
          of_block += x[at] * y[at];
          of_both += y[at] * z[at];
        });
        EXPECT_GT(of_both / of_block, 0.6) << degree;
        EXPECT_LT(of_both / of_block, 1.6) << degree;
      }
  }
} // namespace
} // namespace tensormg
