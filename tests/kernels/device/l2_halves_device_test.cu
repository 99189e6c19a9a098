// Which half of L2 a multiprocessor is near.
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/device/l2_halves.h"

namespace tensormg
{
namespace
{
  TEST(L2Halves, AreToldOnceAndForAll)
  {
    if (device_count() == 0)
      GTEST_SKIP() << why_no_device();
    const std::uint8_t *const halves = l2_halves(nullptr);
    EXPECT_EQ(l2_halves(nullptr), halves);
    if (halves == nullptr)
      GTEST_SKIP() << "this device has no halves that could be told apart";
    std::vector<std::uint8_t> found(l2_halves_size, 2);
    device::to_host(found.data(), halves, found.size(), nullptr);
    device::synchronize(nullptr);
    EXPECT_LE(*std::max_element(found.begin(), found.end()), 1);
    EXPECT_GT(std::count(found.begin(), found.end(), 1), 1);
  }
} // namespace
} // namespace tensormg
