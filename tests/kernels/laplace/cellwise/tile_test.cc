// Every tile of the device kernel with numbers of each cell fits into the shared memory of each kind of GPU, and its copies have 16 bytes.
#include "kernels/laplace/cellwise/tile.h"

#include <gtest/gtest.h>

namespace tensormg
{
namespace
{
  template <typename Number, int dim>
  void check(int kibibytes)
  {
    using namespace laplace;
    for (int n = 2; n <= max_n; ++n)
    {
      SCOPED_TRACE(testing::Message() << "dim " << dim << " n " << n << " numbers of "
                                      << sizeof(Number) << " bytes, " << kibibytes << " KiB");
      const CellwiseShape shape = cellwise_shape<Number, dim>(n, kibibytes * 1024);
      EXPECT_GE(shape.rows, 1);
      EXPECT_LE((cellwise_shared_bytes<Number, dim>(n, shape)), kibibytes * 1024);
      EXPECT_EQ(shape.lanes * shape.width * int(sizeof(Number)) % 16, 0);
      EXPECT_EQ(32 % shape.lanes, 0);
      EXPECT_LE(shape.lanes * shape.rows * (dim == 3 ? n : 1), 1024 - 64);
    }
  }

  TEST(CellwiseTiles, Fit)
  {
    for (const int kibibytes : {99, 163, 227})
    {
      check<double, 2>(kibibytes);
      check<double, 3>(kibibytes);
      check<float, 2>(kibibytes);
      check<float, 3>(kibibytes);
      check<Half, 2>(kibibytes);
      check<Half, 3>(kibibytes);
      check<WideFloat, 2>(kibibytes);
      check<WideFloat, 3>(kibibytes);
    }
  }
} // namespace
} // namespace tensormg
