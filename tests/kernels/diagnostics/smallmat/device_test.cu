// Batches of small matrices on a device: all tasks, units and sizes against the definition; counts that end within a
// block.
#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/device/device.h"
#include "kernels/diagnostics/smallmat/smallmat.h"
#include "tests/support/smallmat_cases.h"

namespace tensormg
{
namespace
{
  using namespace smallmat;

  class SmallmatDevice : public testing::Test
  {
  protected:
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
      use_device(0);
    }
  };

  void check(Task task, Unit unit, int n, std::int64_t count)
  {
    SCOPED_TRACE("task " + std::to_string(static_cast<int>(task)) + ", unit " +
        std::to_string(static_cast<int>(unit)) + ", n " + std::to_string(n) + ", count " +
        std::to_string(count));
    const std::int64_t size = count * n * n;
    constexpr std::size_t guards = 5;
    const std::vector<double> f = test::batch_factors(task, n, count),
                              b = test::batch_numbers(size, 1.1);
    std::vector<double> c(static_cast<std::size_t>(size) + guards, 7.);
    std::fill_n(c.begin(), size, std::numeric_limits<double>::quiet_NaN());
    DeviceArray<double> device_f(static_cast<std::int64_t>(f.size())), device_b(size),
        device_c(static_cast<std::int64_t>(c.size()));
    if (count > 0)
    {
      device_f.copy_from_host(f.data());
      device_b.copy_from_host(b.data());
    }
    device_c.copy_from_host(c.data());
    cuda(task, unit, n, count, device_f.data(), device_b.data(), device_c.data(), nullptr);
    device_c.copy_to_host(c.data());
    std::vector<double> exact(static_cast<std::size_t>(n * n));
    for (std::int64_t i = 0; i < count; ++i)
    {
      reference(task, n, f.data() + i * factor_size(task, n), b.data() + i * n * n, exact.data());
      for (std::size_t e = 0; e < exact.size(); ++e)
        ASSERT_NEAR(c[static_cast<std::size_t>(i * n * n) + e], exact[e], 1e-13) << i << ", " << e;
    }
    for (std::size_t e = static_cast<std::size_t>(size); e < c.size(); ++e)
      ASSERT_EQ(c[e], 7.);
  }

  void check_unit(Unit unit)
  {
    for (const Task task : {Task::product, Task::householder, Task::givens})
      for (const int n : {16, 32})
        for (const std::int64_t count : {0, 1, 3, 4, 13})
          check(task, unit, n, count);
  }

  TEST_F(SmallmatDevice, Fma) { check_unit(Unit::fma); }
  TEST_F(SmallmatDevice, Tensor)
  {
    if (device_properties().code_capability < 90)
      GTEST_SKIP() << "m16n8k4 in FP64 needs compute capability 9.0";
    check_unit(Unit::mma_map);
    check_unit(Unit::mma_staged);
  }

  TEST_F(SmallmatDevice, RefusesOtherSizes)
  {
    EXPECT_THROW(cuda(Task::product, Unit::fma, 8, 1, nullptr, nullptr, nullptr, nullptr),
        std::invalid_argument);
  }
} // namespace
} // namespace tensormg
