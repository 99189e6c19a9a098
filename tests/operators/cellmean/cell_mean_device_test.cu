// The operator with one metric per cell on a device against the plain loops: every degree, both dimensions, number types, blocks with few and many cells,
// sides of every kind and orientation, those of other ranks, outputs poisoned between guard zones; the same bits twice.
#include <optional>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/device/device.h"
#include "kernels/laplace/cellmean/cuda.h"
#include "tests/operators/cellmean/joined.h"
#include "tests/support/guarded.h"

namespace tensormg
{
namespace
{
  using laplace::CellMeanArguments;
  using test::difference;
  using test::Guarded;
  using test::Joined;
  using test::random_numbers;

  template <typename T>
  DeviceArray<T> uploaded(const T *from, std::int64_t size)
  {
    DeviceArray<T> result(size);
    if (size > 0)
      result.copy_from_host(from);
    return result;
  }

  /// Sides of blocks as if all that is behind them were on other ranks, whose messages are copies.
  template <typename C>
  class Messages
  {
  public:
    /// With the links of all blocks, which change.
    Messages(const Block &block, std::int64_t per_direction, std::vector<laplace::BlockLink> &links)
      : of_side_(
            laplace::cells_of_side(block.dim, per_direction) * laplace::numbers_of_trace(block))
    {
      for (laplace::BlockLink &link : links)
        if (link.kind == Side::ghost)
        {
          link.remote = static_cast<std::int32_t>(behind_.size());
          behind_.push_back(link.block * 2 * block.dim + link.side);
          link.block = -1;
        }
    }
    std::int64_t size() const { return of_side_ * std::int64_t(behind_.size()); }
    void send(const C *traces, C *remote_traces) const
    {
      for (std::size_t r = 0; r < behind_.size(); ++r)
        device::copy(remote_traces + std::int64_t(r) * of_side_, traces + behind_[r] * of_side_,
            static_cast<std::size_t>(of_side_) * sizeof(C), nullptr);
    }

  private:
    std::int64_t of_side_;
    std::vector<std::int64_t> behind_; ///< numbers of sides
  };

  /// As the functions of the host.
  template <typename Number, bool is_remote>
  void apply(const CellMeanArguments<Number> &a)
  {
    using C = Compute<Number>;
    const Block &block = a.block;
    const std::int64_t n_links = block.cells[0] / a.per_direction * 2 * block.dim;
    std::vector<laplace::BlockLink> links_of_host(a.links, a.links + n_links);
    std::optional<Messages<C>> messages;
    if (is_remote)
      messages.emplace(block, a.per_direction, links_of_host);
    const auto links = uploaded(links_of_host.data(), n_links);
    const auto numbers = uploaded(a.numbers, laplace::cell_mean_size(block));
    const auto diagonal =
        uploaded(a.inverse_diagonal, a.inverse_diagonal != nullptr ? block.size() : 0);
    Guarded<Number> src(a.src, block.size()), b(block.size()), dst(block.size());
    if (a.b != nullptr)
      b.write(a.b);
    if (a.old != nullptr)
      dst.write(a.old);
    Guarded<C> traces(laplace::border_size(block, a.per_direction)),
        remote_traces(is_remote ? messages->size() : 0);

    CellMeanArguments<Number> on_device = a;
    on_device.links = links.data();
    on_device.numbers = numbers.data();
    on_device.src = src.data();
    on_device.dst = dst.data();
    on_device.b = a.b != nullptr ? b.data() : nullptr;
    on_device.inverse_diagonal = a.inverse_diagonal != nullptr ? diagonal.data() : nullptr;
    on_device.old = a.old != nullptr ? dst.data() : nullptr;
    on_device.traces = traces.data();
    on_device.remote_traces = remote_traces.data();
    auto send = [&] { messages->send(traces.data(), remote_traces.data()); };
    if (is_remote)
      on_device.traces_are_written = {
          [](void *self) { (*static_cast<decltype(send) *>(self))(); }, &send};
    laplace::cell_mean_cuda<Number>(block.dim, block.degree())(on_device, nullptr);
    EXPECT_TRUE(dst.read(a.dst, nullptr)) << "written outside";
    std::vector<C> found(static_cast<std::size_t>(traces.size()));
    EXPECT_TRUE(traces.read(found.data(), nullptr)) << "traces written outside";
  }

  template <typename Number>
  class CellMeansDevice : public testing::Test
  {
  protected:
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
    }
    static void compare(const Joined &s)
    {
      constexpr double tolerance = std::is_same_v<Number, double> ? 1e-12
          : std::is_same_v<Number, float>                         ? 2e-5
                                                                  : 2e-3;
      SCOPED_TRACE(testing::Message()
          << s.block.dim << "D, degree " << s.block.degree() << ", " << s.block.cells[0]
          << " cells in a row of " << s.block.cells[1] << " rows");
      const auto u = random_numbers<Number>(s.block, 1), b = random_numbers<Number>(s.block, 2),
                 old = random_numbers<Number>(s.block, 3);
      auto *const device = &apply<Number, false>;
      auto *const plain = &laplace::apply_cell_mean_reference<Number>;
      const auto found = s.applied(device, u);
      EXPECT_LT(difference(found, s.applied(plain, u)), tolerance);
      EXPECT_LT(difference(s.applied(device, u, &b), s.applied(plain, u, &b)), tolerance);
      EXPECT_LT(
          difference(s.applied(device, u, &b, &old), s.applied(plain, u, &b, &old)), tolerance);
      EXPECT_TRUE(test::same_bits(found, s.applied(device, u)));
      EXPECT_TRUE(test::same_bits(found, s.applied(&apply<Number, true>, u)))
          << "sides of other ranks";
    }
  };
  using NumberTypes = testing::Types<double, float, Half>;
  TYPED_TEST_SUITE(CellMeansDevice, NumberTypes);

  TYPED_TEST(CellMeansDevice, EqualsPlainLoops)
  {
    for (int degree = 1; degree <= max_degree; ++degree)
    {
      this->compare(Joined(2, degree, degree % 2 == 0 ? 8 : 3, 5, 11));
      this->compare(Joined(3, degree, 3, 3, 13));
    }
  }
  // Bricks within blocks of the mesh, and such as have cells of several of them.
  TYPED_TEST(CellMeansDevice, ManyCells)
  {
    this->compare(Joined(3, 1, 8, 2, 17));
    this->compare(Joined(3, 2, 5, 3, 19));
    this->compare(Joined(3, 3, 4, 3, 23));
    this->compare(Joined(2, 2, 16, 2, 29));
  }
} // namespace
} // namespace tensormg
