// Vectors stored in FP32 with arithmetic in FP64, on the device: every entry of B u is the FP64 result rounded once.
// Odd sizes, sizes beyond one tile, each kind of side, vectors between guard zones, outputs NaN before the call.
#include <cstring>

#include <gtest/gtest.h>

#include "kernels/device/device.h"
#include "kernels/laplace/cuda.h"
#include "kernels/laplace/lines/lines.h"
#include "tests/support/guarded.h"
#include "tests/support/wide_laplace.h"

namespace tensormg
{
namespace
{
  using laplace::Backend;
  using laplace::Form;
  using test::Guarded;
  using test::WideCase, test::WideLaplace;

  constexpr Side D = Side::dirichlet, N = Side::neumann, W = Side::wrap, G = Side::ghost;

  class LaplaceWideDevice : public testing::Test
  {
  protected:
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
    }

    static void compare(const WideCase &c, int degree)
    {
      compare(
          c, degree, "cuda", laplace::select<WideFloat>(Backend::cuda, Form::apply, c.dim, degree));
      // On compute capability 9.0 `cuda` has others.
      if (c.dim == 3)
        compare(c, degree, "cuda_lines", laplace::cuda_lines<WideFloat>(3, degree).apply[0]);
    }

    static void compare(
        const WideCase &c, int degree, const char *name, laplace::Apply<WideFloat> *apply)
    {
      SCOPED_TRACE(testing::Message()
          << name << " dim " << c.dim << " degree " << degree << " cells " << c.cells[0] << "x"
          << c.cells[1] << "x" << c.cells[2]);
      const WideLaplace problem(c, degree);
      Guarded<WideFloat> src(problem.src), dst(problem.block.size());
      std::array<DeviceArray<double>, 6> ghosts;
      DeviceArray<unsigned> progress(2);
      laplace::Arguments<WideFloat> a = problem.arguments;
      for (int s = 2; s < 6; ++s)
        if (a.ghost[s])
        {
          ghosts[s] = DeviceArray<double>(static_cast<std::int64_t>(problem.ghosts[s].size()));
          ghosts[s].copy_from_host(problem.ghosts[s].data());
          a.ghost[s] = ghosts[s].data();
        }
      device::synchronize(nullptr);
      a.src = src.data();
      a.dst = dst.data();
      a.progress = progress.data();
      Vector<WideFloat> found(problem.block), again(problem.block);
      apply(a);
      EXPECT_TRUE(dst.read(found.data(), nullptr)) << "written beyond the end";
      EXPECT_EQ(test::not_rounded_once(found, problem.exact), 0);
      EXPECT_TRUE(test::padding_is_zero(found));
      dst.poison();
      a.progress = nullptr; // blocks do not wait for each other: a matter of speed alone
      apply(a);
      EXPECT_TRUE(dst.read(again.data(), nullptr));
      EXPECT_TRUE(test::same_bits(found, again));
    }
  };

  // Tiles have 64 x 12, 32 x 12 and 32 x 8 cells.
  TEST_F(LaplaceWideDevice, LowDegreesInThreeDimensions)
  {
    const WideCase cases[] = {
        {3, {1, 1, 1}, {D, D, D, D, D, D}},
        {3, {3, 2, 1}, {D, N, N, D, D, N}},
        {3, {7, 3, 5}, {W, W, G, G, G, G}},
        {3, {17, 13, 3}, {D, D, G, D, N, G}},
        {3, {65, 2, 2}, {N, D, D, G, G, D}},
        {3, {9, 25, 2}, {N, N, D, N, N, N}},
    };
    for (const WideCase &c : cases)
      for (const int degree : {1, 2, 3})
        compare(c, degree);
  }

  // Tiles have 16 x 4, 16 x 2 and 16 x 1 cells.
  TEST_F(LaplaceWideDevice, HighDegreesInThreeDimensions)
  {
    const WideCase cases[] = {
        {3, {1, 1, 1}, {D, D, D, D, D, D}},
        {3, {3, 2, 1}, {D, N, N, D, D, N}},
        {3, {17, 3, 2}, {W, W, G, G, G, G}},
    };
    for (const WideCase &c : cases)
      for (int degree = 4; degree <= max_degree; ++degree)
        compare(c, degree);
    compare({3, {19, 7, 3}, {D, N, G, D, N, G}}, 4);
    // More tiles than multiprocessors: a block has whole columns, one after the other.
    const std::int64_t rows = device_properties().multiprocessors + 1;
    for (const int degree : {5, 7})
      compare({3, {17, rows, 2}, {D, N, N, D, N, D}}, degree);
  }

  // Strips have 32 or 64 cells.
  TEST_F(LaplaceWideDevice, TwoDimensions)
  {
    const WideCase cases[] = {
        {2, {1, 1, 1}, {D, D, D, D, D, D}},
        {2, {3, 2, 1}, {D, N, N, D, D, D}},
        {2, {7, 3, 1}, {W, W, G, G, D, D}},
        {2, {33, 5, 1}, {N, D, G, N, D, D}},
        {2, {65, 2, 1}, {W, W, D, G, D, D}},
    };
    for (const WideCase &c : cases)
      for (int degree = 1; degree <= max_degree; ++degree)
        compare(c, degree);
    compare({2, {301, 41, 1}, {D, D, N, D, D, D}}, 1);
  }

  TEST_F(LaplaceWideDevice, PacksTracesInDouble)
  {
    for (const int degree : {1, 4})
    {
      const WideLaplace problem({3, {9, 2, 3}, {D, D, D, D, D, D}}, degree);
      Guarded<WideFloat> src(problem.src);
      for (int side = 2; side < 6; ++side)
      {
        const std::int64_t size = laplace::ghost_size(problem.block, side);
        std::vector<double> expected(size), found(size);
        laplace::select_pack<WideFloat>(degree)(
            problem.block, problem.basis, side, problem.src.data(), expected.data());
        Guarded<double> buffer(size);
        laplace::pack_traces_cuda<WideFloat>(
            problem.block, problem.basis, side, src.data(), buffer.data(), nullptr);
        EXPECT_TRUE(buffer.read(found.data(), nullptr));
        for (std::int64_t at = 0; at < size; ++at)
          ASSERT_NEAR(found[at], expected[at], 1e-13);
      }
    }
  }

  TEST_F(LaplaceWideDevice, SaysWhatThereIs)
  {
    for (const Backend backend : {Backend::cuda, Backend::device_reference, Backend::mma})
      for (const Form form : {Form::apply, Form::residual, Form::chebyshev})
        if (backend != Backend::cuda || form != Form::apply)
        {
          EXPECT_THROW(laplace::select<WideFloat>(backend, form, 3, 2), std::invalid_argument);
        }
  }
} // namespace
} // namespace tensormg
