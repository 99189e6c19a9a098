// b - B u of a large smooth u stored in FP16: what a solver stops at is 1e-4 of the terms that cancel in it. The kernels
// that a solver takes for it must not add more than a result in FP16 and arithmetic in FP32 do.
#include <cmath>
#include <optional>

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "kernels/device/device.h"
#include "kernels/laplace/laplace.h"
#include "tests/support/guarded.h"
#include "tests/support/random_vector.h"

namespace tensormg
{
namespace
{
  using laplace::Backend;
  using laplace::Form;
  using test::Guarded;

  constexpr Side D = Side::dirichlet, N = Side::neumann, W = Side::wrap, G = Side::ghost;

  /// at[0] + at[1] t + at[2] t^2, t counts cells from the beginning of the block.
  struct Quadratic
  {
    std::array<double, 3> at;
    std::array<double, max_n> modes(const CellBasis &basis, double cell) const
    {
      const double middle = cell + 0.5;
      const std::array<double, 3> legendre{
          at[0] + at[1] * middle + at[2] * (middle * middle + 1. / 12.),
          (at[1] + 2. * at[2] * middle) / std::sqrt(12.), at[2] / std::sqrt(180.)};
      std::array<double, max_n> result{};
      for (int i = 0; i < basis.n; ++i)
        for (int m = 0; m < std::min(basis.n, 3); ++m)
          result[i] += basis.legendre[m * basis.n + i] * legendre[m];
      return result;
    }
  };

  struct Case
  {
    std::array<std::int64_t, 3> cells;
    std::array<Side, 6> sides;
    std::array<Quadratic, 3> u; ///< factors in x, y, z, that satisfy the conditions at closed sides
  };

  constexpr Quadratic one{{1., 0., 0.}};
  /// 4 t (cells - t) / cells^2
  constexpr Quadratic arch(double cells) { return {{0., 4. / cells, -4. / (cells * cells)}}; }

  const Case cases[] = {
      {{140, 7, 5}, {D, D, N, N, N, N}, {arch(140.), one, one}},
      {{35, 100, 3}, {W, W, D, D, N, G}, {one, arch(100.), {{1., -4e-5, -1e-5}}}},
      {{70, 13, 90}, {N, N, N, N, D, D}, {one, one, arch(90.)}},
      {{33, 9, 6}, {N, N, G, G, G, G}, {one, {{0.9, 0.004, -1e-5}}, {{1., -0.006, 2e-5}}}},
      {{64, 12, 4}, {W, W, G, N, G, D}, {one, {{0.7, 2.4e-4, -1e-5}}, {{1., -0.25, 0.}}}},
  };

  /// u, shifted by so many cells in one direction; its largest number times D.
  Vector<Half> smooth(const Case &c, const Block &block, const CellBasis &basis,
      const std::array<double, 3> &factor, int direction, double shift, double &largest)
  {
    Vector<Half> u(block);
    const auto modes = [&](int d, std::int64_t cell) {
      return c.u[d].modes(basis, double(cell) + (d == direction ? shift : 0.));
    };
    const int n = block.n;
    for (std::int64_t z = 0; z < c.cells[2]; ++z)
      for (std::int64_t y = 0; y < c.cells[1]; ++y)
        for (std::int64_t x = 0; x < c.cells[0]; ++x)
        {
          const auto of_x = modes(0, x), of_y = modes(1, y), of_z = modes(2, z);
          for (int k = 0; k < n; ++k)
            for (int j = 0; j < n; ++j)
              for (int i = 0; i < n; ++i)
              {
                const double value = of_x[i] * of_y[j] * of_z[k];
                u[block.index(x, y, z, i, j, k)] = Half(static_cast<float>(value));
                largest = std::max(largest,
                    std::abs(value) *
                        (factor[0] * basis.lambda[i] + factor[1] * basis.lambda[j] +
                            factor[2] * basis.lambda[k]));
              }
        }
    return u;
  }

  /// Largest difference from the oracle over the largest of D u.
  double error(
      const Case &c, int degree, Backend backend, std::optional<laplace::Arithmetic> arithmetic)
  {
    const CellBasis basis = make_cell_basis(degree);
    const Block block(3, degree, c.cells);
    laplace::Arguments<Half> a;
    a.block = block;
    a.basis = &basis;
    a.factor = {1., 0.9, 0.8};
    a.sides = c.sides;
    double largest = 0., unused = 0.;
    const Vector<Half> u = smooth(c, block, basis, a.factor, 0, 0., largest);
    Guarded<Half> src(u), b(Vector<Half>{block}), dst(block.size()), expected(block.size());
    std::array<DeviceArray<float>, 6> ghosts;
    for (int s = 2; s < 6; ++s)
      if (c.sides[s] == G)
      {
        const int d = s / 2, opposite = s ^ 1;
        const double shift = double(s % 2 == 1 ? c.cells[d] : -c.cells[d]);
        const Vector<Half> beyond = smooth(c, block, basis, a.factor, d, shift, unused);
        std::vector<float> traces(laplace::ghost_size(block, s));
        laplace::select_pack<Half>(degree)(block, basis, opposite, beyond.data(), traces.data());
        ghosts[s] = DeviceArray<float>(laplace::ghost_size(block, s));
        ghosts[s].copy_from_host(traces.data());
        a.ghost[s] = ghosts[s].data();
      }
    DeviceArray<unsigned> progress(2);
    a.progress = progress.data();
    a.src = src.data();
    a.b = b.data();
    a.dst = expected.data();
    laplace::select<Half>(Backend::device_reference, Form::residual, 3, degree)(a);
    a.dst = dst.data();
    laplace::select<Half>(backend, Form::residual, 3, degree, arithmetic)(a);
    device::synchronize(nullptr);
    Vector<Half> found(block), wanted(block);
    EXPECT_TRUE(dst.read(found.data(), nullptr));
    EXPECT_TRUE(expected.read(wanted.data(), nullptr));
    double most = 0.;
    for (std::int64_t at = 0; at < block.size(); ++at)
    {
      const double difference = std::abs(test::to_double(found[at]) - test::to_double(wanted[at]));
      if (std::isnan(difference))
        return difference;
      most = std::max(most, difference);
    }
    return most / largest;
  }

  TEST(LaplaceSmooth, ResidualOfTheSolver)
  {
    if (device_count() == 0)
      GTEST_SKIP() << why_no_device();
    // Slow there: every degree gets one or two cases.
    const bool emulated = device_properties().name == "emulated device";
    for (std::size_t index = 0; index < std::size(cases); ++index)
      for (const int degree : {1, 2, 3})
      {
        if (emulated && (index + static_cast<std::size_t>(degree)) % 3 != 0)
          continue;
        SCOPED_TRACE(testing::Message() << "case " << index << " degree " << degree);
        const Case &c = cases[index];
        EXPECT_LT(error(c, degree, Backend::cuda, std::nullopt), 4e-7);
        EXPECT_LT(error(c, degree, Backend::mma, laplace::Arithmetic::fp16x2), 6e-7);
      }
  }
} // namespace
} // namespace tensormg
