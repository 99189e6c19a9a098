// Vectors in device memory: what they hold at first.
#include <gtest/gtest.h>

#include "operators/vectors/device_vector_space.h"
#include "tests/support/boxes.h"

namespace tensormg
{
namespace
{
  TEST(DeviceVector, ZeroAtFirstOrInItsPaddingAlone)
  {
    if (device_count() == 0)
      GTEST_SKIP() << why_no_device();
    const OwnedStream stream;
    for (const std::int64_t cells : {3, 8})
    {
      const Grid grid = make_grid(test::cubes(2, 2, {cells, 2, 1}, 0, "DD"), MPI_COMM_SELF);
      const DeviceVectorSpace space(grid.finest().block, grid.finest().communicator, stream.get());
      const Block &block = grid.finest().block;
      Vector<double> on_host(block);

      test::poison(on_host);
      copy_to_host(space.make_vector(), on_host, stream.get());
      for (std::int64_t i = 0; i < block.size(); ++i)
        EXPECT_EQ(on_host[i], 0.);

      test::poison(on_host);
      auto unset = space.make_unset_vector<DeviceVector<double>>();
      EXPECT_EQ(unset.size(), block.size());
      EXPECT_EQ(unset.largest(), nullptr);
      // Number by number: everything else was never written, and initcheck watches copies as well.
      test::for_each_padding(block, [&](std::int64_t at) {
        device::to_host(on_host.data() + at, unset.data() + at, sizeof(double), stream.get());
        device::synchronize(stream.get());
        EXPECT_EQ(on_host[at], 0.);
      });

      // A sum that takes nothing of it.
      const auto x = space.make_vector();
      space.axpby(1., x, 0., unset);
      EXPECT_EQ(space.norm(unset), 0.);
    }
  }
} // namespace
} // namespace tensormg
