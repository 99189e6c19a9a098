// The `cuda` backend in 2D against the reference on the host: odd sizes, each kind of side, every degree,
// form and number type. Vectors lie between guard zones of NaN, outputs and the padding of ghosts are NaN
// before the call.
#include "kernels/laplace/strips_2d/strips_2d.h"

#include <cstring>

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "kernels/device/device.h"
#include "kernels/laplace/reference/reference.h"
#include "tests/support/few_cases.h"
#include "tests/support/random_vector.h"
#include "tests/support/wide_rows.h"

namespace tensormg
{
namespace
{
  using laplace::Form;

  struct Case
  {
    std::int64_t nx, ny;
    std::array<Side, 4> sides;
    bool wide_rows = false;
  };

  constexpr Side D = Side::dirichlet, N = Side::neumann, W = Side::wrap, G = Side::ghost;

  // Strips of cells are 32 to 256 wide, and 1, 2 or 4 cells belong to a lane.
  const Case cases[] = {
      {1, 1, {D, D, D, D}},
      {1, 1, {W, W, G, G}},
      {1, 3, {W, W, D, N}},
      {3, 2, {D, N, N, D}},
      {7, 3, {W, W, G, G}},
      {8, 1, {N, N, N, N}},
      {17, 11, {D, D, G, D}},
      {31, 4, {N, D, D, G}},
      {32, 2, {D, N, G, N}},
      {33, 5, {W, W, N, G}},
      {64, 3, {W, W, D, D}},
      {65, 2, {N, N, G, G}},
      {257, 2, {D, D, D, D}},
      {301, 7, {W, W, G, D}},
      {7, 3, {W, W, G, N}, true},
      {33, 4, {N, D, D, G}, true},
      {65, 2, {W, W, D, D}, true},
  };

  /// Numbers on either side of a vector; keeps its alignment.
  constexpr std::int64_t guard = 512;

  /// A vector in device memory between guard zones, everything NaN.
  template <typename Number>
  class Guarded
  {
  public:
    explicit Guarded(std::int64_t size)
      : host_(size + 2 * guard)
      , device_(size + 2 * guard)
    {
      poison();
    }
    Guarded(const Number *from, std::int64_t size)
      : Guarded(size)
    {
      std::copy_n(from, size, host_.data() + guard);
      device_.copy_from_host(host_.data());
    }

    void poison()
    {
      std::memset(static_cast<void *>(host_.data()), 0xff, host_.size() * sizeof(Number));
      device_.copy_from_host(host_.data());
    }
    Number *data() { return device_.data() + guard; }

    /// Copies the vector; false if a guard has changed.
    bool copy_to(Number *to)
    {
      device_.copy_to_host(host_.data());
      const std::int64_t size = device_.size() - 2 * guard;
      std::copy_n(host_.data() + guard, size, to);
      std::vector<unsigned char> untouched(guard * sizeof(Number), 0xff);
      return std::memcmp(untouched.data(), host_.data(), untouched.size()) == 0 &&
          std::memcmp(untouched.data(), host_.data() + guard + size, untouched.size()) == 0;
    }

  private:
    std::vector<Number> host_;
    DeviceArray<Number> device_;
  };

  template <typename Number>
  double tolerance()
  {
    return std::is_same_v<Number, double> ? 2e-14 : std::is_same_v<Number, float> ? 4e-6 : 2e-3;
  }

  template <typename Number>
  laplace::Apply<Number> *kernel(Form form, int degree)
  {
    switch (form)
    {
      case Form::apply:
        return laplace::cuda_2d_instance<Number, Form::apply>(degree);
      case Form::residual:
        return laplace::cuda_2d_instance<Number, Form::residual>(degree);
      case Form::chebyshev:
        return laplace::cuda_2d_instance<Number, Form::chebyshev>(degree);
    }
    return nullptr;
  }

  template <typename Number>
  bool same_bits(const Vector<Number> &a, const Vector<Number> &b)
  {
    return std::memcmp(a.data(), b.data(), a.size() * sizeof(Number)) == 0;
  }

  enum class Old
  {
    none,
    separate,
    overwritten ///< dst is old
  };

  template <typename Number>
  void compare(const Case &c, int degree, Form form, Old old_kind)
  {
    SCOPED_TRACE(testing::Message() << "degree " << degree << " cells " << c.nx << "x" << c.ny
                                    << " form " << int(form) << " old " << int(old_kind));
    const CellBasis basis = make_cell_basis(degree);
    const Block narrow(2, degree, {c.nx, c.ny, 1});
    const Block block = c.wide_rows ? test::with_wide_rows(narrow) : narrow;
    const auto src = test::random_vector<Number>(block, 1);
    const auto b = test::random_vector<Number>(block, 2);
    const auto old = test::random_vector<Number>(block, 3);
    std::array<std::vector<Compute<Number>>, 4> ghosts;
    laplace::Arguments<Number> a;
    a.block = block;
    a.basis = &basis;
    a.factor = {1., 0.4, 0.7};
    std::copy_n(c.sides.begin(), 4, a.sides.begin());
    for (int s = 2; s < 4; ++s)
      if (c.sides[s] == G)
      {
        const auto neighbour = test::random_vector<Number>(block, 10 + s);
        ghosts[s].resize(laplace::ghost_size(block, s));
        laplace::select_pack<Number>(block.degree())(
            block, basis, s, neighbour.data(), ghosts[s].data());
        for (std::size_t at = 0; at < ghosts[s].size(); ++at)
          if (static_cast<std::int64_t>(at) % block.pitch >= c.nx)
            ghosts[s][at] = std::numeric_limits<Compute<Number>>::quiet_NaN();
        a.ghost[s] = ghosts[s].data();
      }
    a.src = src.data();
    a.b = form == Form::apply ? nullptr : b.data();
    a.old = form == Form::chebyshev && old_kind != Old::none ? old.data() : nullptr;
    a.theta = 0.3;
    a.alpha = 0.8;
    Vector<Number> expected(block), found(block), again(block);
    a.dst = expected.data();
    laplace::apply_reference(a, form);

    Guarded<Number> device_src(src.data(), src.size()), device_b(b.data(), b.size());
    Guarded<Number> device_old(old.data(), old.size()), device_dst(block.size());
    std::array<DeviceArray<Compute<Number>>, 4> device_ghosts;
    for (int s = 2; s < 4; ++s)
      if (a.ghost[s])
      {
        device_ghosts[s] =
            DeviceArray<Compute<Number>>(static_cast<std::int64_t>(ghosts[s].size()));
        device_ghosts[s].copy_from_host(ghosts[s].data());
        a.ghost[s] = device_ghosts[s].data();
      }
    const OwnedStream stream;
    device::synchronize(nullptr);
    a.stream = stream.get();
    a.src = device_src.data();
    a.b = a.b ? device_b.data() : nullptr;
    a.old = a.old ? device_old.data() : nullptr;
    a.dst = device_dst.data();
    const auto run = [&](Guarded<Number> &to, Vector<Number> &result) {
      a.dst = to.data();
      kernel<Number>(form, degree)(a);
      device::synchronize(a.stream);
      EXPECT_TRUE(to.copy_to(result.data())) << "written beyond the end";
    };
    run(device_dst, found);
    EXPECT_LT(test::relative_difference(found, expected), tolerance<Number>());
    EXPECT_TRUE(test::padding_is_zero(found));
    if (old_kind != Old::overwritten && !test::runs_again())
      return;
    device_dst.poison();
    device::synchronize(nullptr);
    run(old_kind == Old::overwritten ? device_old : device_dst, again);
    EXPECT_TRUE(same_bits(found, again));
  }

  template <typename Number>
  class LaplaceCuda2DTest : public testing::Test
  {
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
    }
  };
  using Numbers = testing::Types<double, float, Half>;
  TYPED_TEST_SUITE(LaplaceCuda2DTest, Numbers);

  TYPED_TEST(LaplaceCuda2DTest, ApplyEqualsReference)
  {
    for (const Case &c : cases)
      for (int degree = 1; degree <= max_degree; ++degree)
        compare<TypeParam>(c, degree, Form::apply, Old::none);
  }

  TYPED_TEST(LaplaceCuda2DTest, ResidualEqualsReference)
  {
    for (const Case &c : cases)
      for (int degree = 1; degree <= max_degree; ++degree)
        compare<TypeParam>(c, degree, Form::residual, Old::none);
  }

  TYPED_TEST(LaplaceCuda2DTest, ChebyshevEqualsReference)
  {
    for (const Case &c : cases)
      for (int degree = 1; degree <= max_degree; ++degree)
        for (const Old old : {Old::none, Old::separate, Old::overwritten})
          compare<TypeParam>(c, degree, Form::chebyshev, old);
  }

  // More rows and strips than are resident at once: parts in y and several blocks in x.
  TYPED_TEST(LaplaceCuda2DTest, ManyParts)
  {
    for (const int degree : {1, 4})
    {
      compare<TypeParam>({1030, 131, {W, W, D, N}}, degree, Form::apply, Old::none);
      compare<TypeParam>({1999, 77, {D, N, G, N}}, degree, Form::chebyshev, Old::overwritten);
    }
  }

  TEST(LaplaceCuda2D, NoOtherDegrees)
  {
    EXPECT_EQ((laplace::cuda_2d_instance<double, Form::apply>(0)), nullptr);
    EXPECT_EQ((laplace::cuda_2d_instance<double, Form::apply>(max_degree + 1)), nullptr);
  }
} // namespace
} // namespace tensormg
