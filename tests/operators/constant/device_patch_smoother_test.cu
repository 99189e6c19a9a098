// The patch smoother in device memory against the one in host memory: sweeps of both kinds, in both orders of the
// colours, from zero and not, in every precision, on CUDA cores and on tensor cores.
#include "operators/constant/device_patch_correction.h"

#include <cstring>

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "operators/constant/laplace_operator.h"
#include "operators/multigrid/multigrid_preconditioner.h"
#include "tests/support/boxes.h"
#include "tests/support/guarded.h"
#include "tests/support/patch_smoother.h"

namespace tensormg
{
namespace
{
  template <typename Number>
  class DevicePatchSmoother : public testing::Test
  {
  protected:
    using Correction = DevicePatchCorrection<Number>;
    using Smoother = SchwarzSmoother<LaplaceOperator<Number, DeviceContext>, Correction>;

    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
    }

    static Vector<double> in_double(const Vector<Number> &v)
    {
      Vector<double> result(v.block());
      test::for_each_dof(v.block(), [&](std::int64_t at) { result[at] = test::to_double(v[at]); });
      return result;
    }

    void check(const Problem &problem, laplace::Backend backend)
    {
      SCOPED_TRACE(testing::Message()
          << problem.dim << "D, degree " << problem.degree << ", " << laplace::to_string(backend));
      const CellBasis basis = make_cell_basis(problem.degree);
      const Grid grid = make_grid(problem, MPI_COMM_SELF);
      const LevelGrid &level = grid.finest();
      const OwnedStream stream;
      LaplaceOperator<Number> host_op(level, basis, laplace::Backend::cpu);
      LaplaceOperator<Number, DeviceContext> op(level, basis, backend, stream.get());
      const Vector<Number> start = test::hashed_vector<Number>(level, 1),
                           host_b = test::hashed_vector<Number>(level, 2);
      DeviceVector<Number> b = op.make_vector(), x = op.make_vector(), work = op.make_vector();
      Vector<Number> host_work(level.block), found(level.block), again(level.block);
      copy_to_device(host_b, b, stream.get());
      LaplaceOperator<double> exact_op(level, basis, laplace::Backend::cpu);
      const Vector<double> exact_b = in_double(host_b);
      Vector<double> exact_work(level.block);
      for (const SchwarzKind kind : {SchwarzKind::multiplicative, SchwarzKind::additive})
      {
        const int sweeps = kind == SchwarzKind::multiplicative ? 1 : 3;
        PatchSmoother<Number> host_smoother(host_op, kind, sweeps, 0., 2.5);
        PatchSmoother<double> exact_smoother(exact_op, kind, sweeps, 0., 2.5);
        Smoother smoother(
            op, Correction(level, basis, backend, stream.get()), kind, sweeps, 0., 2.5);
        for (const bool zero_start : {false, true})
        {
          const bool forward = zero_start;
          // In half precision the residuals of the multiplicative sweep in host memory are rounded, while the device
          // does without: compared with the same in double.
          Vector<double> expected(level.block);
          if (kind == SchwarzKind::multiplicative)
          {
            expected = in_double(start);
            exact_smoother.smooth(expected, exact_b, exact_work, zero_start, forward);
          }
          else
          {
            Vector<Number> x_host(level.block);
            std::copy_n(start.data(), start.size(), x_host.data());
            host_smoother.smooth(x_host, host_b, host_work, zero_start, forward);
            expected = in_double(x_host);
          }
          for (Vector<Number> *result : {&found, &again})
          {
            copy_to_device(start, x, stream.get());
            copy_to_device(host_b, work, stream.get()); // what work holds does not matter
            smoother.smooth(x, b, work, zero_start, forward);
            copy_to_host(x, *result, stream.get());
          }
          EXPECT_TRUE(test::same_bits(found, again));
          EXPECT_TRUE(test::padding_is_zero(found));
          const double tolerance = std::is_same_v<Number, double> ? 1e-12
              : std::is_same_v<Number, float>                     ? 5e-5
                                                                  : 6e-3;
          EXPECT_LT(test::relative_difference(found, expected), tolerance)
              << static_cast<int>(kind) << (forward ? " forward" : " backward");
        }
      }
    }

    /// Rounding errors grow with the condition of the local problems, which grows as n^4: of this kernel in FP64, 3D,
    /// they are 27 unit roundoffs of the largest entry at p = 1, 360 at p = 4, 3000 at p = 8. In FP32 the same factor
    /// would be 1.8e-4 at p = 8; 5e-6 was found on CUDA cores, 2.5e-5 on the tensor cores of an H200, whose two-term
    /// split has 22 bits and whose sums are cut off. Without one of the
    /// three products it would be more than 4e-4 at every degree (by the emulation).
    static double replace_tolerance(int degree)
    {
      constexpr double unit_roundoff = 0x1p-24;
      const double n = degree + 1;
      return std::is_same_v<Number, double> ? 1e-12
          : std::is_same_v<Number, float>   ? unit_roundoff * (60. + 0.1 * n * n * n * n)
                                            : 6e-4;
    }

    /// y = x + P_c (b - B x) in one pass, all of y written.
    void check_replace(const Problem &problem, laplace::Backend backend)
    {
      SCOPED_TRACE(testing::Message()
          << problem.dim << "D, degree " << problem.degree << ", " << laplace::to_string(backend));
      const CellBasis basis = make_cell_basis(problem.degree);
      const Grid grid = make_grid(problem, MPI_COMM_SELF);
      const LevelGrid &level = grid.finest();
      const OwnedStream stream;
      LaplaceOperator<double> host_op(level, basis, laplace::Backend::cpu);
      PatchCorrection<double> host(level, basis, laplace::Backend::cpu);
      Correction correction(level, basis, backend, stream.get());
      ASSERT_TRUE(correction.can_replace());
      ASSERT_EQ(correction.n_colours(), host.n_colours());
      const Vector<Number> host_x = test::hashed_vector<Number>(level, 1),
                           host_b = test::hashed_vector<Number>(level, 2);
      const Vector<double> exact_x = in_double(host_x), exact_b = in_double(host_b);
      Vector<double> residual(level.block);
      Vector<Number> found(level.block), poison(level.block);
      test::poison(poison);
      DeviceVector<Number> x(level.block, stream.get()), b(level.block, stream.get()),
          y(level.block, stream.get());
      copy_to_device(host_x, x, stream.get());
      copy_to_device(host_b, b, stream.get());
      host_op.residual(residual, exact_x, exact_b);
      for (int colour = 0; colour < host.n_colours(); ++colour)
        for (const bool from_zero : {false, true})
        {
          Vector<double> expected = from_zero ? Vector<double>(level.block) : in_double(host_x);
          host.add(expected, from_zero ? exact_b : residual, colour, 1.);
          from_zero ? correction.set_zero(y) : copy_to_device(poison, y, stream.get());
          correction.replace(y, from_zero ? nullptr : &x, b, colour);
          copy_to_host(y, found, stream.get());
          EXPECT_LT(test::relative_difference(found, expected), replace_tolerance(problem.degree))
              << colour;
          bool padding_stays = true;
          test::for_each_padding(level.block, [&](std::int64_t at) {
            const std::uint8_t expected_byte = from_zero ? 0 : 0xff;
            std::uint8_t bytes[sizeof(Number)];
            std::memcpy(bytes, found.data() + at, sizeof(Number));
            for (const std::uint8_t byte : bytes)
              padding_stays = padding_stays && byte == expected_byte;
          });
          EXPECT_TRUE(padding_stays);
        }
    }
  };
  using Numbers = testing::Types<double, float, Half>;
  TYPED_TEST_SUITE(DevicePatchSmoother, Numbers);

  TYPED_TEST(DevicePatchSmoother, AsInHostMemory)
  {
    for (const laplace::Backend backend : {laplace::Backend::cuda, laplace::Backend::mma})
    {
      this->check(test::cubes(3, 1, {3, 2, 5}, 0, "PPDDPP"), backend);
      this->check(test::box(3, 3, {1, 3, 1}, 1, "DNNNPP"), backend);
      this->check(test::box(2, 2, {11, 3, 1}, 0, "NDPP"), backend);
      this->check(test::box(2, 1, {312, 2, 1}, 0, "PPND"), backend); // rows padded to 320 cells
      this->check(test::box(2, 5, {2, 1, 1}, 1, "DD"), backend);
      this->check(test::cubes(2, 2, {2, 1, 1}, 0, "NN"), backend); // singular on its patch
    }
  }

  // Periodic directions whose last patch wraps around, with an even and an odd number of cells.
  TYPED_TEST(DevicePatchSmoother, OnePassPerColour)
  {
    for (const laplace::Backend backend : {laplace::Backend::cuda, laplace::Backend::mma})
    {
      for (int degree = 1; degree <= max_degree; ++degree)
        this->check_replace(
            test::box(2, degree, {degree < 5 ? 7 : 5, 4, 1}, 0, degree % 2 == 0 ? "PP" : "NDPP"),
            backend);
      this->check_replace(test::box(3, 1, {19, 3, 4}, 0, "DNPPPP"), backend);
      this->check_replace(test::cubes(3, 2, {3, 4, 2}, 0, "PPNDDN"), backend);
      this->check_replace(test::box(3, 3, {5, 2, 3}, 0, "PPPPDD"), backend);
      for (int degree = 4; degree <= max_degree; ++degree)
        this->check_replace(test::box(3, degree, {3, 1, 1}, 0, "DNPPNN"), backend);
    }
  }

  TEST(DevicePatchSmootherMemory, CountsVectorsAndTables)
  {
    const Grid grid = make_grid(test::box(3, 3, {1, 1, 2}, 5, "DD"), MPI_COMM_SELF);
    MultigridOptions options;
    options.precision = Precision::single_precision;
    const std::int64_t without = multigrid_bytes<DeviceContext>(grid, options);
    options.smoother = Smoother::patch;
    const std::int64_t multiplicative = multigrid_bytes<DeviceContext>(grid, options);
    options.schwarz_kind = SchwarzKind::additive;
    const std::int64_t additive = multigrid_bytes<DeviceContext>(grid, options);
    options.damping = 0.3;
    const std::int64_t damped = multigrid_bytes<DeviceContext>(grid, options);
    std::int64_t tables = 0, old = 0;
    for (std::size_t l = coarsest_level<DeviceContext>(grid) + 1; l < grid.levels.size(); ++l)
    {
      tables += patch::device_table_bytes(4);
      old += grid.levels[l].block.size() * 4;
    }
    EXPECT_EQ(multiplicative, without + tables);
    EXPECT_EQ(additive, multiplicative + old);
    EXPECT_EQ(damped, multiplicative);
  }
} // namespace
} // namespace tensormg
