// The line kernel on tensor cores, by mma.sync and by WMMA, against the reference on the host: odd sizes, sizes
// beyond one tile, each kind of side, poisoned outputs between guard zones, every degree, form and arithmetic.
#include "kernels/laplace/lines.h"

#include <cstring>

#include <gtest/gtest.h>

#include "kernels/core/device.h"
#include "kernels/laplace/reference.h"
#include "operators/cell_basis.h"
#include "tests/support/random_vector.h"

namespace tensormg
{
namespace
{
  using laplace::Arithmetic;
  using laplace::Form;

  struct Case
  {
    std::array<std::int64_t, 3> cells;
    std::array<Side, 6> sides;
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
  };

  template <Arithmetic arithmetic>
  constexpr double tolerance = arithmetic == Arithmetic::fp64 ? 4e-15
      : arithmetic == Arithmetic::tf32x3                      ? 1e-6
      : arithmetic == Arithmetic::fp16x2 ? 3e-4 // what rounding the result costs
                                         : 1e-3;

  /// The emulation of a device is slow: there every degree gets a third of the cases.
  bool left_to_devices(std::size_t index, int degree)
  {
    static const bool emulated = device_properties().name == "emulated device";
    return emulated && (index + static_cast<std::size_t>(degree)) % 3 != 0;
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

  template <typename Number>
  void compare(const laplace::LinesKernel<Number> &kernel, const Case &c, int dim, int degree,
      const std::array<double, 3> &factor, double allowed, bool with_old)
  {
    using C = Compute<Number>;
    const CellBasis basis = make_cell_basis(degree);
    const Block block(dim, degree, {c.cells[0], c.cells[1], dim == 3 ? c.cells[2] : 1});
    const auto src = test::random_vector<Number>(block, 1),
               b = test::random_vector<Number>(block, 2),
               old = test::random_vector<Number>(block, 3);
    laplace::Arguments<Number> host;
    host.block = block;
    host.basis = &basis;
    host.factor = factor;
    std::copy_n(c.sides.begin(), 2 * dim, host.sides.begin());
    host.src = src.data();
    host.b = b.data();
    host.old = with_old ? old.data() : nullptr;
    host.theta = 0.3;
    host.alpha = 0.8;
    Guarded<Number> device_src(src), device_b(b), device_old(old);
    laplace::Arguments<Number> device = host;
    std::array<std::vector<C>, 6> ghosts;
    std::array<DeviceArray<C>, 6> device_ghosts;
    for (int s = 2; s < 2 * dim; ++s)
      if (c.sides[s] == G)
      {
        const auto neighbour = test::random_vector<Number>(block, 10 + s);
        ghosts[s].resize(laplace::ghost_size(block, s));
        laplace::select_pack<Number>(degree)(block, basis, s, neighbour.data(), ghosts[s].data());
        for (std::size_t at = 0; at < ghosts[s].size(); ++at)
          if (static_cast<std::int64_t>(at) % block.pitch >= block.cells[0])
            ghosts[s][at] = std::numeric_limits<C>::quiet_NaN();
        host.ghost[s] = ghosts[s].data();
        device_ghosts[s] = DeviceArray<C>(laplace::ghost_size(block, s));
        device_ghosts[s].copy_from_host(ghosts[s].data());
        device.ghost[s] = device_ghosts[s].data();
      }
    device.src = device_src.data();
    device.b = device_b.data();
    device.old = with_old ? device_old.data() : nullptr;
    for (const Form form : {Form::apply, Form::residual, Form::chebyshev})
    {
      if (!with_old && form != Form::chebyshev)
        continue;
      SCOPED_TRACE(testing::Message()
          << dim << "D degree " << degree << " cells " << c.cells[0] << "x" << c.cells[1] << "x"
          << c.cells[2] << " form " << int(form) << " old " << with_old);
      Vector<Number> expected(block), found(block), again(block);
      host.dst = expected.data();
      laplace::apply_reference(host, form);
      const auto run = [&](Guarded<Number> &to, Vector<Number> &result) {
        device.dst = to.data();
        kernel.apply[static_cast<std::size_t>(form)](device);
        device::synchronize(nullptr);
        to.get(result);
      };
      Guarded<Number> dst(block.size());
      run(dst, found);
      EXPECT_LT(test::relative_difference(found, expected), allowed);
      EXPECT_TRUE(test::padding_is_zero(found));
      // Once more: the same bits, also where the result takes the place of `old`.
      run(form == Form::chebyshev && with_old ? device_old : dst, again);
      EXPECT_EQ(std::memcmp(found.data(), again.data(), found.size() * sizeof(Number)), 0);
    }
  }

  template <Arithmetic arithmetic_, bool wmma_>
  struct Product
  {
    static constexpr Arithmetic arithmetic = arithmetic_;
    static constexpr bool wmma = wmma_;
    static auto kernel(int dim, int degree)
    {
      if constexpr (wmma)
        return laplace::wmma_lines<arithmetic>(dim, degree);
      else
        return laplace::mma_lines<arithmetic>(dim, degree);
    }
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
  using Products =
      testing::Types<Product<Arithmetic::fp64, false>, Product<Arithmetic::tf32, false>,
          Product<Arithmetic::tf32x3, false>, Product<Arithmetic::fp16, false>,
          Product<Arithmetic::fp16x2, false>, Product<Arithmetic::fp64, true>,
          Product<Arithmetic::tf32, true>, Product<Arithmetic::tf32x3, true>,
          Product<Arithmetic::fp16, true>, Product<Arithmetic::fp16x2, true>>;
  TYPED_TEST_SUITE(LaplaceLines, Products);

  TYPED_TEST(LaplaceLines, EqualsReference)
  {
    for (const int dim : {2, 3})
      for (std::size_t index = 0; index < std::size(cases); ++index)
        for (int degree = 1; degree <= max_degree; ++degree)
          for (const bool with_old : {true, false})
            if (!left_to_devices(index, degree))
              compare(TypeParam::kernel(dim, degree), cases[index], dim, degree, {1., 0.4, 0.7},
                  tolerance<TypeParam::arithmetic>, with_old);
  }

  // Weights of very different size: nothing may leave the range of FP16 on the way.
  TYPED_TEST(LaplaceLines, AnisotropicCells)
  {
    for (const std::array<double, 3> factor :
        {std::array{1., 1e-4, 1.}, {4., 1., 1e-3}, {1e-5, 1e-5, 1e-5}})
      for (const int degree : {1, 8})
        compare(TypeParam::kernel(3, degree), cases[1], 3, degree, factor,
            tolerance<TypeParam::arithmetic>, true);
  }
} // namespace
} // namespace tensormg
