// Inverses on lines and cells in device memory against those of the host.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "kernels/laplace/cellwise/relaxation_cuda.h"
#include "tests/kernels/laplace/cellwise/cell_numbers.h"
#include "tests/support/few_cases.h"
#include "tests/support/guarded.h"
#include "tests/support/random_vector.h"

namespace tensormg
{
namespace
{
  constexpr Side D = Side::dirichlet, N = Side::neumann, G = Side::ghost, W = Side::wrap;

  struct Case
  {
    int dim;
    std::array<std::int64_t, 3> cells;
    std::array<Side, 6> sides;
    bool equal; ///< neighbours have equal numbers
  };
  const Case cases[] = {
      {2, {1, 1, 1}, {D, N, N, D, D, D}, false},
      {2, {37, 5, 1}, {N, D, D, N, D, D}, false},
      {2, {67, 35, 1}, {W, W, G, N, D, D}, false},
      {3, {3, 2, 4}, {D, N, N, D, D, D}, false},
      {3, {33, 3, 2}, {N, N, D, D, N, G}, false},
      {3, {9, 10, 3}, {D, D, D, D, N, D}, true},
  };

  /// Numbers of cells in device memory.
  template <typename C>
  struct OnDevice
  {
    std::array<DeviceArray<C>, 7> arrays;
    laplace::CellNumbers<C> view;

    explicit OnDevice(const test::CellNumbersFor<C> &host)
      : view(host.view)
    {
      for (std::size_t i = 0; i < arrays.size(); ++i)
      {
        arrays[i] = DeviceArray<C>(std::ssize(host.arrays[i]), Unset());
        arrays[i].copy_from_host(host.arrays[i].data());
      }
      const auto first = host.view.c[0] - host.arrays[0].data();
      for (int d = 0; d < 3; ++d)
      {
        view.c[d] = arrays[d].data() + first;
        view.jump[d] = arrays[4 + d].data() + first;
      }
      view.reaction = arrays[3].data() + first;
    }
  };

  template <typename Number>
  class Relaxation
  {
  public:
    using C = Compute<Number>;

    Relaxation(const Case &c, int degree)
      : basis_(make_cell_basis(degree))
      , block_(c.dim, degree, c.cells)
      , sides_(c.sides)
      , cells_(
            block_, basis_.penalty, c.sides,
            [equal = c.equal](int d, std::int64_t x, std::int64_t y, std::int64_t z) {
              return equal
                  ? 1. + d
                  : std::pow(10.,
                        2. * std::sin(1. * d + 2. * double(x) + 3. * double(y) + 5. * double(z)));
            },
            [](int s, std::int64_t x, std::int64_t y, std::int64_t z) {
              return (s + x + y + z) % 3 == 0 ? 0. : 1. + double((x + y + z) % 5);
            })
      , on_device_(cells_)
      , r_(test::random_vector<Number>(block_, 1))
      , x_(test::random_vector<Number>(block_, 2))
      , old_(test::random_vector<Number>(block_, 3))
      , device_r_(r_)
    {}

    void expect_lines(int d)
    {
      for (const bool adds : {false, true})
      {
        Vector<Number> expected(block_), found(block_);
        if (adds)
          std::copy_n(x_.data(), x_.size(), expected.data());
        laplace::add_line_inverse(
            block_, basis_, cells_.view, sides_, d, 0.5, r_.data(), expected.data());
        const Vector<Number> unset_values = unset();
        test::Guarded<Number> z(adds ? x_ : unset_values);
        DeviceArray<C> work(laplace::line_work_size(block_, d), Unset());
        laplace::LineRelaxation<Number> a;
        a.block = block_;
        a.basis = &basis_;
        a.cells = on_device_.view;
        a.sides = sides_;
        a.d = d;
        a.adds = adds;
        a.weight = 0.5;
        a.r = device_r_.data();
        a.z = z.data();
        a.work = work.data();
        laplace::line_inverse_cuda(a, nullptr);
        EXPECT_TRUE(z.read(found.data(), nullptr));
        expect_equal(found, expected);
      }
    }

    /// A first step from zero, without lines; any other one, with them.
    void expect_cells(bool is_first)
    {
      const laplace::CellBases<C> bases(basis_);
      Vector<Number> expected(block_), found(block_), z(block_);
      laplace::apply_cell_inverse(block_, basis_, cells_.view, bases, 0.7, r_.data(), z.data());
      if (!is_first)
        std::copy_n(old_.data(), old_.size(), expected.data());
      for (std::int64_t i = 0; i < z.size(); ++i)
      {
        const double lines = is_first ? 0. : number(r_[i]), x = is_first ? 0. : number(x_[i]);
        expected[i] = Number(static_cast<C>(
            x + (is_first ? 0. : 0.3 * (x - number(old_[i]))) + lines + number(z[i])));
      }
      DeviceArray<C> vectors(std::ssize(bases.vectors), Unset()),
          quotients(std::ssize(bases.quotients), Unset());
      vectors.copy_from_host(bases.vectors.data());
      quotients.copy_from_host(bases.quotients.data());
      test::Guarded<Number> x(x_), old(block_.size());
      if (!is_first)
        old.write(old_.data());
      laplace::CellRelaxation<Number> a;
      a.block = block_;
      a.basis = &basis_;
      a.cells = on_device_.view;
      a.vectors = vectors.data();
      a.quotients = quotients.data();
      a.weight = 0.7;
      a.theta = 0.3;
      a.r = device_r_.data();
      a.lines = is_first ? nullptr : device_r_.data();
      a.x = is_first ? nullptr : x.data();
      a.old = old.data();
      laplace::relax_cells_cuda(a, nullptr);
      EXPECT_TRUE(old.read(found.data(), nullptr));
      expect_equal(found, expected);
    }

  private:
    /// NaN but for padding.
    Vector<Number> unset() const
    {
      Vector<Number> result(block_);
      test::for_each_dof(block_, [&](std::int64_t at) {
        result[at] = test::from_double<Number>(std::numeric_limits<double>::quiet_NaN());
      });
      return result;
    }
    static double number(Number x) { return static_cast<double>(static_cast<C>(x)); }
    void expect_equal(const Vector<Number> &found, const Vector<Number> &expected) const
    {
      constexpr double tolerance = sizeof(Number) == 8 ? 1e-9 : sizeof(Number) == 4 ? 5e-4 : 5e-3;
      EXPECT_LT(test::relative_difference(found, expected), tolerance);
      EXPECT_TRUE(test::padding_is_zero(found));
    }

    CellBasis basis_;
    Block block_;
    std::array<Side, 6> sides_;
    test::CellNumbersFor<C> cells_;
    OnDevice<C> on_device_;
    Vector<Number> r_, x_, old_;
    test::Guarded<Number> device_r_;
  };

  template <typename Number>
  class RelaxationOnDevice : public testing::Test
  {
  protected:
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
    }
  };
  using Types = testing::Types<double, float, Half>;
  TYPED_TEST_SUITE(RelaxationOnDevice, Types);

  TYPED_TEST(RelaxationOnDevice, EqualsThatOfTheHost)
  {
    for (const Case &c : cases)
      for (int degree = 1; degree <= max_degree; degree += test::has_few_cases() ? 2 : 1)
      {
        SCOPED_TRACE(testing::Message() << "dim " << c.dim << " degree " << degree << " cells "
                                        << c.cells[0] << "x" << c.cells[1] << "x" << c.cells[2]);
        Relaxation<TypeParam> relaxation(c, degree);
        for (int d = 0; d < c.dim; ++d)
        {
          SCOPED_TRACE(testing::Message() << "direction " << d);
          relaxation.expect_lines(d);
        }
        relaxation.expect_cells(true);
        relaxation.expect_cells(false);
      }
  }
} // namespace
} // namespace tensormg
