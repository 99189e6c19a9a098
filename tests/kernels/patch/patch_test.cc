// The patch corrections: cpu against reference for every kind of end, degree and number type;
// patches and colours cover what they should; a correction solves its patch exactly within the
// whole operator.
#include "kernels/patch/patch.h"

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "kernels/laplace/pack_traces.h"
#include "kernels/laplace/reference/reference.h"
#include "operators/constant/patch_correction.h"
#include "tests/support/random_vector.h"
#include "tests/support/sanitized.h"

namespace tensormg
{
namespace
{
  constexpr Side D = Side::dirichlet, N = Side::neumann, W = Side::wrap;

  /// A block that has all cells, or (beyond > 0) has a layer of the grid above it in y or z. Such a
  /// layer's cells are the last ones of the grid or not.
  struct Case
  {
    int dim;
    std::array<std::int64_t, 3> cells;
    std::array<Side, 6> sides; ///< of the grid; wrap is periodic in every direction
    std::array<std::int64_t, 3> offset{0, 0, 0};
    std::array<std::int64_t, 3> beyond{0, 0, 0};
  };

  const Case cases[] = {
      {3, {1, 1, 1}, {D, D, D, D, D, D}},
      {3, {2, 2, 2}, {N, N, N, N, N, N}},
      {3, {2, 2, 2}, {D, N, D, D, N, D}},
      {3, {3, 1, 2}, {D, N, N, D, D, N}},
      {3, {5, 2, 3}, {W, W, W, W, W, W}},
      {3, {4, 3, 1}, {W, W, D, N, W, W}},
      {3, {1, 4, 2}, {W, W, N, N, N, D}},
      {3, {37, 2, 2}, {N, D, D, D, N, N}},
      {3, {3, 2, 1}, {D, D, D, N, N, D}, {0, 2, 1}, {0, 1, 1}},
      {3, {2, 2, 3}, {D, D, W, W, W, W}, {0, 1, 0}, {0, 2, 2}},
      {2, {1, 1, 1}, {W, W, W, W, D, D}},
      {2, {2, 3, 1}, {W, W, N, D, D, D}},
      {2, {9, 4, 1}, {N, N, W, W, D, D}},
      {2, {34, 3, 1}, {W, W, D, D, D, D}},
      {2, {70, 2, 1}, {D, D, N, N, D, D}},
      {2, {5, 1, 1}, {D, D, D, D, D, D}, {0, 3, 0}, {0, 1, 0}},
  };

  std::array<patch::Line, 3> make_lines(const Case &c, const CellBasis &basis)
  {
    std::array<patch::Line, 3> lines;
    for (int d = 0; d < c.dim; ++d)
      lines[d] = make_diagonalised_line(basis,
          {c.offset[d] + c.cells[d] + c.beyond[d], c.offset[d], c.cells[d], c.sides[2 * d],
              c.sides[2 * d + 1]});
    return lines;
  }

  /// Calls f(colour by direction).
  template <typename Function>
  void for_each_colour(const std::array<patch::Line, 3> &lines, int dim, Function &&f)
  {
    for (int z = 0; z < (dim == 3 ? lines[2].n_colours() : 1); ++z)
      for (int y = 0; y < lines[1].n_colours(); ++y)
        for (int x = 0; x < lines[0].n_colours(); ++x)
          f(std::array<int, 3>{x, y, z});
  }

  /// A vector and the layers of cells above it in y, z and both.
  template <typename T>
  struct Field
  {
    Vector<T> own;
    std::array<Vector<T>, 3> upper;

    Field(const Block &block, unsigned seed)
      : own(test::random_vector<T>(block, seed))
    {
      const auto [nx, ny, nz] = block.cells;
      const Block y(block.dim, block.degree(), {nx, 1, nz});
      const Block z(block.dim, block.degree(), {nx, ny, 1});
      const Block yz(block.dim, block.degree(), {nx, 1, 1});
      upper[patch::upper_y] = test::random_vector<T>(y, seed + 1);
      upper[patch::upper_z] = test::random_vector<T>(z, seed + 2);
      upper[patch::upper_yz] = test::random_vector<T>(yz, seed + 3);
    }
  };

  template <typename Number>
  class PatchTest : public testing::Test
  {};
  using Numbers = testing::Types<double, float, Half>;
  TYPED_TEST_SUITE(PatchTest, Numbers);

  TYPED_TEST(PatchTest, CpuEqualsReference)
  {
    constexpr bool is_double = std::is_same_v<TypeParam, double>;
    const double arithmetic = is_double ? 1e-12 : 2e-5; // times the condition of A
    const double tolerance = std::is_same_v<TypeParam, Half> ? 2e-3 : arithmetic;
    for (const Case &c : cases)
    {
      const int highest = c.dim == 2 ? max_degree : c.cells[0] > 8 || test::is_sanitized ? 2 : 4;
      for (int degree = 1; degree <= highest; ++degree)
      {
        SCOPED_TRACE(testing::Message() << "dim " << c.dim << " degree " << degree << " cells "
                                        << c.cells[0] << "x" << c.cells[1] << "x" << c.cells[2]);
        const CellBasis basis = make_cell_basis(degree);
        const Block block(c.dim, degree, c.cells);
        const auto lines = make_lines(c, basis);
        const Field<TypeParam> r(block, 1);
        patch::Arguments<TypeParam> a;
        a.block = block;
        a.basis = &basis;
        a.factor = {1., 0.4, 0.7};
        a.damping = 0.8;
        a.lines = {&lines[0], &lines[1], &lines[2]};
        a.r = r.own.data();
        for (int i = 0; i < 3; ++i)
          a.r_upper[i] = r.upper[i].data();
        for_each_colour(lines, c.dim, [&](const std::array<int, 3> &colour) {
          a.colour = colour;
          Field<TypeParam> expected(block, 5), found(block, 5);
          Field<Compute<TypeParam>> expected_upper(block, 9), found_upper(block, 9);
          for (auto [own, upper] : {std::pair{&expected, &expected_upper}, {&found, &found_upper}})
          {
            a.x = own->own.data();
            for (int i = 0; i < 3; ++i)
              a.x_upper[i] = upper->upper[i].data();
            own == &expected ? patch::correct_reference(a) : patch::correct_cpu(a);
          }
          EXPECT_LT(test::relative_difference(found.own, expected.own), tolerance);
          EXPECT_TRUE(test::padding_is_zero(found.own));
          for (int i = 0; i < 3; ++i)
          {
            EXPECT_LT(test::relative_difference(found_upper.upper[i], expected_upper.upper[i]),
                arithmetic);
            EXPECT_TRUE(test::padding_is_zero(found_upper.upper[i]));
          }
        });
      }
    }
  }

  TEST(PatchLines, ColoursCoverEveryPatchOnceAndNeverOverlap)
  {
    for (const bool periodic : {false, true})
      for (std::int64_t cells = 1; cells <= 9; ++cells)
        for (std::int64_t parts = 1; parts <= cells; ++parts)
        {
          const Side side = periodic ? W : D;
          const CellBasis basis = make_cell_basis(1);
          const std::int64_t per_patch = std::min<std::int64_t>(cells, 2);
          std::vector<int> visits(cells, 0);
          std::vector<std::vector<int>> used;
          for (std::int64_t part = 0; part < parts; ++part)
          {
            const std::int64_t offset = cells * part / parts;
            const std::int64_t local = cells * (part + 1) / parts - offset;
            const patch::Line line = patch::make_line(basis, {cells, offset, local, side, side});
            EXPECT_EQ(line.cells_per_patch, per_patch);
            used.resize(line.n_colours(), std::vector<int>(cells, 0));
            ASSERT_EQ(static_cast<int>(used.size()), line.n_colours());
            for (int colour = 0; colour < line.n_colours(); ++colour)
              for (const patch::LinePatch &p : line.colours[colour])
              {
                const patch::LinePatch &first = line.colours[colour].front();
                EXPECT_EQ(p.lower, first.lower + 2 * (&p - &first));
                EXPECT_LT(p.lower, local);
                EXPECT_LE(p.upper, local);
                const std::int64_t lower = offset + p.lower, upper = (offset + p.upper) % cells;
                EXPECT_EQ(upper, (lower + per_patch - 1) % cells);
                ++visits[lower];
                ++used[colour][lower];
                if (per_patch == 2)
                  ++used[colour][upper];
              }
          }
          for (std::int64_t lower = 0; lower < cells; ++lower)
          {
            const bool exists = cells <= 2 ? lower == 0 : periodic || lower + 1 < cells;
            EXPECT_EQ(visits[lower], exists ? 1 : 0);
            for (const auto &colour : used)
              EXPECT_LE(colour[lower], 1);
          }
        }
  }

  /// B u with ghost traces for periodic directions.
  Vector<double> apply(const Case &c, const CellBasis &basis, const std::array<double, 3> &factor,
      const Vector<double> &u)
  {
    Vector<double> result(u.block());
    laplace::Arguments<double> a;
    a.block = u.block();
    a.basis = &basis;
    a.factor = factor;
    a.sides = c.sides;
    a.src = u.data();
    a.dst = result.data();
    std::array<std::vector<double>, 6> ghosts;
    for (int s = 2; s < 2 * c.dim; ++s)
      if (c.sides[s] == W)
      {
        a.sides[s] = Side::ghost;
        ghosts[s].resize(laplace::ghost_size(u.block(), s));
        laplace::pack_traces(u.block(), basis, s ^ 1, u.data(), ghosts[s].data());
        a.ghost[s] = ghosts[s].data();
      }
    laplace::apply_reference(a, laplace::Form::apply);
    return result;
  }

  /// With r in one patch only, B x must be r in that patch (up to the constant where A is
  /// singular).
  TEST(Patch, SolvesEveryPatchExactly)
  {
    for (const Case &c : cases)
      for (const int degree : {1, 3})
      {
        if (c.beyond[1] > 0 || c.cells[0] > 9)
          continue;
        SCOPED_TRACE(testing::Message() << "dim " << c.dim << " degree " << degree << " cells "
                                        << c.cells[0] << "x" << c.cells[1] << "x" << c.cells[2]);
        const CellBasis basis = make_cell_basis(degree);
        const Block block(c.dim, degree, c.cells);
        const auto lines = make_lines(c, basis);
        const auto random = test::random_vector<double>(block, 1);
        patch::Arguments<double> a;
        a.block = block;
        a.factor = {1., 0.4, 0.7};
        a.lines = {&lines[0], &lines[1], &lines[2]};
        const std::vector<patch::LinePatch> flat{{0, 0, 0}};
        for_each_colour(lines, c.dim, [&](const std::array<int, 3> &colour) {
          a.colour = colour;
          for (const auto &pz : c.dim == 3 ? lines[2].colours[colour[2]] : flat)
            for (const auto &py : lines[1].colours[colour[1]])
              for (const auto &px : lines[0].colours[colour[0]])
              {
                bool singular =
                    lines[0].kinds[px.kind].is_singular() && lines[1].kinds[py.kind].is_singular();
                if (c.dim == 3)
                  singular = singular && lines[2].kinds[pz.kind].is_singular();
                const auto in = [](const patch::LinePatch &p, std::int64_t cell) {
                  return cell == p.lower || cell == p.upper;
                };
                // One for the unknowns of the patch, zero elsewhere; and the constant function.
                Vector<double> mask(block), one(block), r(block), x(block);
                double mean = 0., norm = 0.;
                for (std::int64_t cz = 0; cz < c.cells[2]; ++cz)
                  for (std::int64_t cy = 0; cy < c.cells[1]; ++cy)
                    for (std::int64_t cx = 0; cx < c.cells[0]; ++cx)
                      for (int k = 0; k < block.nz(); ++k)
                        for (int j = 0; j < block.n; ++j)
                          for (int i = 0; i < block.n; ++i)
                          {
                            const auto at = block.index(cx, cy, cz, i, j, k);
                            mask[at] = in(px, cx) && in(py, cy) && in(pz, cz) ? 1. : 0.;
                            one[at] = basis.legendre[i] * basis.legendre[j] *
                                (c.dim == 3 ? basis.legendre[k] : 1.) * mask[at];
                            mean += one[at] * random[at];
                            norm += one[at] * one[at];
                          }
                for (std::int64_t at = 0; at < r.size(); ++at)
                  r[at] = mask[at] * (random[at] - (singular ? mean / norm * one[at] : 0.));
                a.r = r.data();
                a.x = x.data();
                patch::correct_cpu(a);
                const Vector<double> bx = apply(c, basis, a.factor, x);
                double error = 0., outside = 0., constant = 0.;
                for (std::int64_t at = 0; at < r.size(); ++at)
                {
                  error = std::max(error, mask[at] * std::abs(bx[at] - r[at]));
                  outside = std::max(outside, (1. - mask[at]) * std::abs(x[at]));
                  constant += one[at] * x[at];
                }
                EXPECT_LT(error, 1e-11);
                EXPECT_EQ(outside, 0.);
                if (singular)
                {
                  EXPECT_NEAR(constant, 0., 1e-11);
                }
              }
        });
      }
  }

  TEST(Patch, OtherDegreesAreRefused)
  {
    patch::Line line;
    line.n = 10;
    line.colours = {{{0, 0, 0}}};
    patch::Arguments<double> a;
    a.block = Block(2, 9, {1, 1, 1});
    a.lines = {&line, &line, &line};
    EXPECT_THROW(patch::correct_cpu(a), std::invalid_argument);
  }
} // namespace
} // namespace tensormg
