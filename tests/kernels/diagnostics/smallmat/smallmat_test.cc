// Batches of small matrices on the host against the definition.
#include "kernels/diagnostics/smallmat/smallmat.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/smallmat_cases.h"

namespace tensormg
{
namespace
{
  using namespace smallmat;

  TEST(Smallmat, FactorsByDefinition)
  {
    // A reflection changes the sign of v, a rotation turns the unit vectors p and q.
    const std::vector<double> v = test::batch_factors(Task::householder, 16, 1);
    for (int i = 0; i < 16; ++i)
    {
      double sum = 0.;
      for (int k = 0; k < 16; ++k)
        sum += factor_entry(Task::householder, 16, v.data(), i, k) * v[static_cast<std::size_t>(k)];
      EXPECT_NEAR(sum, -v[static_cast<std::size_t>(i)], 1e-15);
    }
    const double turn[2] = {0.6, 0.8};
    EXPECT_EQ(factor_entry(Task::givens, 16, turn, givens_p, givens_p), 0.6);
    EXPECT_EQ(factor_entry(Task::givens, 16, turn, givens_p, givens_q), -0.8);
    EXPECT_EQ(factor_entry(Task::givens, 16, turn, givens_q, givens_p), 0.8);
    EXPECT_EQ(factor_entry(Task::givens, 16, turn, givens_p, 3), 0.);
    EXPECT_EQ(factor_entry(Task::givens, 16, turn, 3, 3), 1.);
  }

  TEST(Smallmat, HostAgreesWithTheDefinition)
  {
    constexpr std::int64_t count = 3;
    for (const Task task : {Task::product, Task::householder, Task::givens})
      for (const int n : {16, 32})
      {
        const std::int64_t size = static_cast<std::int64_t>(n) * n;
        const auto f = test::batch_factors(task, n, count),
                   b = test::batch_numbers(count * size, 1.1);
        std::vector<double> c(b.size() + 2, 7.), exact(static_cast<std::size_t>(size));
        std::fill_n(c.begin(), b.size(), std::numeric_limits<double>::quiet_NaN());
        cpu(task, n, count, f.data(), b.data(), c.data());
        for (std::int64_t i = 0; i < count; ++i)
        {
          reference(
              task, n, f.data() + i * factor_size(task, n), b.data() + i * size, exact.data());
          for (std::size_t e = 0; e < exact.size(); ++e)
            ASSERT_NEAR(c[static_cast<std::size_t>(i * size) + e], exact[e], 1e-13);
        }
        EXPECT_EQ(c[b.size()], 7.);
      }
    EXPECT_THROW(cpu(Task::product, 8, 0, nullptr, nullptr, nullptr), std::invalid_argument);
  }

  TEST(Smallmat, CountsUsefulWork)
  {
    EXPECT_EQ(work(Task::product, 16, 10).flops, 10. * 2. * 16 * 16 * 16);
    EXPECT_EQ(work(Task::product, 16, 10).bytes, 10. * 8. * 3 * 256);
    EXPECT_EQ(work(Task::householder, 16, 1).flops, 4. * 256);
    EXPECT_EQ(work(Task::householder, 32, 1).bytes, 8. * (2 * 1024 + 32));
    EXPECT_EQ(work(Task::givens, 32, 1).flops, 6. * 32);
  }
} // namespace
} // namespace tensormg
