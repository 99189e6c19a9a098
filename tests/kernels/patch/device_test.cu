// The patch corrections in device memory: every kernel against the reference on blocks with all kinds of ends,
// with patches that fill no group; what belongs to no patch stays as it is, padding included; two runs give the
// same bits. Where the unknowns of the patches lie. The extrapolation.
#include "kernels/patch/cuda.h"

#include <cstring>

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "operators/constant/patch_correction.h"
#include "tests/support/guarded.h"
#include "tests/support/random_vector.h"

namespace tensormg
{
namespace
{
  using patch_inverse::Backend;
  using test::Guarded;
  constexpr Side D = Side::dirichlet, N = Side::neumann, W = Side::wrap;

  struct Case
  {
    int dim;
    std::array<std::int64_t, 3> cells;
    std::array<Side, 6> sides; ///< wrap is periodic in every direction
    int first_degree = 1, last_degree = max_degree;
  };

  const Case cases[] = {
      {3, {2, 2, 2}, {N, N, N, N, N, N}, 1, 1},
      {3, {5, 2, 3}, {W, W, W, W, W, W}, 2, 2},
      {3, {11, 3, 2}, {N, D, D, N, D, D}, 1, 3},
      {3, {3, 1, 2}, {D, N, N, D, W, W}, 3, 4},
      {3, {3, 2, 2}, {W, W, D, N, N, D}, 5, 8},
      {2, {1, 2, 1}, {W, W, N, N, D, D}, 3, 4},
      {2, {9, 4, 1}, {N, N, W, W, D, D}, 1, 4},
      {2, {35, 3, 1}, {D, N, D, N, D, D}, 5, 8},
  };

  /// A block with its patches and their eigenvectors.
  struct Level
  {
    CellBasis basis;
    Block block;
    std::array<patch::Line, 3> lines;
    std::array<const patch::Line *, 3> pointers{&lines[0], &lines[1], &lines[2]};
    std::array<double, 3> factor{1., 0.4, 0.7};

    Level(const Case &c, int degree)
      : basis(make_cell_basis(degree))
      , block(c.dim, degree, c.cells)
    {
      for (int d = 0; d < c.dim; ++d)
        lines[d] = make_diagonalised_line(
            basis, {c.cells[d], 0, c.cells[d], c.sides[2 * d], c.sides[2 * d + 1]});
    }
    Level(const Level &) = delete;

    std::vector<std::array<int, 3>> colours() const
    {
      std::vector<std::array<int, 3>> all;
      for (int z = 0; z < (block.dim == 3 ? lines[2].n_colours() : 1); ++z)
        for (int y = 0; y < lines[1].n_colours(); ++y)
          for (int x = 0; x < lines[0].n_colours(); ++x)
            all.push_back({x, y, z});
      return all;
    }
  };

  template <typename Number>
  class PatchDevice : public testing::Test
  {
  protected:
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
    }

    /// Relative to the largest correction.
    static double tolerance(Backend backend)
    {
      if (std::is_same_v<Number, double>)
        return 1e-12;
      if (std::is_same_v<Number, float>)
        return 2e-5;
      return backend == Backend::mma ? 6e-3 : 2e-3;
    }

    static Vector<Number> reference(
        const Level &s, const std::array<int, 3> &colour, const Vector<Number> &r, Vector<Number> x)
    {
      patch::Arguments<Number> a;
      a.block = s.block;
      a.basis = &s.basis;
      a.lines = s.pointers;
      a.factor = s.factor;
      a.colour = colour;
      a.damping = 0.8;
      a.r = r.data();
      a.x = x.data();
      // The dense matrices of the reference are large: beyond, cpu, which tests/kernels/patch/patch_test.cc compares
      // with it.
      s.block.dim == 2 || s.block.n <= 3 ? patch::correct_reference(a) : patch::correct_cpu(a);
      return x;
    }

    static Vector<Number> copy(const Vector<Number> &from)
    {
      Vector<Number> to(from.block());
      std::memcpy(static_cast<void *>(to.data()), from.data(), from.size() * sizeof(Number));
      return to;
    }

    /// What is in the padding must neither be read nor change.
    static void poison_padding(Vector<Number> &v)
    {
      test::for_each_padding(v.block(), [&](std::int64_t at) {
        std::memset(static_cast<void *>(v.data() + at), 0xff, sizeof(Number));
      });
    }

    static void check(Backend backend, const Case &c, int degree)
    {
      SCOPED_TRACE(testing::Message()
          << patch_inverse::to_string(backend) << ", degree " << degree << ", cells " << c.cells[0]
          << " x " << c.cells[1] << " x " << c.cells[2] << ", " << c.dim << "D");
      const Level s(c, degree);
      const auto kernel = patch::select_device<Number>(backend, c.dim, s.block.n);
      const std::vector<std::byte> packed =
          kernel.pack(patch::make_factors(s.pointers, s.factor, c.dim), 2 * s.block.n);
      EXPECT_LE(static_cast<std::int64_t>(packed.size()), patch::device_table_bytes(s.block.n));
      Guarded<std::byte> tables(packed.data(), static_cast<std::int64_t>(packed.size()));
      Vector<Number> r = test::random_vector<Number>(s.block, 1);
      Vector<Number> x = test::random_vector<Number>(s.block, 2);
      // Corrections are small beside x in FP16.
      test::for_each_dof(s.block, [&](std::int64_t at) {
        x[at] = test::from_double<Number>(0.1 * test::to_double(x[at]));
      });
      const auto colours = s.colours();
      // Large patches are slow to emulate.
      const std::size_t step = c.dim == 3 && degree > 4 ? 2 : 1;
      for (std::size_t i = 0; i < colours.size(); i += step)
      {
        const Vector<Number> expected = reference(s, colours[i], r, copy(x));
        Vector<Number> from = copy(r), to = copy(x), again(s.block);
        poison_padding(from);
        poison_padding(to);
        Guarded<Number> device_r(from), device_x(to);
        const patch::Patches patches =
            patch::make_patches(s.block, s.pointers, colours[i], kernel.group_size);
        const auto run = [&](Vector<Number> &result) {
          device_x.write(to.data());
          kernel.correct({&patches, tables.data(), 0.8, device_r.data(), device_x.data(), nullptr});
          EXPECT_TRUE(device_x.read(result.data(), nullptr));
        };
        Vector<Number> found(s.block);
        run(found);
        run(again);
        EXPECT_TRUE(test::same_bits(found, again));
        double largest = 0., error = 0.;
        bool same = true;
        test::for_each_dof(s.block, [&](std::int64_t at) {
          const double correction = test::to_double(expected[at]) - test::to_double(x[at]);
          const double difference = test::to_double(found[at]) - test::to_double(expected[at]);
          largest = std::max(largest, std::abs(correction));
          error = std::isfinite(difference) ? std::max(error, std::abs(difference)) : INFINITY;
        });
        test::for_each_padding(s.block, [&](std::int64_t at) {
          same = same && std::memcmp(found.data() + at, to.data() + at, sizeof(Number)) == 0;
        });
        EXPECT_TRUE(same) << "padding changed";
        // x itself is rounded as well.
        EXPECT_LE(error, tolerance(backend) * std::max(largest, 0.1));
      }
    }

    static void check_all(Backend backend)
    {
      for (const Case &c : cases)
        for (int degree = c.first_degree; degree <= c.last_degree; ++degree)
          check(backend, c, degree);
    }
  };
  using Numbers = testing::Types<double, float, Half>;
  TYPED_TEST_SUITE(PatchDevice, Numbers);

  TYPED_TEST(PatchDevice, CudaEqualsReference) { this->check_all(Backend::cuda); }
  TYPED_TEST(PatchDevice, MmaEqualsReference) { this->check_all(Backend::mma); }

  TYPED_TEST(PatchDevice, ExtrapolationTakesTheOldVectorsPlace)
  {
    const Block block(2, 2, {5, 3, 1});
    const Vector<TypeParam> x = test::random_vector<TypeParam>(block, 1),
                            old = test::random_vector<TypeParam>(block, 2);
    for (const double theta : {0., 0.6})
    {
      Guarded<TypeParam> device_x(x), device_old(old);
      if (theta == 0.)
        device_old.poison(); // not read
      patch::extrapolate_cuda(block.size(), theta, device_x.data(), device_old.data(), nullptr);
      Vector<TypeParam> new_x(block), new_old(block);
      EXPECT_TRUE(device_x.read(new_x.data(), nullptr));
      EXPECT_TRUE(device_old.read(new_old.data(), nullptr));
      EXPECT_TRUE(test::same_bits(new_old, x));
      test::for_each_dof(block, [&](std::int64_t at) {
        const double expected = (1. + theta) * test::to_double(x[at]) -
            (theta == 0. ? 0. : theta * test::to_double(old[at]));
        EXPECT_NEAR(test::to_double(new_x[at]), expected,
            sizeof(TypeParam) == 8       ? 1e-15
                : sizeof(TypeParam) == 4 ? 3e-7
                                         : 1e-3);
      });
    }
  }

  // Every unknown of every patch of a colour, and no other, exactly once.
  TEST(Patches, PositionsAreThoseOfTheBlock)
  {
    for (const Case &c : cases)
      for (const int group_size : {1, 3, 16})
      {
        const Level s(c, 2);
        for (const std::array<int, 3> &colour : s.colours())
        {
          const patch::Patches patches =
              patch::make_patches(s.block, s.pointers, colour, group_size);
          std::vector<int> visits(static_cast<std::size_t>(s.block.size()), 0), expected = visits;
          const patch::LinePatch whole{0, 0, 0};
          const auto patches_of = [&](int d) {
            return d < c.dim ? s.lines[d].colours[colour[d]] : std::vector{whole};
          };
          const auto for_each_mode = [&](auto f) {
            for (int k = 0; k < s.block.nz(); ++k)
              for (int j = 0; j < s.block.n; ++j)
                for (int i = 0; i < s.block.n; ++i)
                  f(std::array<int, 3>{i, j, k});
          };
          const auto for_each_cell = [&](auto f) {
            for (int cz = 0; cz < patches.cells[2]; ++cz)
              for (int cy = 0; cy < patches.cells[1]; ++cy)
                for (int cx = 0; cx < patches.cells[0]; ++cx)
                  f(std::array<int, 3>{cx, cy, cz});
          };
          for (const auto &z : patches_of(2))
            for (const auto &y : patches_of(1))
              for (const auto &x : patches_of(0))
                for_each_cell([&](const std::array<int, 3> &cell) {
                  for_each_mode([&](const std::array<int, 3> &mode) {
                    ++expected[s.block.index(cell[0] ? x.upper : x.lower,
                        cell[1] ? y.upper : y.lower, cell[2] ? z.upper : z.lower, mode[0], mode[1],
                        mode[2])];
                  });
                });
          unsigned groups = 0;
          for (int box = 0; box < patches.placement.n_boxes; ++box)
          {
            const unsigned count = patches.placement.boxes[box].n_tensors();
            groups += (count + group_size - 1) / group_size;
            for (unsigned q = 0; q < count; ++q)
              for_each_cell([&](const std::array<int, 3> &cell) {
                for_each_mode([&](const std::array<int, 3> &mode) {
                  ++visits[patches.position(box, q, cell, mode)];
                });
              });
          }
          EXPECT_EQ(groups, patches.placement.n_groups());
          EXPECT_EQ(visits, expected);
        }
      }
  }

  TEST(Patches, RefusesWhatReachesBeyondTheBlock)
  {
    const CellBasis basis = make_cell_basis(1);
    const patch::Line whole = make_diagonalised_line(basis, {3, 0, 3, D, D});
    const patch::Line part = make_diagonalised_line(basis, {4, 0, 3, D, D});
    const Block block(2, 1, {3, 3, 1});
    EXPECT_NO_THROW(patch::make_patches(block, {&whole, &whole, nullptr}, {0, 0, 0}, 1));
    EXPECT_NO_THROW(patch::make_patches(block, {&whole, &part, nullptr}, {0, 1, 0}, 1));
    EXPECT_THROW(
        patch::make_patches(block, {&whole, &part, nullptr}, {0, 0, 0}, 1), std::invalid_argument);
  }

  TEST(Patches, UnknownKernelsAreRefused)
  {
    EXPECT_THROW(patch::select_device<double>(Backend::reference, 3, 4), std::invalid_argument);
    EXPECT_THROW(patch::select_device<double>(Backend::cuda, 3, 10), std::invalid_argument);
    EXPECT_THROW(patch::select_device<double>(Backend::cuda, 4, 3), std::invalid_argument);
  }
} // namespace
} // namespace tensormg
