// Vectors, operator and transfer in device memory against those in host memory: every mixture of
// boundaries, both dimensions, each number type.
#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "operators/constant/laplace_operator.h"
#include "operators/constant/transfer_operator.h"
#include "operators/data/device_functions.h"
#include "operators/vectors/device_vector_space.h"
#include "operators/vectors/vector_space.h"
#include "tests/support/boxes.h"
#include "tests/support/guarded.h"

namespace tensormg
{
namespace
{
  template <typename Number>
  DeviceVector<Number> on_device(const Vector<Number> &v, Stream stream)
  {
    DeviceVector<Number> result(v.block(), stream);
    copy_to_device(v, result, stream);
    return result;
  }

  template <typename Number>
  Vector<Number> on_host(const DeviceVector<Number> &v, Stream stream)
  {
    Vector<Number> result(v.block());
    copy_to_host(v, result, stream);
    return result;
  }

  template <typename Number>
  class DeviceOperators : public testing::Test
  {
  protected:
    static constexpr double tolerance = std::is_same_v<Number, double> ? 1e-13
        : std::is_same_v<Number, float>                                ? 1e-5
                                                                       : 4e-3;
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
    }

    void compare_operator(const Problem &problem, laplace::Backend backend = laplace::Backend::cuda)
    {
      const Grid grid = make_grid(problem, MPI_COMM_SELF);
      const LevelGrid &level = grid.finest();
      const CellBasis basis = make_cell_basis(problem.degree);
      LaplaceOperator<Number> host(level, basis, laplace::Backend::cpu);
      LaplaceOperator<Number, DeviceContext> device(level, basis, backend, stream());
      const auto u = test::hashed_vector<Number>(level, 1),
                 b = test::hashed_vector<Number>(level, 2),
                 old = test::hashed_vector<Number>(level, 3);
      const auto du = on_device(u, stream()), db = on_device(b, stream());
      auto dold = on_device(old, stream());
      Vector<Number> expected = host.make_vector();
      auto found = device.make_vector();
      const auto compare = [&](const char *what, const DeviceVector<Number> &result) {
        const Vector<Number> v = on_host(result, stream());
        EXPECT_LT(test::relative_difference(v, expected), tolerance) << what;
        EXPECT_TRUE(test::padding_is_zero(v)) << what;
      };
      host.vmult(expected, u);
      device.vmult(found, du);
      compare("vmult", found);
      host.residual(expected, u, b);
      device.residual(found, du, db);
      compare("residual", found);
      host.chebyshev_step(expected, u, nullptr, b, 0.3, 0.8);
      device.chebyshev_step(found, du, nullptr, db, 0.3, 0.8);
      compare("Chebyshev step without x_{k-1}", found);
      host.chebyshev_step(expected, u, &old, b, 0.3, 0.8);
      device.chebyshev_step(dold, du, &dold, db, 0.3, 0.8);
      compare("Chebyshev step", dold);
      host.inverse_diagonal(expected, b, 0.7);
      device.inverse_diagonal(found, db, 0.7);
      compare("inverse diagonal", found);
    }

    Stream stream() const { return stream_->get(); }

  private:
    std::unique_ptr<OwnedStream> stream_ = std::make_unique<OwnedStream>();
  };
  using Numbers = testing::Types<double, float, Half>;
  TYPED_TEST_SUITE(DeviceOperators, Numbers);
  using DeviceOperatorsDouble = DeviceOperators<double>;
  using DeviceOperatorsFloat = DeviceOperators<float>;
  using DeviceOperatorsHalf = DeviceOperators<Half>;

  TYPED_TEST(DeviceOperators, LaplaceInTwoDimensions)
  {
    for (const std::string &boundary : test::boundary_mixtures(2))
    {
      SCOPED_TRACE(boundary);
      this->compare_operator(test::box(2, 3, {3, 2, 1}, 0, boundary));
    }
    this->compare_operator(test::box(2, 2, {312, 2, 1}, 0, "DNPP")); // rows padded to 320 cells
  }

  TYPED_TEST(DeviceOperators, LaplaceInThreeDimensions)
  {
    for (const char *boundary : {"DDDDDD", "NNDDPP", "PPPPNN", "DNPPDD", "PPPPPP"})
    {
      SCOPED_TRACE(boundary);
      this->compare_operator(test::box(3, 2, {3, 2, 3}, 0, boundary));
    }
    this->compare_operator(test::box(3, 4, {2, 1, 1}, 0, "DDPPPP"));
  }

  // Where the fastest kernels are a mixture, and all forms on tensor cores.
  TYPED_TEST(DeviceOperators, LaplaceByOtherBackends)
  {
    using enum laplace::Backend;
    for (const laplace::Backend backend : {automatic, wmma, mma})
    {
      SCOPED_TRACE(to_string(backend));
      this->compare_operator(test::box(3, 3, {2, 1, 2}, 0, "DNPPDN"), backend);
    }
    this->compare_operator(test::box(2, 5, {2, 3, 1}, 0, "PPDN"), mma);
  }

  TEST_F(DeviceOperatorsFloat, ChebyshevStepsInTf32)
  {
    using enum laplace::Backend;
    const Grid grid = make_grid(test::box(3, 3, {2, 1, 2}, 0, "DNPPDN"), MPI_COMM_SELF);
    const LevelGrid &level = grid.finest();
    const CellBasis basis = make_cell_basis(3);
    const auto u = on_device(test::hashed_vector<float>(level, 1), stream()),
               b = on_device(test::hashed_vector<float>(level, 2), stream()),
               old = on_device(test::hashed_vector<float>(level, 3), stream());
    const auto results = [&](laplace::Backend backend, std::optional<laplace::Arithmetic> steps) {
      LaplaceOperator<float, DeviceContext> op(level, basis, backend, stream(), StepOptions{steps});
      auto residual = op.make_vector(), step = op.make_vector();
      op.residual(residual, u, b);
      op.chebyshev_step(step, u, &old, b, 0.3, 0.8);
      return std::pair{on_host(residual, stream()), on_host(step, stream())};
    };
    for (const laplace::Backend backend : {automatic, wmma, mma})
    {
      SCOPED_TRACE(to_string(backend));
      const auto [residual, step] = results(backend, std::nullopt);
      const auto [same, rounded] = results(backend, laplace::Arithmetic::tf32);
      EXPECT_EQ(test::relative_difference(same, residual), 0.);
      EXPECT_GT(test::relative_difference(rounded, step), 1e-5) << "nothing was rounded";
      EXPECT_LT(test::relative_difference(rounded, step), 1e-3);
    }
    EXPECT_THROW(results(cuda, laplace::Arithmetic::tf32), std::invalid_argument);
  }

  // With weights in two parts a step is hardly ever rounded in another direction than with arithmetic in FP32.
  TEST_F(DeviceOperatorsHalf, ChebyshevStepsCorrected)
  {
    using enum laplace::Backend;
    const Grid grid = make_grid(test::box(3, 3, {2, 1, 2}, 0, "DNPPDN"), MPI_COMM_SELF);
    const LevelGrid &level = grid.finest();
    const CellBasis basis = make_cell_basis(3);
    const auto u = on_device(test::hashed_vector<Half>(level, 1), stream()),
               b = on_device(test::hashed_vector<Half>(level, 2), stream());
    const auto step = [&](laplace::Backend backend, std::optional<laplace::Arithmetic> steps) {
      LaplaceOperator<Half, DeviceContext> op(level, basis, backend, stream(), StepOptions{steps});
      auto result = op.make_vector();
      op.chebyshev_step(result, u, nullptr, b, 0., 0.8);
      return on_host(result, stream());
    };
    const Vector<Half> expected = step(cuda, std::nullopt);
    const auto share_of_others = [&](const Vector<Half> &found) {
      std::int64_t others = 0;
      for (std::int64_t at = 0; at < expected.size(); ++at)
        others += found[at].bits != expected[at].bits;
      return double(others) / double(level.block.dofs());
    };
    for (const laplace::Backend backend : {automatic, wmma, mma})
    {
      SCOPED_TRACE(to_string(backend));
      EXPECT_GT(share_of_others(step(backend, laplace::Arithmetic::fp16)), 0.1);
      EXPECT_LT(share_of_others(step(backend, laplace::Arithmetic::fp16x2)), 0.03);
    }
  }

  TYPED_TEST(DeviceOperators, Transfer)
  {
    for (const int dim : {2, 3})
    {
      const Problem problem = test::box(dim, 3, {3, 2, 1}, 1, "DDPPNN");
      const Grid grid = make_grid(problem, MPI_COMM_SELF);
      const CellBasis basis = make_cell_basis(problem.degree);
      const LevelGrid &fine = grid.levels[1], &coarse = grid.levels[0];
      TransferOperator<TypeParam> host(fine, coarse, basis, laplace::Backend::cpu);
      TransferOperator<TypeParam, DeviceContext> device(
          fine, coarse, basis, laplace::Backend::cuda, this->stream());
      const auto r = test::hashed_vector<TypeParam>(fine, 1);
      Vector<TypeParam> expected(coarse.block);
      DeviceVector<TypeParam> found(coarse.block, this->stream());
      host.restrict_to(expected, r, 1.5);
      device.restrict_to(found, on_device(r, this->stream()), 1.5);
      EXPECT_LT(
          test::relative_difference(on_host(found, this->stream()), expected), this->tolerance);
      for (const bool add : {false, true})
      {
        auto x = test::hashed_vector<TypeParam>(fine, 2);
        auto dx = on_device(x, this->stream());
        host.prolongate(x, expected, 4., add);
        device.prolongate(dx, on_device(expected, this->stream()), 4., add);
        EXPECT_LT(test::relative_difference(on_host(dx, this->stream()), x), this->tolerance);
      }
    }
  }

  TEST_F(DeviceOperatorsDouble, SpaceDoesAsThatOfTheHost)
  {
    const Problem problem = test::box(3, 3, {3, 5, 2}, 0, "NN");
    const Grid grid = make_grid(problem, MPI_COMM_SELF);
    const LevelGrid &level = grid.finest();
    const CellBasis basis = make_cell_basis(problem.degree);
    const VectorSpace host(level.block, level.communicator);
    const DeviceVectorSpace device(level.block, level.communicator, stream());
    std::vector<Vector<double>> v;
    std::vector<DeviceVector<double>> dv;
    for (unsigned i = 0; i < 3; ++i)
    {
      v.push_back(test::hashed_vector<double>(level, i));
      dv.push_back(on_device(v.back(), stream()));
    }
    auto w = test::hashed_vector<double>(level, 7), x = test::hashed_vector<double>(level, 8);
    auto dw = on_device(w, stream()), dx = on_device(x, stream());
    EXPECT_NEAR(device.dot(dv[0], dw), host.dot(v[0], w), 1e-12);
    EXPECT_NEAR(device.norm(dw), host.norm(w), 1e-12);
    EXPECT_EQ(device.max_abs(dw), host.max_abs(w));
    const auto dots = host.multi_dot(v, 2, w), found = device.multi_dot(dv, 2, dw);
    ASSERT_EQ(found.size(), 3u);
    for (int i = 0; i < 3; ++i)
      EXPECT_NEAR(found[i], dots[i], 1e-12);
    const std::vector<double> c{0.5, -1., 0.25};
    EXPECT_NEAR(device.wait_for(device.multi_update_later(c, dv, dw)),
        host.multi_update_later(c, v, w), 1e-11);
    // A step from what the device alone knows: w'w / (2 w'w), then v_1'w / (w'w).
    const auto later = device.multi_dot_later(dv, 2, dw);
    const auto of_w = device.dot_later(dw, dw);
    const auto host_later = host.multi_dot_later(v, 2, w);
    const double host_of_w = host.dot_later(w, w);
    device.axpby(1., dv[0], DeviceVectorSpace::quotient(-1., later[1], of_w), dx);
    host.axpby(1., v[0], VectorSpace::quotient(-1., host_later[1], host_of_w), x);
    EXPECT_NEAR(
        device.cg_update(DeviceVectorSpace::quotient(0.5, of_w, of_w), 0.5, dv[0], dv[1], dw, dx),
        host.cg_update(VectorSpace::quotient(0.5, host_of_w, host_of_w), 0.5, v[0], v[1], w, x),
        1e-11);
    EXPECT_NEAR(DeviceVectorSpace::known(later[0]), host_later[0], 1e-12);
    EXPECT_NEAR(DeviceVectorSpace::known(later[1]), host_later[1], 1e-12);
    EXPECT_NEAR(DeviceVectorSpace::known(of_w), host_of_w, 1e-12);
    device.axpby(2., dx, -0.5, dw);
    host.axpby(2., x, -0.5, w);
    EXPECT_LT(test::relative_difference(on_host(dw, stream()), w), 1e-14);

    // The scale that is known to the device alone.
    Vector<Half> half(level.block);
    DeviceVector<Half> dhalf(level.block, stream());
    const double scale = host.scale_by_largest(0.25, w);
    const auto dscale = device.scale_by_largest(0.25, dw);
    dw = on_device(w, stream());
    host.convert(scale, w, half);
    device.convert(dscale, dw, dhalf);
    EXPECT_TRUE(test::same_bits(on_host(dhalf, stream()), half));
    host.convert(VectorSpace::inverse(scale), half, x);
    device.convert(DeviceVectorSpace::inverse(dscale), dhalf, dx);
    EXPECT_TRUE(test::same_bits(on_host(dx, stream()), x));

    // A basis in single precision: its update leaves the largest entry for the next conversion.
    std::vector<Vector<WideFloat>> z;
    std::vector<DeviceVector<WideFloat>> dz;
    for (unsigned i = 0; i < 3; ++i)
    {
      z.push_back(test::hashed_vector<WideFloat>(level, 20 + i));
      dz.push_back(on_device(z.back(), stream()));
    }
    auto r = device.make_vector<DeviceVector<WideFloat>>();
    EXPECT_NEAR(device.convert_with_norm(0.5, dx, r), 0.5 * host.norm(x), 1e-12);
    ASSERT_NE(r.largest(), nullptr);
    auto host_r = host.make_vector<Vector<WideFloat>>();
    host.convert_with_norm(0.5, x, host_r);
    EXPECT_TRUE(test::same_bits(on_host(r, stream()), host_r));
    EXPECT_NEAR(device.multi_dot(dz, 3, r)[1], host.multi_dot(z, 3, host_r)[1], 1e-12);
    EXPECT_NEAR(device.wait_for(device.multi_update_later(c, dz, r, 2.)),
        host.multi_update_later(c, z, host_r, 2.), 1e-5);
    const auto known = device.scale_by_largest(0.25, r);
    EXPECT_EQ(known.largest, r.largest());
    EXPECT_EQ(host.scale_by_largest(0.25, on_host(r, stream())),
        0.25 * power_of_two_below(1. / device.max_abs(r)));
    device.add_combination(c, dz, dx);
    host.add_combination(c, z, x);
    EXPECT_LT(test::relative_difference(on_host(dx, stream()), x), 1e-14);
    DeviceVector<Half> db(level.block, stream()), dfirst(level.block, stream());
    const laplace::Backend backend = laplace::Backend::cuda;
    LaplaceOperator<Half, DeviceContext>(level, basis, backend, stream())
        .convert_and_divide(0.7, known, r, db, dfirst);
    Vector<Half> b(level.block), first(level.block);
    LaplaceOperator<Half>(level, basis, laplace::Backend::cpu)
        .convert_and_divide(
            0.7, host.scale_by_largest(0.25, on_host(r, stream())), on_host(r, stream()), b, first);
    EXPECT_TRUE(test::same_bits(on_host(db, stream()), b));
    EXPECT_LT(test::relative_difference(on_host(dfirst, stream()), first), 2e-3);

    const double mean = subtract_mean_on_device(level, basis, dx, device);
    EXPECT_NE(mean, 0.);
    EXPECT_NEAR(subtract_mean_on_device(level, basis, dx, device), 0., 1e-14);
  }

  TEST_F(DeviceOperatorsDouble, RefusesBackendsOfTheHost)
  {
    const Grid grid = make_grid(test::box(3, 1, {2, 2, 2}, 0, "DD"), MPI_COMM_SELF);
    const CellBasis basis = make_cell_basis(1);
    EXPECT_THROW((LaplaceOperator<double, DeviceContext>(
                     grid.finest(), basis, laplace::Backend::cpu, stream())),
        std::invalid_argument);
  }
} // namespace
} // namespace tensormg
