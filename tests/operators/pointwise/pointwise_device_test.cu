// The operator on curved cells on a device against the plain loops: every degree, both dimensions, each pair of number types, blocks with few and many cells,
// sides of every kind and orientation, outputs poisoned between guard zones; the same bits twice.
#include <gtest/gtest.h>

#include "kernels/device/device.h"
#include "kernels/laplace/pointwise/cuda.h"
#include "kernels/laplace/pointwise/device_layout.h"
#include "tests/operators/pointwise/setting.h"
#include "tests/support/guarded.h"

namespace tensormg
{
namespace
{
  using test::applied;
  using test::generated;
  using test::Guarded;
  using test::Setting;

  template <typename T>
  DeviceArray<T> uploaded(const T *from, std::int64_t size)
  {
    DeviceArray<T> result(size);
    if (size > 0)
      result.copy_from_host(from);
    return result;
  }

  template <typename Number, typename Stored>
  struct Pair
  {
    using C = Compute<Number>;
    static constexpr bool in_half = std::is_same_v<Stored, Half>;

    static laplace::PointNumbers<Stored> numbers_of(
        [[maybe_unused]] const laplace::PointwiseArguments<Number> &a)
    {
      if constexpr (in_half)
        return a.in_half;
      else
        return {nullptr, nullptr, nullptr, nullptr};
    }
    /// In the order of the device; for_row(row, move) calls move(place there, place on the host).
    template <typename ForRow>
    static DeviceArray<Stored> upload([[maybe_unused]] const C *computed,
        [[maybe_unused]] const Stored *half, std::int64_t size, std::int64_t rows,
        const ForRow &for_row)
    {
      const bool is_there = in_half ? half != nullptr : computed != nullptr;
      std::vector<Stored> result(static_cast<std::size_t>(is_there ? size : 0));
      for (std::int64_t row = 0; row < rows && is_there; ++row)
        for_row(row, [&](std::int64_t to, std::int64_t from) {
          if constexpr (in_half)
            result[static_cast<std::size_t>(to)] = half[from];
          else
            result[static_cast<std::size_t>(to)] = static_cast<Stored>(computed[from]);
        });
      return uploaded(result.data(), std::int64_t(result.size()));
    }

    /// As the functions of the host.
    static void apply(const laplace::PointwiseArguments<Number> &a)
    {
      const Block &block = a.block;
      const laplace::DeviceLayout layout{block, sizeof(Stored)};
      const auto half = numbers_of(a);
      const auto volume = upload(a.numbers.volume, half.volume, laplace::volume_size(block),
          layout.rows(), [&](auto row, const auto &move) { layout.for_volume(row, move); });
      const auto face = upload(a.numbers.face, half.face, laplace::face_size(block), layout.rows(),
          [&](auto row, const auto &move) { layout.for_face(row, move); });
      const auto reaction = upload(a.numbers.reaction, half.reaction, laplace::reaction_size(block),
          layout.rows(), [&](auto row, const auto &move) { layout.for_reaction(row, move); });
      std::vector<float> of_cells(in_half ? std::size_t(laplace::power_size(block)) : 0);
      for (std::int64_t row = 0; row < layout.rows() && in_half; ++row)
        layout.for_powers(row, [&](std::int64_t to, std::int64_t from) {
          of_cells[std::size_t(to)] = half.powers[from];
        });
      const auto powers = uploaded(of_cells.data(), std::int64_t(of_cells.size()));
      const std::int64_t n_links = block.cells[0] / a.per_direction * 2 * block.dim;
      const auto links = uploaded(a.links, n_links);
      const bool is_step = a.inverse_diagonal != nullptr;
      const auto diagonal = uploaded(a.inverse_diagonal, is_step ? block.size() : 0);
      Guarded<Number> src(a.src, block.size()), b(block.size()), dst(block.size());
      if (a.b != nullptr)
        b.write(a.b);
      if (a.old != nullptr)
        dst.write(a.old);
      Guarded<C> borders(laplace::border_size(block, a.per_direction, 0));

      laplace::PointwiseDeviceArguments<Number, Stored> on_device;
      on_device.block = block;
      on_device.per_direction = a.per_direction;
      on_device.basis = a.basis;
      on_device.tables = a.tables;
      on_device.links = links.data();
      on_device.numbers = {volume.data(), face.data(),
          reaction.size() > 0 ? reaction.data() : nullptr, powers.data()};
      on_device.src = src.data();
      on_device.dst = dst.data();
      on_device.b = a.b != nullptr ? b.data() : nullptr;
      on_device.inverse_diagonal = is_step ? diagonal.data() : nullptr;
      on_device.old = a.old != nullptr ? dst.data() : nullptr;
      on_device.theta = a.theta;
      on_device.alpha = a.alpha;
      on_device.borders = borders.data();
      laplace::pointwise_cuda<Number, Stored>(block.dim, block.degree())(on_device);
      EXPECT_TRUE(dst.read(a.dst, nullptr)) << "written outside";
      std::vector<C> found(static_cast<std::size_t>(borders.size()));
      EXPECT_TRUE(borders.read(found.data(), nullptr)) << "borders written outside";
    }
  };

  template <typename Pair>
  struct Types;
  template <typename Number_, typename Stored_>
  struct Types<Pair<Number_, Stored_>>
  {
    using Number = Number_;
    using Stored = Stored_;
  };

  template <typename Kinds>
  class PointwiseDevice : public testing::Test
  {
  protected:
    using Number = typename Types<Kinds>::Number;
    using Stored = typename Types<Kinds>::Stored;
    static constexpr double tolerance = std::is_same_v<Stored, double> ? 1e-12
        : std::is_same_v<Number, Half>                                 ? 2e-3
                                                                       : 2e-5;
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
    }
    static void compare(const Setting &s)
    {
      SCOPED_TRACE(testing::Message()
          << s.blocks.dim << "D, degree " << s.degree << ", " << s.level.per_direction
          << " cells in a block of " << s.blocks.n_blocks());
      const test::Numbers u = test::random_numbers(s, 1), b = test::random_numbers(s, 2),
                          old = test::random_numbers(s, 3);
      const auto plain = &laplace::apply_pointwise_reference<Number>;
      const auto device = &Kinds::apply;
      constexpr bool half = Kinds::in_half;
      const auto difference = [&](const test::Numbers *right, const test::Numbers *before) {
        return test::relative_difference(applied<Number>(s, u, device, right, before, half),
            applied<Number>(s, u, plain, right, before, half));
      };
      EXPECT_LT(difference(nullptr, nullptr), tolerance);
      EXPECT_LT(difference(&b, nullptr), tolerance);
      EXPECT_LT(difference(&b, &old), tolerance);
      EXPECT_EQ(applied<Number>(s, u, device, nullptr, nullptr, half),
          applied<Number>(s, u, device, nullptr, nullptr, half));
    }
    static Side mixed(int boundary) { return boundary == 0 ? Side::neumann : Side::dirichlet; }
  };
  using Kinds = testing::Types<Pair<double, double>, Pair<double, float>, Pair<float, float>,
      Pair<float, Half>, Pair<Half, float>, Pair<Half, Half>>;
  TYPED_TEST_SUITE(PointwiseDevice, Kinds);

  TYPED_TEST(PointwiseDevice, EqualsPlainLoops)
  {
    for (int degree = 1; degree <= max_degree; ++degree)
    {
      Setting ring =
          generated(2, "hyper_shell", "0,0 : 0.5 : 1 : 5 : true", degree, degree < 4 ? 8 : 3);
      ring.kind = TestFixture::mixed;
      this->compare(degree % 2 == 0 ? test::with_reaction(ring) : ring);
      this->compare(generated(3, "hyper_ball", "0,0,0 : 1 : false", degree, degree < 4 ? 2 : 1));
    }
  }
  // Bricks within blocks of the mesh.
  TYPED_TEST(PointwiseDevice, ManyCells)
  {
    Setting shell = generated(3, "hyper_shell", "0,0,0 : 0.5 : 1 : 6 : true", 1, 8);
    shell.kind = TestFixture::mixed;
    this->compare(shell);
    shell = generated(3, "hyper_shell", "0,0,0 : 0.5 : 1 : 6 : true", 3, 4);
    shell.kind = TestFixture::mixed;
    this->compare(test::with_reaction(shell));
    this->compare(generated(2, "hyper_ball", "0,0 : 1 : false", 2, 16));
  }
  // Bricks that touch no side of a block of the mesh, which have a kernel of their own: three in each direction at least.
  TYPED_TEST(PointwiseDevice, InnerBricks)
  {
    using Number = typename TestFixture::Number;
    const auto apply = [&](int dim, int degree, int cells) {
      SCOPED_TRACE(testing::Message() << dim << "D, degree " << degree);
      const Setting s = generated(dim, "hyper_cube", "0 : 1 : false", degree, cells);
      const test::Numbers u = test::random_numbers(s, 1);
      EXPECT_LT(test::relative_difference(
                    applied<Number>(s, u, &TypeParam::apply, nullptr, nullptr, TypeParam::in_half),
                    applied<Number>(s, u, &laplace::apply_pointwise_reference<Number>, nullptr,
                        nullptr, TypeParam::in_half)),
          TestFixture::tolerance);
    };
    apply(2, 2, 24);
    apply(3, 1, 24);
    apply(3, 4, 12);
    if (sizeof(Compute<Number>) == sizeof(double))
    {
      apply(3, 3, 12);
      apply(3, 8, 6);
    }
    else
      apply(3, 3, 24);
  }
} // namespace
} // namespace tensormg
