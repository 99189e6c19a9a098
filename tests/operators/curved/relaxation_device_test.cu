// Inverses of cells and of lines on a device against those of the host: every degree, both dimensions, each number type, rings, lines that turn, odd numbers
// of cells, padding that is no number, outputs and scratch poisoned between guard zones, the same bits twice. Then S of a level.
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/laplace/pointwise/relaxation_cuda.h"
#include "operators/curved/device_relaxation.h"
#include "tests/operators/pointwise/setting.h"
#include "tests/support/guarded.h"

namespace tensormg
{
namespace
{
  using test::generated;
  using test::Guarded;
  using test::Setting;

  Side mixed(int boundary) { return boundary % 2 == 0 ? Side::neumann : Side::dirichlet; }
  Setting with_sides(Setting s)
  {
    s.kind = mixed;
    return s;
  }
  /// Every second block turned.
  Setting cubes(int dim, int degree, std::int64_t per_direction)
  {
    MeshCells cells = box_cells(dim, {3, 2, dim == 3 ? 2 : 1}, {0., 0., 0.}, {1., 0.8, 0.7});
    for (std::size_t c = 0; c < cells.cells.size(); c += 2)
    {
      const auto corners = cells.cells[c];
      for (unsigned v = 0; v < 1U << dim; ++v) // (x, y, z) -> (y, 1 - x, z), or (y, z, x)
        cells.cells[c][v] = dim == 2 || c % 4 == 0
            ? corners[(1 - (v >> 1 & 1U)) + 2 * (v & 1U) + (v & 4U)]
            : corners[(v >> 1 & 3U) + 4 * (v & 1U)];
    }
    BlockMesh blocks = make_block_mesh(cells);
    BlockGeometry geometry(blocks);
    return {blocks, geometry, {per_direction, degree}, degree, test::tensor, mixed};
  }
  std::vector<Setting> settings(int degree)
  {
    const std::int64_t few = degree < 4 ? 3 : 1;
    return {cubes(2, degree, 5), cubes(3, degree, few),
        with_sides(generated(2, "hyper_shell", "0,0 : 0.5 : 1 : 5 : true", degree, 7)),
        with_sides(generated(2, "hyper_ball", "0,0 : 1 : false", degree, 3)),
        with_sides(generated(3, "hyper_shell", "0,0,0 : 0.5 : 1 : 6 : true", degree, few)),
        with_sides(generated(3, "hyper_ball", "0,0,0 : 1 : false", degree, degree < 4 ? 2 : 1))};
  }

  /// Random numbers of cells, padding NaN. draw(number of a direction, random number of [0, 1]).
  template <typename C, typename Draw>
  std::vector<C> numbers_of(const Block &block, int numbers, const Draw &draw)
  {
    std::vector<C> result(
        static_cast<std::size_t>(laplace::relaxation_size(block, numbers)), C(NAN));
    std::mt19937 generator(5);
    std::uniform_real_distribution<double> uniform(0., 1.);
    for (std::int64_t row = 0; row < block.cells[1] * block.cells[2]; ++row)
      for (int d = 0; d < block.dim; ++d)
        for (int number = 0; number < numbers; ++number)
          for (std::int64_t cx = 0; cx < block.cells[0]; ++cx)
            result[static_cast<std::size_t>(laplace::relaxation_index(block, numbers, row, d,
                number, cx))] = static_cast<C>(draw(number, uniform(generator)));
    return result;
  }
  template <typename T>
  DeviceArray<T> uploaded(const std::vector<T> &from)
  {
    DeviceArray<T> result(std::ssize(from), Unset());
    result.copy_from_host(from.data());
    return result;
  }

  template <typename Number>
  class Inverses
  {
    using C = Compute<Number>;

  public:
    static constexpr double tolerance = sizeof(Number) == 8 ? 1e-11
        : sizeof(Number) == 4                               ? 3e-6
                                                            : 3e-3;

    explicit Inverses(const Setting &s)
      : basis_(make_cell_basis(s.degree))
      , block_(s.level.cells(s.geometry, s.degree))
      , lines_(laplace::find_lines(block_, s.level.per_direction, test::links_of(s).data()))
      , on_device_(block_, lines_, nullptr)
      , of_cells_(numbers_of<C>(block_, laplace::cell_inverse_numbers(block_.n),
            [n = block_.n](int number, double random) {
              return number < n * n ? 2. * random - 1. : 0.5 + random;
            }))
      , of_lines_(numbers_of<C>(block_, laplace::line_inverse_numbers(block_.n),
            [penalty = basis_.penalty](int number, double random) {
              const double c = std::pow(10., random - 0.5); // tau is large enough for any two c
              return number == 0 ? c : number < 3 ? 4. * penalty * c + 4. * penalty : 5. * random;
            }))
      , r_(with_padding(test::random_vector<Number>(block_, 1)))
      , device_r_(r_)
    {}

    void expect_lines()
    {
      Vector<Number> expected(block_), found(block_), again(block_);
      laplace::add_separable_lines(
          block_, basis_, lines_, of_lines_.data(), 0.7, r_.data(), expected.data());
      const auto numbers = uploaded(of_lines_);
      for (Vector<Number> *sum : {&found, &again})
      {
        Guarded<Number> results = solved(numbers.data(), 0.7), z(block_.size());
        laplace::sum_lines_cuda<Number>(block_, results.data(), z.data(), nullptr);
        EXPECT_TRUE(z.read(sum->data(), nullptr));
      }
      expect_equal(found, expected);
      EXPECT_TRUE(test::same_bits(found, again));
    }

    void expect_cells(bool adds_lines)
    {
      Vector<Number> expected(block_), found(block_), again(block_);
      laplace::apply_separable_inverse(block_, of_cells_.data(), 0.6, r_.data(), expected.data());
      if (adds_lines)
        laplace::add_separable_lines(
            block_, basis_, lines_, of_lines_.data(), 0.6, r_.data(), expected.data());
      const auto numbers = uploaded(of_cells_), of_lines = uploaded(of_lines_);
      for (Vector<Number> *result : {&found, &again})
      {
        Guarded<Number> lines = solved(of_lines.data(), 0.6), z(block_.size());
        laplace::apply_separable_inverse_cuda<Number>(block_, numbers.data(), 0.6,
            adds_lines ? lines.data() : nullptr, device_r_.data(), z.data(), nullptr);
        EXPECT_TRUE(z.read(result->data(), nullptr));
      }
      expect_equal(found, expected);
      EXPECT_TRUE(test::same_bits(found, again));
    }

  private:
    static Vector<Number> with_padding(Vector<Number> v)
    {
      test::for_each_padding(v.block(), [&](std::int64_t at) { v[at] = Number(C(NAN)); });
      return v;
    }
    Guarded<Number> solved(const C *numbers, double weight)
    {
      Guarded<Number> results(block_.dim * block_.size());
      Guarded<double> work(on_device_.work_size());
      laplace::SeparableLines<Number> a;
      a.block = block_;
      a.basis = &basis_;
      a.lines = on_device_.view();
      a.numbers = numbers;
      a.weight = weight;
      a.r = device_r_.data();
      a.results = results.data();
      a.work = work.data();
      laplace::solve_separable_lines_cuda(a, nullptr);
      std::vector<double> scratch(static_cast<std::size_t>(work.size()));
      EXPECT_TRUE(work.read(scratch.data(), nullptr)) << "scratch";
      std::vector<Number> host(static_cast<std::size_t>(results.size()));
      EXPECT_TRUE(results.read(host.data(), nullptr)) << "results";
      return results;
    }
    static void expect_equal(const Vector<Number> &found, const Vector<Number> &expected)
    {
      EXPECT_LT(test::relative_difference(found, expected), tolerance);
      EXPECT_TRUE(test::padding_is_zero(found));
    }

    CellBasis basis_;
    Block block_;
    laplace::CellLines lines_;
    laplace::DeviceCellLines on_device_;
    std::vector<C> of_cells_, of_lines_;
    Vector<Number> r_;
    Guarded<Number> device_r_;
  };

  template <typename Number>
  class CurvedRelaxationDevice : public testing::Test
  {
  protected:
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
    }
  };
  using Types = testing::Types<double, float, Half>;
  TYPED_TEST_SUITE(CurvedRelaxationDevice, Types);

  TYPED_TEST(CurvedRelaxationDevice, EqualsThatOfTheHost)
  {
    for (int degree = 1; degree <= max_degree; ++degree)
      for (const Setting &s : settings(degree))
      {
        SCOPED_TRACE(testing::Message()
            << s.blocks.dim << "D, degree " << degree << ", " << s.level.per_direction
            << " cells in a block of " << s.blocks.n_blocks());
        Inverses<TypeParam> inverses(s);
        inverses.expect_lines();
        inverses.expect_cells(false);
        inverses.expect_cells(true);
      }
  }

  // With the numbers of a level: no more, no less than SeparableRelaxation.
  TYPED_TEST(CurvedRelaxationDevice, AppliesWhatTheLevelSays)
  {
    for (const int dim : {2, 3})
      for (const Relaxation kind :
          {Relaxation::cells, Relaxation::lines, Relaxation::cells_and_lines})
      {
        SCOPED_TRACE(testing::Message() << dim << "D, kind " << int(kind));
        const Setting s = cubes(dim, 2, 1);
        const BlockLevels levels(s.blocks, s.geometry, test::tensor,
            {.degree = 2, .mapping_degree = 2, .refinements = 1, .side = mixed});
        const auto relaxation =
            std::make_shared<const LevelRelaxation>(levels, 1, choose_relaxations(levels, kind)[1]);
        const Block &block = levels.levels()[1].grid.block;
        const auto r = test::random_vector<TypeParam>(block, 1);
        Vector<TypeParam> expected(block), found(block);
        SeparableRelaxation<TypeParam>(levels, 1, relaxation).apply(expected, r, 0.7);
        DeviceVector<TypeParam> on_device(block, nullptr), z(block, nullptr, Unset());
        copy_to_device(r, on_device, nullptr);
        const DeviceSeparableRelaxation<TypeParam> device(levels, 1, relaxation, nullptr);
        device.apply(z, on_device, 0.7);
        copy_to_host(z, found, nullptr);
        EXPECT_LT(test::relative_difference(found, expected), Inverses<TypeParam>::tolerance);
        EXPECT_TRUE(test::padding_is_zero(found));
        EXPECT_GT(DeviceSeparableRelaxation<TypeParam>::bytes(block, relaxation->choice), 0);
      }
  }
} // namespace
} // namespace tensormg
