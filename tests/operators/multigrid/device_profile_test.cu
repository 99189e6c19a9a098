// The profile of operations on a device: their bytes by hand, and who belongs to which operation.
#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "kernels/device/kernel_loading.h"
#include "kernels/device/meters/launch_profile.h"
#include "operators/constant/laplace_operator.h"
#include "operators/constant/transfer_operator.h"
#include "operators/vectors/device_vector_space.h"
#include "tests/support/boxes.h"

namespace tensormg
{
namespace
{
  using Entry = ProfileEntry;

  class DeviceProfile : public testing::Test
  {
  protected:
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
    }

    /// The only entry of this name.
    static Entry entry(const std::vector<Entry> &entries, const std::string &operation)
    {
      Entry found;
      for (const Entry &e : entries)
        if (e.operation == operation)
        {
          EXPECT_EQ(found.calls, 0) << operation;
          found = e;
        }
      EXPECT_GT(found.calls, 0) << operation;
      EXPECT_GE(found.launches, found.calls);
      EXPECT_GE(found.seconds, 0.);
      return found;
    }

    // 5 cells in x, so that rows are padded: what is padding does not count.
    const Problem problem_ = test::cubes(3, 2, {5, 2, 2}, 1, "DDDDPP");
    const Grid grid_ = make_grid(problem_, MPI_COMM_SELF);
    const CellBasis basis_ = make_cell_basis(2);
    const LevelGrid &level_ = grid_.finest();
    const double dofs_ = 10. * 4. * 4. * 27.; ///< of the finest level
  };

  TEST_F(DeviceProfile, BytesOfVectorOperations)
  {
    ASSERT_EQ(static_cast<double>(level_.block.dofs()), dofs_);
    ASSERT_GT(level_.block.size(), level_.block.dofs());
    const OwnedStream stream;
    const DeviceVectorSpace space(level_.block, level_.communicator, stream.get());
    auto x = space.make_vector(), y = space.make_vector();
    std::vector<DeviceVector<WideFloat>> v;
    for (int i = 0; i < 3; ++i)
      v.push_back(space.make_vector<DeviceVector<WideFloat>>());
    DeviceVector<Half> h(level_.block, stream.get()), d(level_.block, stream.get());
    const LaplaceOperator<Half, DeviceContext> op(
        level_, basis_, laplace::Backend::cuda, stream.get());

    LaunchProfile profile(stream.get(), -1);
    space.dot(x, y);
    space.norm(x);
    space.norm(y);
    space.multi_dot(v, 2, v[2]);
    space.multi_update_later({0., 0.}, v, v[2], 1.);
    space.add_combination({0., 0., 0.}, v, x);
    space.convert_with_norm(1., x, v[0]);
    op.convert_and_divide(1., {}, v[0], h, d);
    space.convert_sum({}, h, d, v[1]);
    const std::vector<Entry> entries = profile.stop();

    const auto bytes = [&](const std::string &name) { return entry(entries, name).bytes; };
    EXPECT_EQ(bytes("dot product"), dofs_ * (8 + 8));
    EXPECT_EQ(bytes("norm"), 2 * dofs_ * 8);
    EXPECT_EQ(entry(entries, "norm").calls, 2);
    EXPECT_EQ(entry(entries, "norm").launches, 4); // partial sums, then their sum
    EXPECT_EQ(bytes("dot products"), dofs_ * (2 + 1) * 4);
    EXPECT_EQ(bytes("orthogonalisation of a vector"), dofs_ * (2 + 2) * 4);
    EXPECT_EQ(bytes("update of the solution"), dofs_ * (3 * 4 + 2 * 8));
    EXPECT_EQ(bytes("conversion with a norm"), dofs_ * (8 + 4));
    EXPECT_EQ(bytes("conversion and a D^-1 b"), dofs_ * (4 + 2 + 2));
    EXPECT_EQ(bytes("conversion of a sum"), dofs_ * (2 + 2 + 4));
  }

  TEST_F(DeviceProfile, BytesOfALevel)
  {
    const OwnedStream stream;
    LaplaceOperator<Half, DeviceContext> op(level_, basis_, laplace::Backend::mma, stream.get());
    const LevelGrid &coarser = grid_.levels[grid_.levels.size() - 2];
    TransferOperator<Half, DeviceContext> transfer(
        level_, coarser, basis_, laplace::Backend::cuda, stream.get());
    auto x = op.make_vector(), y = op.make_vector(), b = op.make_vector();
    DeviceVector<Half> c(coarser.block, stream.get()), rest(coarser.block, stream.get());

    LaunchProfile profile(stream.get(), -1);
    profile.enter(7);
    op.vmult(y, x);
    op.residual(y, x, b);
    op.chebyshev_step(y, x, nullptr, b, 0., 1.);
    op.chebyshev_step(y, x, &y, b, 0.5, 1.);
    op.inverse_diagonal(y, b, 1.);
    profile.enter(6);
    transfer.restrict_to(c, x, 1.);
    transfer.prolongate(x, c, 1., true);
    transfer.prolongate_pair(x, y, c, &rest, 1., true, true);
    const std::vector<Entry> entries = profile.stop();

    const double vector = dofs_ * 2, coarse = dofs_ / 8 * 2;
    const auto bytes = [&](const std::string &name) { return entry(entries, name).bytes; };
    EXPECT_EQ(bytes("B u (mma)"), 2 * vector);
    EXPECT_EQ(bytes("b - B u (mma)"), 3 * vector);
    EXPECT_EQ(bytes("Chebyshev step (mma)"), (3 + 4) * vector);
    EXPECT_EQ(entry(entries, "Chebyshev step (mma)").section, 7);
    EXPECT_EQ(bytes("a D^-1 b"), 2 * vector);
    // Two periodic sides for each of four applications: the layer of cells there, and two numbers in
    // single precision per line of modes and (padded) cell.
    const double traces = vector / 4 + 2. * 16 * 3 * 4 * 3 * 4;
    EXPECT_EQ(bytes("traces of a side"), 2 * 4 * traces);
    EXPECT_EQ(bytes("restriction"), vector + coarse);
    EXPECT_EQ(entry(entries, "restriction").section, 6);
    EXPECT_EQ(bytes("prolongation"), 2 * vector + coarse);
    EXPECT_EQ(bytes("prolongation of a pair"), 4 * vector + 2 * coarse);
  }

  TEST_F(DeviceProfile, LaunchesBelongToTheInnermostOperation)
  {
    const OwnedStream stream;
    const DeviceVectorSpace space(level_.block, level_.communicator, stream.get());
    auto x = space.make_vector();
    double *const data = x.data();
    const auto launch_outside = [&] {
      vector_kernels::cuda::axpby(x.size(), 1., data, 0., data, stream.get());
    };
    LaunchProfile profile(stream.get(), 3);
    {
      const ProfiledOperation outer(stream.get(), 100., "outer", "in a way");
      launch_outside();
      space.axpby(1., x, 0., x);
      launch_outside();
    }
    launch_outside();
    launch_outside();
    const std::vector<Entry> entries = profile.stop();
    ASSERT_EQ(entries.size(), 3U);
    EXPECT_EQ(entries[0].operation, "outer (in a way)");
    EXPECT_EQ(entries[0].calls, 1);
    EXPECT_EQ(entries[0].launches, 2);
    EXPECT_EQ(entries[0].bytes, 100.);
    EXPECT_EQ(entries[1].operation, "a x + b y");
    EXPECT_EQ(entries[1].bytes, 2 * dofs_ * 8);
    EXPECT_EQ(entries[2].calls, 2);
    EXPECT_EQ(entries[2].bytes, 0.);

    space.axpby(1., x, 0., x);
    EXPECT_TRUE(profile.stop().empty());
  }

  TEST_F(DeviceProfile, KernelsThatAreLoadedDoNotRun)
  {
    const OwnedStream stream;
    const DeviceVectorSpace space(level_.block, level_.communicator, stream.get());
    auto x = space.make_vector();
    device::fill_bytes(x.data(), 0x3f, static_cast<std::size_t>(x.size()) * 8, stream.get());
    const double before = space.norm(x);
    ASSERT_GT(before, 0.);
    {
      const KernelLoading instead_of_running(stream.get());
      space.axpby(0., x, 0., x);
    }
    EXPECT_EQ(space.norm(x), before);
    space.axpby(0., x, 0., x);
    EXPECT_EQ(space.norm(x), 0.);
  }
} // namespace
} // namespace tensormg
