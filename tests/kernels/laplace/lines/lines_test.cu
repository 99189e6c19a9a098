// The line kernel, by mma.sync, by WMMA and on CUDA cores, against the reference on the host: odd sizes, sizes
// beyond one tile, each kind of side, poisoned outputs between guard zones, every degree, form and arithmetic.
#include "kernels/laplace/lines/lines.h"

#include <cstring>

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "kernels/core/shared_memory_limit.h"
#include "kernels/device/device.h"
#include "kernels/laplace/mma.h"
#include "kernels/laplace/reference/reference.h"
#include "tests/support/few_cases.h"
#include "tests/support/random_vector.h"
#include "tests/support/wide_rows.h"

namespace tensormg
{
namespace
{
  using laplace::Arithmetic;
  using laplace::Backend;
  using laplace::Form;

  struct Case
  {
    std::array<std::int64_t, 3> cells;
    std::array<Side, 6> sides;
    bool wide_rows = false; ///< in 2D
  };

  constexpr Side D = Side::dirichlet, N = Side::neumann, W = Side::wrap, G = Side::ghost;

  // Tiles have 8 to 64 by 1 to 8 cells.
  const Case cases[] = {
      {{1, 1, 1}, {D, D, D, N, N, D}},
      {{9, 2, 2}, {D, N, N, D, D, N}},
      {{1, 1, 3}, {W, W, G, N, G, N}},
      {{17, 3, 3}, {W, W, D, G, D, G}},
      {{8, 9, 1}, {N, D, G, G, G, G}},
      {{67, 2, 2}, {N, N, D, D, N, D}},
      {{9, 3, 1}, {D, N, G, D, N, N}, true},
      {{40, 2, 1}, {W, W, D, G, N, N}, true},
  };

  // Results in FP16 may be rounded to the other neighbour of a sum: their last bit is between 2^-11 and 2^-10 of the
  // largest entry. How often that happens tells fp16x2 from fp16 (SecondPartsCount).
  template <Arithmetic arithmetic, typename Number>
  constexpr double tolerance = sizeof(Number) == 2 || arithmetic == Arithmetic::tf32 ? 1e-3
      : arithmetic == Arithmetic::fp32                                               ? 2e-6
                                                                                     : 4e-15;

  /// With few cases every degree gets one in each dimension.
  bool left_out(std::size_t index, int degree, int dim)
  {
    // Tiles of the highest degree are narrow: some have padding alone.
    const bool has_empty_tiles = cases[index].wide_rows && dim == 2 && degree == max_degree;
    return test::has_few_cases() && !has_empty_tiles &&
        index != static_cast<std::size_t>(degree + 2 * dim) % std::size(cases);
  }

  /// A vector in device memory between guard zones, all bits set.
  template <typename Number>
  class Guarded
  {
  public:
    explicit Guarded(std::int64_t size)
      : size_(size)
      , memory_(size + 2 * guard)
    {
      device::fill_bytes(memory_.data(), 0xff, (size + 2 * guard) * sizeof(Number), nullptr);
    }
    Guarded(const Vector<Number> &from)
      : Guarded(from.size())
    {
      device::to_device(data(), from.data(), from.size() * sizeof(Number), nullptr);
      device::synchronize(nullptr);
    }
    Number *data() { return memory_.data() + guard; }

    /// The numbers; fails if a guard zone was written.
    void get(Vector<Number> &to)
    {
      std::vector<Number> all(size_ + 2 * guard);
      memory_.copy_to_host(all.data());
      const std::vector<unsigned char> untouched(guard * sizeof(Number), 0xff);
      EXPECT_EQ(std::memcmp(all.data(), untouched.data(), untouched.size()), 0);
      EXPECT_EQ(std::memcmp(all.data() + guard + size_, untouched.data(), untouched.size()), 0);
      std::copy_n(all.data() + guard, size_, to.data());
    }

  private:
    static constexpr std::int64_t guard = 1024;
    std::int64_t size_;
    DeviceArray<Number> memory_;
  };

  Block block_of(const Case &c, int dim, int degree)
  {
    const Block block(dim, degree, {c.cells[0], c.cells[1], dim == 3 ? c.cells[2] : 1});
    return c.wide_rows && dim == 2 ? test::with_wide_rows(block) : block;
  }

  /// Vectors and ghosts of a case on both sides of the bus.
  template <typename Number>
  class Problem
  {
    using C = Compute<Number>;

  public:
    const CellBasis basis;
    const Block block;

    Problem(const Case &c, int dim, int degree, const std::array<double, 3> &factor, bool with_old)
      : basis(make_cell_basis(degree))
      , block(block_of(c, dim, degree))
      , src_(test::random_vector<Number>(block, 1))
      , b_(test::random_vector<Number>(block, 2))
      , old_(test::random_vector<Number>(block, 3))
      , device_src_(src_)
      , device_b_(b_)
      , device_old_(old_)
    {
      host_.block = block;
      host_.basis = &basis;
      host_.factor = factor;
      std::copy_n(c.sides.begin(), 2 * dim, host_.sides.begin());
      host_.src = src_.data();
      host_.b = b_.data();
      host_.old = with_old ? old_.data() : nullptr;
      host_.theta = 0.3;
      host_.alpha = 0.8;
      device_ = host_;
      for (int s = 2; s < 2 * dim; ++s)
        if (c.sides[s] == G)
          add_ghost(s);
      device_.src = device_src_.data();
      device_.b = device_b_.data();
      device_.old = with_old ? device_old_.data() : nullptr;
    }

    void run_reference(Form form, Vector<Number> &result) const
    {
      laplace::Arguments<Number> a = host_;
      a.dst = result.data();
      laplace::apply_reference(a, form);
    }
    void run(const laplace::LinesKernel<Number> &kernel, Form form, Guarded<Number> &dst,
        Vector<Number> &result) const
    {
      laplace::Arguments<Number> a = device_;
      a.dst = dst.data();
      kernel.apply[static_cast<std::size_t>(form)](a);
      device::synchronize(nullptr);
      dst.get(result);
    }
    Guarded<Number> &old() { return device_old_; }

  private:
    void add_ghost(int s)
    {
      const auto neighbour = test::random_vector<Number>(block, 10 + s);
      const std::int64_t size = laplace::ghost_size(block, s);
      ghosts_[s].resize(size);
      laplace::select_pack<Number>(block.degree())(
          block, basis, s, neighbour.data(), ghosts_[s].data());
      for (std::int64_t at = 0; at < size; ++at)
        if (at % block.pitch >= block.cells[0])
          ghosts_[s][at] = std::numeric_limits<C>::quiet_NaN();
      host_.ghost[s] = ghosts_[s].data();
      device_ghosts_[s] = DeviceArray<C>(size);
      device_ghosts_[s].copy_from_host(ghosts_[s].data());
      device_.ghost[s] = device_ghosts_[s].data();
    }

    Vector<Number> src_, b_, old_;
    Guarded<Number> device_src_, device_b_, device_old_;
    std::array<std::vector<C>, 6> ghosts_;
    std::array<DeviceArray<C>, 6> device_ghosts_;
    laplace::Arguments<Number> host_, device_;
  };

  template <typename Number>
  void compare(const laplace::LinesKernel<Number> &kernel, const Case &c, int dim, int degree,
      const std::array<double, 3> &factor, double allowed, bool with_old)
  {
    Problem<Number> problem(c, dim, degree, factor, with_old);
    for (const Form form : {Form::apply, Form::residual, Form::chebyshev})
    {
      if (!with_old && form != Form::chebyshev)
        continue;
      SCOPED_TRACE(testing::Message()
          << dim << "D degree " << degree << " cells " << c.cells[0] << "x" << c.cells[1] << "x"
          << c.cells[2] << " form " << int(form) << " old " << with_old);
      Vector<Number> expected(problem.block), found(problem.block), again(problem.block);
      problem.run_reference(form, expected);
      Guarded<Number> dst(problem.block.size());
      problem.run(kernel, form, dst, found);
      EXPECT_LT(test::relative_difference(found, expected), allowed);
      EXPECT_TRUE(test::padding_is_zero(found));
      // Once more: the same bits, also where the result takes the place of `old`.
      const bool in_place = form == Form::chebyshev && with_old;
      if (in_place || test::runs_again())
      {
        problem.run(kernel, form, in_place ? problem.old() : dst, again);
        EXPECT_EQ(std::memcmp(found.data(), again.data(), found.size() * sizeof(Number)), 0);
      }
    }
  }

  template <typename Number>
  Number number_of(const laplace::LinesKernel<Number> &);

  /// What a row of the table has.
  template <Arithmetic arithmetic_, Backend backend_, auto *lines>
  struct Product
  {
    using Number = decltype(number_of(lines(3, 1)));
    static constexpr Arithmetic arithmetic = arithmetic_;
    static constexpr Backend backend = backend_;
    static constexpr double allowed = tolerance<arithmetic, Number>;
    static std::vector<int> dimensions()
    {
      return backend == Backend::cuda ? std::vector{3} : std::vector{2, 3};
    }
    static auto kernel(int dim, int degree) { return lines(dim, degree); }
  };

  template <typename Product>
  class LaplaceLines : public testing::Test
  {
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
    }
  };
  using enum Arithmetic;
  using Products =
      testing::Types<Product<fp64, Backend::mma, &laplace::mma_lines<Arithmetic::fp64>>,
          Product<tf32, Backend::mma, &laplace::mma_lines<Arithmetic::tf32>>,
          Product<fp16, Backend::mma, &laplace::mma_lines<Arithmetic::fp16>>,
          Product<fp16x2, Backend::mma, &laplace::mma_lines<Arithmetic::fp16x2>>,
          Product<fp64, Backend::wmma, &laplace::wmma_lines<Arithmetic::fp64>>,
          Product<tf32, Backend::wmma, &laplace::wmma_lines<Arithmetic::tf32>>,
          Product<fp16, Backend::wmma, &laplace::wmma_lines<Arithmetic::fp16>>,
          Product<fp16x2, Backend::wmma, &laplace::wmma_lines<Arithmetic::fp16x2>>,
          Product<fp64, Backend::cuda, &laplace::cuda_lines<double>>,
          Product<fp32, Backend::cuda, &laplace::cuda_lines<float>>,
          Product<fp32, Backend::cuda, &laplace::cuda_lines<Half>>>;
  TYPED_TEST_SUITE(LaplaceLines, Products);

  TYPED_TEST(LaplaceLines, EqualsReference)
  {
    for (const int dim : TypeParam::dimensions())
      for (std::size_t index = 0; index < std::size(cases); ++index)
        for (int degree = 1; degree <= max_degree; ++degree)
          for (const bool with_old : {true, false})
            if (!left_out(index, degree, dim))
              compare(TypeParam::kernel(dim, degree), cases[index], dim, degree, {1., 0.4, 0.7},
                  TypeParam::allowed, with_old);
  }

  // With weights in two parts results are hardly ever rounded in another direction than the reference's.
  TEST(LaplaceLinesHalf, SecondPartsCount)
  {
    if (device_count() == 0)
      GTEST_SKIP() << why_no_device();
    const Case &c = cases[1];
    for (const auto &[lines, least, most] :
        {std::tuple{&laplace::mma_lines<Arithmetic::fp16>, 0.1, 1.},
            {&laplace::mma_lines<Arithmetic::fp16x2>, 0., 0.02},
            {&laplace::wmma_lines<Arithmetic::fp16>, 0.1, 1.},
            {&laplace::wmma_lines<Arithmetic::fp16x2>, 0., 0.02}})
    {
      const Problem<Half> problem(c, 3, 4, {1., 0.4, 0.7}, true);
      Vector<Half> expected(problem.block), found(problem.block);
      problem.run_reference(Form::residual, expected);
      Guarded<Half> dst(problem.block.size());
      problem.run(lines(3, 4), Form::residual, dst, found);
      std::int64_t different = 0;
      for (std::int64_t at = 0; at < problem.block.size(); ++at)
        different += found[at].bits != expected[at].bits;
      const double part = double(different) / double(problem.block.dofs());
      EXPECT_GE(part, least);
      EXPECT_LE(part, most);
    }
  }

  // In 3D kernels of compute capability 9.0 go first: all of `cuda`, and of residuals in FP16 those of jumps and of high degrees.
  TYPED_TEST(LaplaceLines, IsInTheTable)
  {
    for (const int dim : TypeParam::dimensions())
      for (int degree = 1; degree <= max_degree; ++degree)
      {
        const auto kernel = TypeParam::kernel(dim, degree);
        const auto selected = laplace::select<typename TypeParam::Number>(
            TypeParam::backend, Form::residual, dim, degree, TypeParam::arithmetic);
        ASSERT_NE(selected, nullptr);
        const bool other = TypeParam::backend != Backend::wmma && dim == 3 &&
            device_properties().code_capability >= 90 &&
            (TypeParam::backend == Backend::cuda ||
                (TypeParam::arithmetic == Arithmetic::fp16 &&
                    degree >= laplace::mma_column_degree) ||
                (TypeParam::arithmetic == Arithmetic::fp16x2 &&
                    (degree == laplace::mma_column_degree ||
                        degree >= laplace::mma_accurate_min_degree)));
        EXPECT_EQ(selected == kernel.apply[1], !other);
        const laplace::KernelResources resources = kernel.resources();
        EXPECT_GT(resources.shared_bytes, 0);
        EXPECT_LE(resources.shared_bytes, shared_memory_limit::of_block_on_90 - 1024);
      }
  }

  // Weights of very different size: nothing may leave the range of FP16 on the way.
  TYPED_TEST(LaplaceLines, AnisotropicCells)
  {
    for (const int dim : TypeParam::dimensions())
      for (const auto &[degree, factor] : {std::pair{1, std::array{1., 1e-4, 1.}},
               {2, std::array{4., 1., 1e-3}}, {8, std::array{1e-5, 1e-5, 1e-5}}})
        compare(TypeParam::kernel(dim, degree), cases[1], dim, degree, factor, TypeParam::allowed,
            true);
  }

  // A tensor core multiplies no FP32 numbers, FP64 has one arithmetic only.
  TEST(LaplaceTensorCores, SaysWhatThereIs)
  {
    for (const Backend backend : {Backend::mma, Backend::wmma})
    {
      EXPECT_THROW(laplace::select<float>(backend, Form::apply, 3, 1, Arithmetic::fp32),
          std::invalid_argument);
      EXPECT_THROW(laplace::select<double>(backend, Form::apply, 2, 1, Arithmetic::fp16),
          std::invalid_argument);
      EXPECT_THROW(laplace::select<Half>(backend, Form::apply, 3, 9), std::invalid_argument);
    }
    try
    {
      laplace::select<float>(Backend::cuda, Form::apply, 3, 2, Arithmetic::tf32);
      FAIL();
    }
    catch (const std::invalid_argument &error)
    {
      EXPECT_NE(
          std::string(error.what()).find("mma tf32 (2D and 3D, degrees 1..8)"), std::string::npos)
          << error.what();
    }
  }
} // namespace
} // namespace tensormg
