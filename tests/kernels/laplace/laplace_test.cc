// Every backend of the Laplace operator against the reference: odd sizes, each kind of side, poisoned
// outputs, every degree, form and number type.
#include "kernels/laplace/laplace.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "kernels/laplace/reference/reference.h"
#include "tests/support/random_vector.h"
#include "tests/support/sanitized.h"
#include "tests/support/wide_rows.h"

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
    bool wide_rows = false;
  };

  constexpr Side D = Side::dirichlet, N = Side::neumann, W = Side::wrap, G = Side::ghost;

  const Case cases[] = {
      {3, {1, 1, 1}, {D, D, D, D, D, D}},
      {3, {3, 2, 1}, {D, N, N, D, D, N}},
      {3, {7, 3, 5}, {W, W, G, G, G, G}},
      {3, {8, 1, 2}, {N, N, N, N, N, N}},
      {3, {17, 11, 3}, {D, D, G, D, N, G}},
      {3, {25, 2, 2}, {N, D, D, G, G, D}},
      {2, {1, 1, 1}, {D, N, D, D, D, D}},
      {2, {9, 5, 1}, {W, W, G, G, D, D}},
      {2, {33, 4, 1}, {D, D, D, N, D, D}},
      {2, {9, 5, 1}, {W, W, G, G, D, D}, true},
      {2, {65, 3, 1}, {N, D, D, G, D, D}, true},
  };

  Block block_of(const Case &c, int degree)
  {
    const Block block(c.dim, degree, c.cells);
    return c.wide_rows ? test::with_wide_rows(block) : block;
  }

  template <typename Number>
  class LaplaceTest : public testing::Test
  {};
  using Numbers = testing::Types<double, float, Half>;
  TYPED_TEST_SUITE(LaplaceTest, Numbers);

  template <typename Number>
  double tolerance()
  {
    return std::is_same_v<Number, double> ? 2e-14 : std::is_same_v<Number, float> ? 4e-6 : 2e-3;
  }

  /// Both backends on the same data; returns the difference.
  template <typename Number>
  void compare(const Case &c, int degree, Form form, bool with_old)
  {
    SCOPED_TRACE(testing::Message()
        << "dim " << c.dim << " degree " << degree << " cells " << c.cells[0] << "x" << c.cells[1]
        << "x" << c.cells[2] << " form " << int(form));
    const CellBasis basis = make_cell_basis(degree);
    const Block block = block_of(c, degree);
    const auto src = test::random_vector<Number>(block, 1);
    const auto b = test::random_vector<Number>(block, 2);
    const auto old = test::random_vector<Number>(block, 3);
    std::array<std::vector<Compute<Number>>, 6> ghosts;
    laplace::Arguments<Number> a;
    a.block = block;
    a.basis = &basis;
    a.factor = {1., 0.4, 0.7};
    a.sides = c.sides;
    for (int s = 2; s < 2 * c.dim; ++s)
      if (c.sides[s] == G)
      {
        // Traces of some other data: a neighbour with the same block shape.
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

    Vector<Number> expected(block), found(block);
    test::poison(expected);
    test::poison(found);
    a.dst = expected.data();
    laplace::select<Number>(Backend::reference, form, c.dim, degree)(a);
    a.dst = found.data();
    laplace::select<Number>(Backend::cpu, form, c.dim, degree)(a);
    EXPECT_LT(test::relative_difference(found, expected), tolerance<Number>());
    EXPECT_TRUE(test::padding_is_zero(found));
    EXPECT_TRUE(test::padding_is_zero(expected));
  }

  TYPED_TEST(LaplaceTest, CpuEqualsReference)
  {
    for (const Case &c : cases)
      for (int degree = 1; degree <= (c.dim == 3 && c.cells[0] > 8 ? 3 : max_degree); ++degree)
      {
        compare<TypeParam>(c, degree, Form::apply, false);
        compare<TypeParam>(c, degree, Form::residual, false);
        compare<TypeParam>(c, degree, Form::chebyshev, true);
        compare<TypeParam>(c, degree, Form::chebyshev, false);
      }
  }

  // Large enough for streaming stores, whose alignment the processor checks, in rows of several chunks that end within a line.
  TYPED_TEST(LaplaceTest, CpuEqualsReferenceOutOfCache)
  {
    constexpr int degree = test::is_sanitized ? 2 : 4, n = degree + 1;
    const std::int64_t layer_bytes = 64 * 8 * n * n * n * std::int64_t(sizeof(TypeParam));
    const Case c{3, {61, 8, (9 << 20) / layer_bytes + 1}, {D, N, D, D, N, D}};
    if (!test::is_sanitized)
      compare<TypeParam>(c, degree, Form::apply, false);
    compare<TypeParam>(c, degree, Form::chebyshev, true);
  }

  TYPED_TEST(LaplaceTest, ChebyshevMayOverwriteOld)
  {
    const int degree = 3;
    const CellBasis basis = make_cell_basis(degree);
    const Block block(3, degree, {5, 4, 3});
    const auto src = test::random_vector<TypeParam>(block, 1);
    const auto b = test::random_vector<TypeParam>(block, 2);
    auto old = test::random_vector<TypeParam>(block, 3);
    laplace::Arguments<TypeParam> a;
    a.block = block;
    a.basis = &basis;
    a.sides = {D, D, D, D, D, D};
    a.src = src.data();
    a.b = b.data();
    a.old = old.data();
    a.theta = 0.25;
    a.alpha = 1.1;
    Vector<TypeParam> separate(block);
    a.dst = separate.data();
    const auto apply = laplace::select<TypeParam>(Backend::cpu, Form::chebyshev, 3, degree);
    apply(a);
    a.dst = old.data();
    apply(a);
    for (std::int64_t at = 0; at < old.size(); ++at)
      ASSERT_EQ(test::to_double(old[at]), test::to_double(separate[at]));
  }

  // Rows of a range have the bits of the whole block; ghosts that the range does not touch hold NaN, and
  // entries outside stay as they were.
  TYPED_TEST(LaplaceTest, RangeOfRows)
  {
    const Case blocks[] = {{3, {7, 6, 5}, {W, W, G, G, G, G}}, {3, {19, 3, 2}, {D, N, G, D, N, G}},
        {3, {4, 1, 4}, {N, N, G, G, G, G}}, {3, {9, 5, 1}, {D, D, N, G, G, G}},
        {2, {9, 6, 1}, {W, W, G, G, D, D}}, {2, {17, 1, 1}, {D, D, G, G, D, D}}};
    for (const Case &c : blocks)
      for (const int degree : {1, 2, 3, 4, 7})
        for (const Form form : {Form::apply, Form::residual, Form::chebyshev})
          for (const Backend backend : {Backend::cpu, Backend::reference})
          {
            if (backend == Backend::reference && degree > 2)
              continue;
            SCOPED_TRACE(testing::Message()
                << "dim " << c.dim << " degree " << degree << " cells " << c.cells[0] << "x"
                << c.cells[1] << "x" << c.cells[2] << " form " << int(form) << ' '
                << laplace::to_string(backend));
            const CellBasis basis = make_cell_basis(degree);
            const Block block = block_of(c, degree);
            const auto src = test::random_vector<TypeParam>(block, 1);
            const auto b = test::random_vector<TypeParam>(block, 2);
            const auto old = test::random_vector<TypeParam>(block, 3);
            std::array<std::vector<Compute<TypeParam>>, 6> ghosts, unusable;
            laplace::Arguments<TypeParam> a;
            a.block = block;
            a.basis = &basis;
            a.factor = {1., 0.4, 0.7};
            a.sides = c.sides;
            for (int s = 2; s < 2 * c.dim; ++s)
              if (c.sides[s] == G)
              {
                const auto neighbour = test::random_vector<TypeParam>(block, 10 + s);
                ghosts[s].resize(laplace::ghost_size(block, s));
                laplace::select_pack<TypeParam>(degree)(
                    block, basis, s, neighbour.data(), ghosts[s].data());
                unusable[s].assign(ghosts[s].size(), NAN);
                a.ghost[s] = ghosts[s].data();
              }
            const auto whole_ghosts = a.ghost;
            a.src = src.data();
            a.b = b.data();
            a.old = old.data();
            a.theta = 0.3;
            a.alpha = 0.8;
            Vector<TypeParam> whole(block);
            a.dst = whole.data();
            const auto apply = laplace::select<TypeParam>(backend, form, c.dim, degree);
            apply(a);

            const std::int64_t ny = c.cells[1], nz = c.cells[2];
            for (std::int64_t y0 = 0; y0 < ny; ++y0)
              for (std::int64_t z0 = 0; z0 < nz; ++z0)
                for (const std::int64_t y1 : {y0 + 1, ny})
                  for (const std::int64_t z1 : {z0 + 1, nz})
                  {
                    a.range = {y0, y1, z0, z1};
                    const bool touches[6] = {true, true, y0 == 0, y1 == ny, z0 == 0, z1 == nz};
                    for (int s = 2; s < 2 * c.dim; ++s)
                      if (c.sides[s] == G)
                        a.ghost[s] = touches[s] ? whole_ghosts[s] : unusable[s].data();
                    Vector<TypeParam> part(block);
                    test::poison(part);
                    a.dst = part.data();
                    int calls = 0;
                    a.between_layers = {[](void *count) { ++*static_cast<int *>(count); }, &calls};
                    apply(a);
                    if (backend == Backend::cpu)
                    {
                      EXPECT_EQ(calls, c.dim == 3 ? z1 - z0 : y1 - y0);
                    }
                    std::int64_t wrong = 0;
                    const std::int64_t in_y = block.n * block.row();
                    for (std::int64_t at = 0; at < block.size(); ++at)
                    {
                      const std::int64_t y = at % block.plane() / in_y,
                                         z = at / block.plane() / block.nz();
                      const bool inside = y0 <= y && y < y1 && z0 <= z && z < z1;
                      wrong += inside ? std::memcmp(&part[at], &whole[at], sizeof(TypeParam)) != 0
                                      : !std::isnan(test::to_double(part[at]));
                    }
                    EXPECT_EQ(wrong, 0) << "rows " << y0 << ".." << y1 << ", " << z0 << ".." << z1;
                  }
          }
  }

  // Value and half derivative of each line at the packed end.
  TYPED_TEST(LaplaceTest, PackedTraces)
  {
    for (const Case &c : cases)
      for (const int degree : {1, 2, 3, 5, 8})
        for (int s = 2; s < 2 * c.dim; ++s)
        {
          SCOPED_TRACE(testing::Message()
              << "dim " << c.dim << " degree " << degree << " cells " << c.cells[0] << "x"
              << c.cells[1] << "x" << c.cells[2] << " side " << s);
          const CellBasis basis = make_cell_basis(degree);
          const Block block = block_of(c, degree);
          const auto u = test::random_vector<TypeParam>(block, 4);
          const std::int64_t size = laplace::ghost_size(block, s), half = size / 2;
          std::vector<Compute<TypeParam>> packed(size, NAN);
          laplace::select_pack<TypeParam>(degree)(block, basis, s, u.data(), packed.data());
          const bool along_y = s < 4, upper = s % 2 == 1;
          const std::int64_t lines = along_y ? block.planes() : block.rows_per_plane();
          const double largest = *std::max_element(basis.h.begin(), basis.h.end());
          const double allowed =
              (std::is_same_v<TypeParam, double> ? 1e-14 : 1e-6) * block.n * largest;
          std::int64_t wrong = 0;
          for (std::int64_t line = 0; line < lines; ++line)
            for (int i = 0; i < block.n; ++i)
              for (std::int64_t cx = 0; cx < block.cells[0]; ++cx)
              {
                double v = 0., d = 0.;
                for (int m = 0; m < block.n; ++m)
                {
                  const int other = int(line % (along_y ? block.nz() : block.n));
                  const std::int64_t cell = line / (along_y ? block.nz() : block.n);
                  const std::int64_t last = upper ? block.cells[along_y ? 1 : 2] - 1 : 0;
                  const double value =
                      test::to_double(along_y ? u[block.index(cx, last, cell, i, m, other)]
                                              : u[block.index(cx, cell, last, i, other, m)]);
                  const double parity = upper || m % 2 == 0 ? 1. : -1.;
                  v += parity * basis.v[m] * value;
                  d += (upper ? 1. : -parity) * basis.h[m] * value;
                }
                const std::int64_t at = line * block.row() + i * block.pitch + cx;
                wrong += !(std::abs(packed[at] - v) + std::abs(packed[half + at] - d) < allowed);
              }
          EXPECT_EQ(wrong, 0);
        }
  }

  TEST(LaplaceRange, DevicesTakeWholeBlocks)
  {
    const Block block(3, 2, {4, 3, 2});
    EXPECT_NO_THROW(laplace::require_every_row({}, block));
    EXPECT_NO_THROW(laplace::require_every_row({0, 3, 0, 2}, block));
    EXPECT_THROW(laplace::require_every_row({1, 3, 0, 2}, block), std::invalid_argument);
    EXPECT_THROW(laplace::require_every_row({0, 3, 0, 1}, block), std::invalid_argument);
  }

  TEST(LaplaceReference, IsSymmetricAndPositive)
  {
    for (const Case &c : cases)
      if (c.cells[0] <= 9 && c.sides[2] != G && c.sides[4] != G)
      {
        const int degree = 3;
        const CellBasis basis = make_cell_basis(degree);
        const Block block = block_of(c, degree);
        const auto u = test::random_vector<double>(block, 1),
                   w = test::random_vector<double>(block, 2);
        Vector<double> bu(block), bw(block);
        laplace::Arguments<double> a;
        a.block = block;
        a.basis = &basis;
        a.factor = {0.5, 1., 0.25};
        a.sides = c.sides;
        for (const auto &[src, dst] : {std::pair{&u, &bu}, std::pair{&w, &bw}})
        {
          a.src = src->data();
          a.dst = dst->data();
          laplace::apply_reference(a, Form::apply);
        }
        double uw = 0., wu = 0., uu = 0.;
        for (std::int64_t at = 0; at < u.size(); ++at)
        {
          uw += bu[at] * w[at];
          wu += u[at] * bw[at];
          uu += bu[at] * u[at];
        }
        EXPECT_NEAR(uw, wu, 1e-12 * uu);
        EXPECT_GT(uu, 0.);
      }
  }

  TEST(LaplaceReference, NeumannLeavesConstants)
  {
    for (const int degree : {1, 2, 5, 8})
    {
      const CellBasis basis = make_cell_basis(degree);
      const Block block(3, degree, {3, 2, 2});
      std::vector<double> one(degree + 1);
      // The constant 1: coefficients of the constant Legendre polynomial in each direction.
      for (int i = 0; i <= degree; ++i)
        one[i] = basis.legendre[i];
      Vector<double> u(block), y(block);
      for (std::int64_t cz = 0; cz < 2; ++cz)
        for (std::int64_t cy = 0; cy < 2; ++cy)
          for (std::int64_t cx = 0; cx < 3; ++cx)
            for (int k = 0; k <= degree; ++k)
              for (int j = 0; j <= degree; ++j)
                for (int i = 0; i <= degree; ++i)
                  u[block.index(cx, cy, cz, i, j, k)] = one[i] * one[j] * one[k];
      laplace::Arguments<double> a;
      a.block = block;
      a.basis = &basis;
      a.sides = {N, N, N, N, N, N};
      a.src = u.data();
      a.dst = y.data();
      laplace::apply_reference(a, Form::apply);
      for (std::int64_t at = 0; at < y.size(); ++at)
        EXPECT_NEAR(y[at], 0., 1e-10);
    }
  }

  TEST(LaplaceSelect, NamesWhatExists)
  {
    try
    {
      laplace::select<double>(Backend::cpu, Form::apply, 3, 9);
      FAIL() << "degree 9 was accepted";
    }
    catch (const std::invalid_argument &error)
    {
      EXPECT_NE(std::string(error.what()).find("degrees 1..8"), std::string::npos);
    }
    EXPECT_THROW(laplace::backend_from_string("mma"), std::invalid_argument);
  }
} // namespace
} // namespace tensormg
