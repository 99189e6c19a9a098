// Operators on the device: the oracle there against the one on the host, then the backends against the oracle: odd sizes,
// sizes beyond one tile, each kind of side, poisoned outputs with guard zones, every degree, form and number type.
#include <cstring>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "kernels/device/device.h"
#include "kernels/laplace/cuda.h"
#include "kernels/laplace/mma.h"
#include "kernels/laplace/reference/reference.h"
#include "kernels/laplace/tiles/sm90.h"
#include "tests/support/few_cases.h"
#include "tests/support/guarded_array.h"
#include "tests/support/random_vector.h"

namespace tensormg
{
namespace
{
  using laplace::Backend, laplace::Form, laplace::MmaTile, laplace::MmaWideTile;

  struct Case
  {
    std::array<std::int64_t, 3> cells;
    std::array<Side, 6> sides;
  };

  constexpr Side D = Side::dirichlet, N = Side::neumann, W = Side::wrap, G = Side::ghost;

  // Tiles have up to 128 x 16 cells. In the last case 66 clusters end segments within a column and begin others within one.
  const Case cases[] = {
      {{1, 1, 1}, {D, D, D, D, D, D}},
      {{1, 2, 3}, {W, W, D, D, D, D}},
      {{3, 2, 1}, {D, N, N, D, D, N}},
      {{15, 3, 5}, {W, W, G, G, G, G}},
      {{17, 13, 3}, {D, D, G, D, N, G}},
      {{65, 2, 2}, {N, D, D, G, G, D}},
      {{16, 8, 9}, {W, W, N, N, D, D}},
      {{131, 25, 2}, {N, N, D, N, N, N}},
      {{140, 13, 2}, {W, W, G, G, D, G}},
      {{97, 14, 3}, {D, N, G, N, G, D}},
      {{18, 3, 3}, {D, D, D, N, N, D}},
      {{2, 219, 6}, {D, D, N, G, G, N}},
  };

  template <typename Number>
  constexpr double tolerance = sizeof(Number) == 8 ? 4e-15
      : sizeof(Number) == 4                        ? 2e-6
                                                   : 1e-3;

  /// With few cases every degree gets every third one; degrees 7 and 8 also blocks that end in the middle of a cluster.
  bool left_out(std::size_t index, int degree)
  {
    const bool cuts_clusters = degree >= 7 && (index == 3 || index == 10);
    return test::has_few_cases() && !cuts_clusters &&
        ((index + static_cast<std::size_t>(degree)) % 3 != 0 || (index >= 7 && degree > 3));
  }

  /// Inputs of one case on both sides of the bus.
  template <typename Number>
  struct Inputs
  {
    using C = Compute<Number>;
    CellBasis basis;
    Block block;
    Vector<Number> src, b, old;
    std::array<std::vector<C>, 6> ghosts;
    DeviceArray<Number> device_src, device_b, device_old;
    std::array<DeviceArray<C>, 6> device_ghosts;
    DeviceArray<unsigned> progress{2};
    laplace::Arguments<Number> host, device;

    Inputs(const Case &c, int degree, bool with_old)
      : basis(make_cell_basis(degree))
      , block(3, degree, c.cells)
      , src(test::random_vector<Number>(block, 1))
      , b(test::random_vector<Number>(block, 2))
      , old(test::random_vector<Number>(block, 3))
      , device_src(block.size())
      , device_b(block.size())
      , device_old(block.size())
    {
      host.block = block;
      host.basis = &basis;
      host.factor = {1., 0.4, 0.7};
      host.sides = c.sides;
      host.theta = 0.3;
      host.alpha = 0.8;
      host.src = src.data();
      host.b = b.data();
      host.old = with_old ? old.data() : nullptr;
      device_src.copy_from_host(src.data());
      device_b.copy_from_host(b.data());
      device_old.copy_from_host(old.data());
      device = host;
      for (int s = 2; s < 6; ++s)
        if (c.sides[s] == G)
        {
          const auto neighbour = test::random_vector<Number>(block, 10 + s);
          ghosts[s].resize(laplace::ghost_size(block, s));
          laplace::select_pack<Number>(degree)(block, basis, s, neighbour.data(), ghosts[s].data());
          host.ghost[s] = ghosts[s].data();
          device_ghosts[s] = DeviceArray<C>(laplace::ghost_size(block, s));
          device_ghosts[s].copy_from_host(ghosts[s].data());
          device.ghost[s] = device_ghosts[s].data();
        }
      device.src = device_src.data();
      device.b = device_b.data();
      device.old = with_old ? device_old.data() : nullptr;
      device.progress = progress.data();
    }

    std::vector<Number> run(Backend backend, Form form)
    {
      return run(laplace::select<Number>(backend, form, 3, block.degree()));
    }
    std::vector<Number> run(
        laplace::Apply<Number> *apply, const std::vector<laplace::RowRange> &parts = {{}})
    {
      test::GuardedArray<Number> dst(block.size());
      device.dst = dst.data();
      for (const laplace::RowRange &part : parts)
      {
        device.range = part;
        apply(device);
      }
      device.range = {};
      device::synchronize(nullptr);
      return dst.get();
    }
  };

  template <typename Number>
  double difference(const std::vector<Number> &found, const Number *expected)
  {
    double error = 0., norm = 0.;
    for (std::size_t at = 0; at < found.size(); ++at)
    {
      const double x = test::to_double(found[at]), y = test::to_double(expected[at]);
      error += (x - y) * (x - y);
      norm += y * y;
    }
    return std::sqrt(error / norm);
  }

  template <typename Number>
  bool padding_is_zero(const Block &block, const std::vector<Number> &vector)
  {
    for (std::int64_t at = 0; at < block.size(); ++at)
      if (at % block.pitch >= block.cells[0] && !(test::to_double(vector[at]) == 0.))
        return false;
    return true;
  }

  template <typename Number>
  class LaplaceCuda : public testing::Test
  {
  protected:
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
    }
  };
  using Numbers = testing::Types<double, float, Half>;
  TYPED_TEST_SUITE(LaplaceCuda, Numbers);

  TYPED_TEST(LaplaceCuda, DeviceReferenceEqualsReference)
  {
    for (const Case &c : cases)
      for (const int degree : {1, 2, 3, 5, 8})
      {
        if (c.cells[0] * c.cells[1] * (degree + 1) > 600)
          continue; // the oracle on the host is slow
        Inputs<TypeParam> inputs(c, degree, true);
        for (const Form form : {Form::apply, Form::residual, Form::chebyshev})
        {
          SCOPED_TRACE(testing::Message() << "degree " << degree << " cells " << c.cells[0]);
          Vector<TypeParam> expected(inputs.block);
          test::poison(expected);
          inputs.host.dst = expected.data();
          laplace::apply_reference(inputs.host, form);
          const auto found = inputs.run(Backend::device_reference, form);
          EXPECT_LT(difference(found, expected.data()), tolerance<TypeParam>);
          EXPECT_TRUE(padding_is_zero(inputs.block, found));
        }
      }
  }

  /// All forms of one kernel; `more` gets the inputs, the form, the reference's result and the kernel's.
  template <typename Number, typename More>
  void compare(Backend backend, double allowed, const Case &c, int degree, const More &more)
  {
    for (const bool with_old : {true, false})
    {
      Inputs<Number> inputs(c, degree, with_old);
      for (const Form form : {Form::apply, Form::residual, Form::chebyshev})
      {
        if (!with_old && form != Form::chebyshev)
          continue;
        SCOPED_TRACE(testing::Message()
            << "degree " << degree << " cells " << c.cells[0] << "x" << c.cells[1] << "x"
            << c.cells[2] << " form " << int(form) << " old " << with_old);
        const auto expected = inputs.run(Backend::device_reference, form);
        const auto found = inputs.run(backend, form);
        EXPECT_LT(difference(found, expected.data()), allowed);
        EXPECT_TRUE(padding_is_zero(inputs.block, found));
        if (test::runs_again())
        {
          const auto again = inputs.run(backend, form);
          EXPECT_EQ(std::memcmp(found.data(), again.data(), found.size() * sizeof(Number)), 0);
        }
        more(inputs, form, expected, found);
      }
    }
  }

  template <typename Number>
  void compare_cuda(const Case &c, int degree)
  {
    compare<Number>(Backend::cuda, tolerance<Number>, c, degree, [](const auto &...) {});
  }

  TYPED_TEST(LaplaceCuda, CudaEqualsReference)
  {
    for (std::size_t index = 0; index < std::size(cases); ++index)
      for (int degree = 1; degree <= max_degree; ++degree)
        if (!left_out(index, degree))
          compare_cuda<TypeParam>(cases[index], degree);
  }

  // More tiles than multiprocessors, so that blocks march through several layers.
  TYPED_TEST(LaplaceCuda, SegmentsOfSeveralLayers)
  {
    const std::int64_t tiles = device_properties().multiprocessors + 2;
    const auto rows = []<int... n>(std::integer_sequence<int, n...>)
    {
      return std::array<std::int64_t, sizeof...(n)>{
          laplace::CudaTile<TypeParam, n + 2, Form::residual>::cells_y...};
    }
    (std::make_integer_sequence<int, max_degree>());
    for (int degree = 1; degree <= max_degree; ++degree)
      if (!test::has_few_cases() || degree == 8)
        compare_cuda<TypeParam>(
            {{2, rows.at(std::size_t(degree - 1)) * tiles, 3}, {D, N, G, N, G, D}}, degree);
  }

  /// Layers one after another, in any order, have the bits of the whole block.
  template <typename Number>
  void expect_same_bits_in_parts(Backend backend, Form form, int degree)
  {
    SCOPED_TRACE(testing::Message() << laplace::to_string(backend) << " degree " << degree);
    Inputs<Number> inputs({{18, 11, 6}, {D, N, G, N, G, G}}, degree, true);
    const auto apply = laplace::select<Number>(backend, form, 3, degree);
    const auto rows = [](std::int64_t begin, std::int64_t end) {
      laplace::RowRange range;
      range.z_begin = begin;
      range.z_end = end;
      return range;
    };
    const auto whole = inputs.run(apply),
               parts = inputs.run(apply, {rows(1, 5), rows(0, 1), rows(5, 6)});
    EXPECT_EQ(std::memcmp(whole.data(), parts.data(), whole.size() * sizeof(Number)), 0);
    laplace::Arguments<Number> other = inputs.device;
    other.range = rows(3, 3);
    EXPECT_THROW(apply(other), std::invalid_argument);
    other.range = {1, 3, 0, 6};
    EXPECT_THROW(apply(other), std::invalid_argument);
  }

  TYPED_TEST(LaplaceCuda, PartsOfABlock)
  {
    for (const Form form : {Form::apply, Form::residual, Form::chebyshev})
      for (int degree = 1; degree <= max_degree; ++degree)
        if (!test::has_few_cases() || degree == 3 || degree == 8)
          expect_same_bits_in_parts<TypeParam>(Backend::cuda, form, degree);
  }

  /// Sums of halves in FP32, and traces rounded to halves between two products.
  void compare_mma(const Case &c, int degree)
  {
    compare<Half>(Backend::mma, 1e-3, c, degree,
        [&](Inputs<Half> &inputs, Form form, const auto &expected, const auto &found) {
          if (form == Form::residual && degree >= laplace::mma_accurate_min_degree)
          {
            // Traces and weights of 22 bits: hardly a result is rounded in another direction than the reference's.
            const auto accurate =
                inputs.run(laplace::mma_instance(form, laplace::Arithmetic::fp16x2, degree));
            EXPECT_LT(difference(accurate, expected.data()), 1e-4);
            EXPECT_TRUE(padding_is_zero(inputs.block, accurate));
          }
          if (form == Form::chebyshev && inputs.device.old != nullptr)
          {
            inputs.device.dst = inputs.device_old.data();
            laplace::select<Half>(Backend::mma, form, 3, degree)(inputs.device);
            std::vector<Half> in_place(inputs.block.size());
            inputs.device_old.copy_to_host(in_place.data());
            EXPECT_EQ(std::memcmp(found.data(), in_place.data(), found.size() * sizeof(Half)), 0);
          }
        });
  }

  /// Why its kernels cannot run; empty if they can.
  std::string why_no_copy_engine()
  {
    if (device_count() == 0)
      return why_no_device();
    return device_properties().code_capability >= 90 ? "" : "needs code for compute capability 9.0";
  }

  TEST(LaplaceMma, EqualsReference)
  {
    if (const std::string why = why_no_copy_engine(); !why.empty())
      GTEST_SKIP() << why;
    for (std::size_t index = 0; index < std::size(cases); ++index)
      for (int degree = 1; degree <= max_degree; ++degree)
        if (!left_out(index, degree))
          compare_mma(cases[index], degree);
  }

  TEST(LaplaceMma, PartsOfABlock)
  {
    if (const std::string why = why_no_copy_engine(); !why.empty())
      GTEST_SKIP() << why;
    for (const Backend backend : {Backend::mma, Backend::wmma})
      for (const Form form : {Form::residual, Form::chebyshev})
        for (const int degree : {3, 5, 8})
          if (!test::has_few_cases() || degree != 5)
            expect_same_bits_in_parts<Half>(backend, form, degree);
  }

  TEST(LaplaceMma, WideTilesEqualReference)
  {
    if (const std::string why = why_no_copy_engine(); !why.empty())
      GTEST_SKIP() << why;
    const Case wide[] = {
        {{33, 1, 2}, {D, N, D, N, N, D}},
        {{50, 3, 2}, {W, W, G, N, D, G}},
        {{64, 4, 2}, {N, N, D, G, G, N}},
        {{117, 5, 2}, {W, W, G, G, D, D}},
    };
    for (std::size_t index = 0; index < std::size(wide); ++index)
    {
      EXPECT_TRUE(laplace::prefers_wide_tile(wide[index].cells[0]));
      for (int degree = 4; degree <= max_degree; ++degree)
        if (!test::has_few_cases() || degree == std::array{6, 4, 5, 7}[index])
          compare_mma(wide[index], degree);
    }
  }

  TEST(LaplaceMma, SegmentsOfSeveralLayers)
  {
    if (const std::string why = why_no_copy_engine(); !why.empty())
      GTEST_SKIP() << why;
    const std::int64_t tiles = device_properties().multiprocessors + 2;
    const std::array rows{
        MmaTile<5>::rows, MmaTile<6>::rows, MmaTile<7>::rows, MmaTile<8>::rows, MmaTile<9>::rows};
    const std::array wide{MmaWideTile<5>::rows, MmaWideTile<6>::rows, 1, 1};
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (const int degree = int(i) + 4; !test::has_few_cases() || degree == 5 || degree >= 7)
      {
        compare_mma({{2, rows.at(i) * tiles + (i > 2 ? 1 : 0), 3}, {D, N, D, N, G, D}}, degree);
        if (i < wide.size())
          compare_mma({{48, wide.at(i) * tiles + (i > 2 ? 1 : 0), 3}, {W, W, D, N, G, D}}, degree);
      }
    if (tiles < 100)
      return;
    compare_mma({{2, 79, 6}, {D, N, D, N, G, D}}, 8);
    compare_mma({{48, 79, 6}, {W, W, N, D, D, G}}, 7);
    compare_mma({{131, 27, 3}, {D, D, G, G, N, D}}, 8);
  }

  // Weights of very different size: nothing may leave the range of FP16 on the way.
  TEST(LaplaceMma, AnisotropicCells)
  {
    if (const std::string why = why_no_copy_engine(); !why.empty())
      GTEST_SKIP() << why;
    const std::array<double, 3> factors[] = {{1., 1e-4, 1.}, {20., 1., 1e-3}, {1e-5, 1e-5, 1e-5}};
    for (std::size_t index = 0; index < std::size(factors); ++index)
      for (int degree = 1; degree <= max_degree; ++degree)
        if (!left_out(index, degree))
        {
          Inputs<Half> inputs(cases[4], degree, true);
          inputs.device.factor = factors[index];
          if (degree > 5) // where 20 lambda is no number of FP16
            inputs.device.factor[0] = std::min(inputs.device.factor[0], 2.);
          for (const Form form : {Form::apply, Form::residual, Form::chebyshev})
          {
            SCOPED_TRACE(testing::Message() << "degree " << degree << " form " << int(form));
            const auto expected = inputs.run(Backend::device_reference, form);
            EXPECT_LT(difference(inputs.run(Backend::mma, form), expected.data()), 1e-3);
          }
        }
  }

  TYPED_TEST(LaplaceCuda, ChebyshevMayOverwriteOld)
  {
    for (const int degree : {1, 4, 7})
    {
      Inputs<TypeParam> inputs(cases[4], degree, true);
      const auto separate = inputs.run(Backend::cuda, Form::chebyshev);
      inputs.device.dst = inputs.device_old.data();
      laplace::select<TypeParam>(Backend::cuda, Form::chebyshev, 3, degree)(inputs.device);
      std::vector<TypeParam> found(inputs.block.size());
      inputs.device_old.copy_to_host(found.data());
      EXPECT_EQ(std::memcmp(found.data(), separate.data(), found.size() * sizeof(TypeParam)), 0);
    }
  }

  TYPED_TEST(LaplaceCuda, WithoutProgressTheSame)
  {
    // More tiles than multiprocessors, so that blocks have whole columns; each kernel has one of the degrees.
    const Case columns{{49, test::has_few_cases() ? 3 : 140, 4}, {D, N, N, D, N, D}};
    for (const int degree : {2, 4, 7, 8})
    {
      Inputs<TypeParam> inputs(columns, degree, true);
      const auto expected = inputs.run(Backend::device_reference, Form::apply);
      const auto in_step = inputs.run(Backend::cuda, Form::apply);
      EXPECT_LT(difference(in_step, expected.data()), tolerance<TypeParam>);
      inputs.device.progress = nullptr;
      const auto free = inputs.run(Backend::cuda, Form::apply);
      EXPECT_EQ(std::memcmp(in_step.data(), free.data(), free.size() * sizeof(TypeParam)), 0);
    }
  }

  TYPED_TEST(LaplaceCuda, PacksTracesAsTheHost)
  {
    using C = Compute<TypeParam>;
    for (const int degree : {1, 2, 5, 8})
    {
      Inputs<TypeParam> inputs(cases[3], degree, false);
      for (int side = 2; side < 6; ++side)
      {
        const std::int64_t size = laplace::ghost_size(inputs.block, side);
        std::vector<C> expected(size);
        laplace::select_pack<TypeParam>(degree)(
            inputs.block, inputs.basis, side, inputs.src.data(), expected.data());
        test::GuardedArray<C> buffer(size);
        laplace::pack_traces_cuda(inputs.block, inputs.basis, side,
            static_cast<const TypeParam *>(inputs.device_src.data()), buffer.data(), nullptr);
        const std::vector<C> found = buffer.get();
        EXPECT_LT(difference(found, expected.data()), sizeof(C) == 8 ? 1e-14 : 1e-6);
      }
    }
  }
} // namespace
} // namespace tensormg
