// The operator with numbers of each cell on a device against the reference on the host: odd sizes, sizes beyond a tile, each kind of
// side, also Robin, poisoned outputs with guard zones, every degree, form and number type; the same bits twice, and in parts.
#include <gtest/gtest.h>

#include "kernels/device/device.h"
#include "kernels/laplace/cellwise/cuda.h"
#include "tests/kernels/laplace/cellwise/inputs.h"
#include "tests/support/few_cases.h"
#include "tests/support/guarded.h"

namespace tensormg
{
namespace
{
  using laplace::Backend;
  using laplace::Form;
  using test::CellwiseCase;
  using test::Guarded;

  constexpr Side D = Side::dirichlet, N = Side::neumann, W = Side::wrap, G = Side::ghost;

  // Tiles have up to 64 cells in x and 8 rows.
  const CellwiseCase cases[] = {
      {3, {1, 1, 1}, {D, N, N, D, D, N}},
      {3, {1, 3, 2}, {W, W, G, D, G, G}},
      {3, {7, 3, 5}, {W, W, G, G, G, G}},
      {3, {33, 11, 3}, {D, D, G, N, N, G}},
      {3, {65, 5, 2}, {N, N, N, N, D, D}},
      {3, {131, 9, 2}, {W, W, N, D, N, N}},
      {2, {1, 1, 1}, {D, N, D, D, D, D}},
      {2, {9, 5, 1}, {W, W, G, G, D, D}},
      {2, {65, 33, 1}, {N, D, D, G, D, D}},
      {2, {300, 4, 1}, {N, N, N, N, D, D}},
  };

  /// Arguments with all arrays in device memory.
  template <typename Number>
  struct OnDevice
  {
    using C = Compute<Number>;
    Guarded<Number> src, b, old;
    std::array<DeviceArray<C>, 6> ghosts;
    std::array<DeviceArray<C>, 7> numbers;
    laplace::CellwiseArguments<Number> arguments;

    explicit OnDevice(const test::CellwiseInputs<Number> &inputs)
      : src(inputs.src)
      , b(inputs.b)
      , old(inputs.old)
      , arguments(inputs.arguments)
    {
      arguments.src = src.data();
      arguments.b = b.data();
      arguments.old = arguments.old != nullptr ? old.data() : nullptr;
      for (int s = 2; s < 6; ++s)
        if (arguments.ghost[s] != nullptr)
          arguments.ghost[s] = upload(ghosts[s], inputs.ghosts[s]);
      const auto &arrays = inputs.numbers.arrays;
      const auto move = [&](const C *&pointer, std::size_t i) {
        pointer = upload(numbers[i], arrays[i]) + (pointer - arrays[i].data());
      };
      for (std::size_t d = 0; d < 3; ++d)
      {
        move(arguments.cells.c[d], d);
        move(arguments.cells.jump[d], 4 + d);
      }
      move(arguments.cells.reaction, 3);
    }

    static const C *upload(DeviceArray<C> &to, const std::vector<C> &from)
    {
      to = DeviceArray<C>(static_cast<std::int64_t>(from.size()));
      to.copy_from_host(from.data());
      return to.data();
    }
  };

  template <typename Number>
  class CellwiseDevice : public testing::Test
  {
  protected:
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
    }

    static Vector<Number> read(Guarded<Number> &from, const Block &block)
    {
      Vector<Number> result(block);
      EXPECT_TRUE(from.read(result.data(), nullptr)) << "written outside";
      return result;
    }

    static void compare(const CellwiseCase &c, int degree, Form form, bool with_old)
    {
      SCOPED_TRACE(testing::Message()
          << "dim " << c.dim << " degree " << degree << " cells " << c.cells[0] << "x" << c.cells[1]
          << "x" << c.cells[2] << " form " << int(form) << " old " << with_old);
      const test::CellwiseInputs<Number> inputs(c, degree, with_old);
      laplace::CellwiseArguments<Number> a = inputs.arguments;
      Vector<Number> expected(a.block);
      test::poison(expected);
      a.dst = expected.data();
      laplace::select_cellwise<Number>(Backend::cpu, form, c.dim, degree)(a);

      OnDevice<Number> on_device(inputs);
      std::array<Vector<Number>, 2> found;
      for (auto &result : found)
      {
        Guarded<Number> dst(a.block.size());
        on_device.arguments.dst = dst.data();
        // The second time in parts, the layers at the ends last.
        const std::int64_t layers = c.cells[2];
        using Layers = std::array<std::int64_t, 2>;
        const std::vector<Layers> parts = &result == &found[0] || layers < 3
            ? std::vector<Layers>{{0, laplace::RowRange::unbounded}}
            : std::vector<Layers>{{1, layers - 1}, {0, 1}, {layers - 1, layers}};
        for (const auto &[begin, end] : parts)
        {
          on_device.arguments.range = {.z_begin = begin, .z_end = end};
          laplace::select_cellwise<Number>(Backend::cuda, form, c.dim, degree)(on_device.arguments);
        }
        result = read(dst, a.block);
      }
      EXPECT_LT(test::relative_difference(found[0], expected), inputs.tolerance());
      EXPECT_TRUE(test::padding_is_zero(found[0]));
      EXPECT_TRUE(test::same_bits(found[0], found[1]));
    }

    /// With few cases every degree gets every third one.
    static bool left_out(std::size_t index, int degree)
    {
      return test::has_few_cases() &&
          ((index + static_cast<std::size_t>(degree)) % 3 != 0 || (index == 5 && degree > 4));
    }
  };
  using Numbers = testing::Types<double, float, Half>;
  TYPED_TEST_SUITE(CellwiseDevice, Numbers);

  TYPED_TEST(CellwiseDevice, EqualsHost)
  {
    for (std::size_t index = 0; index < std::size(cases); ++index)
      for (int degree = 1; degree <= max_degree; ++degree)
        if (!this->left_out(index, degree))
        {
          this->compare(cases[index], degree, Form::apply, false);
          this->compare(cases[index], degree, Form::residual, false);
          this->compare(cases[index], degree, Form::chebyshev, true);
          this->compare(cases[index], degree, Form::chebyshev, false);
        }
  }

  TYPED_TEST(CellwiseDevice, InverseDiagonalEqualsHost)
  {
    for (std::size_t index = 0; index < std::size(cases); ++index)
    {
      const test::CellwiseInputs<TypeParam> inputs(cases[index], 3, true);
      const Block &block = inputs.block;
      Vector<TypeParam> expected(block);
      laplace::cellwise_inverse_diagonal(
          block, inputs.basis, inputs.numbers.view, 0.7, inputs.b.data(), expected.data());
      OnDevice<TypeParam> on_device(inputs);
      laplace::cellwise_inverse_diagonal_cuda(block, inputs.basis, on_device.arguments.cells, 0.7,
          on_device.b.data(), on_device.b.data(), nullptr);
      const auto found = this->read(on_device.b, block);
      EXPECT_LT(test::relative_difference(found, expected), inputs.tolerance());
      EXPECT_TRUE(test::padding_is_zero(found));
    }
  }

  struct WideCellwiseDevice : CellwiseDevice<WideFloat>
  {
    using CellwiseDevice<WideFloat>::compare, CellwiseDevice<WideFloat>::left_out;
  };
  TEST_F(WideCellwiseDevice, EqualsHost)
  {
    for (std::size_t index = 0; index < std::size(cases); ++index)
      for (int degree = 1; degree <= max_degree; ++degree)
        if (!left_out(index, degree))
          compare(cases[index], degree, Form::apply, false);
  }
} // namespace
} // namespace tensormg
