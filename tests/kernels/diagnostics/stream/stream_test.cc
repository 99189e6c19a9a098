// The streaming kernels: right numbers in every entry and none beyond, for all operations and stores.
#include "kernels/diagnostics/stream/stream.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace tensormg
{
namespace
{
  using stream::Operation;
  using stream::Stores;

  constexpr double q = -1.5;
  constexpr double untouched = 12345.;
  constexpr std::int64_t capacity = 4 * stream::granularity;

  struct alignas(64) Line
  {
    double numbers[8];
  };

  /// An aligned array, full of NaN up to `size`, of a known number beyond.
  class Poisoned
  {
  public:
    explicit Poisoned(std::int64_t size)
      : lines_(capacity / 8)
    {
      for (std::int64_t i = 0; i < capacity; ++i)
        data()[i] = i < size ? std::numeric_limits<double>::quiet_NaN() : untouched;
    }
    double *data() { return lines_.front().numbers; }

  private:
    std::vector<Line> lines_;
  };

  double expected(Operation operation, double b)
  {
    return operation == Operation::write ? q : operation == Operation::copy ? b : q * b;
  }

  TEST(Stream, EveryEntryAndNoneBeyond)
  {
    for (const Stores stores : {Stores::cached, Stores::streaming})
      for (const Operation operation : stream::all_operations)
        for (std::int64_t size = 0; size < capacity; size += stream::granularity)
        {
          SCOPED_TRACE(stream::to_string(operation));
          Poisoned a(size), b(0);
          double sum = 0.;
          for (std::int64_t i = 0; i < capacity; ++i)
          {
            b.data()[i] = static_cast<double>(i * i % 97) - 40.;
            sum += i < size ? b.data()[i] : 0.;
          }
          const double result = stream::cpu(operation, stores, size, 3, q, b.data(), a.data());
          EXPECT_EQ(result, operation == Operation::read ? sum : 0.);
          for (std::int64_t i = 0; i < capacity; ++i)
            if (i >= size)
              ASSERT_EQ(a.data()[i], untouched) << i;
            else if (operation == Operation::read)
              ASSERT_TRUE(std::isnan(a.data()[i])) << i;
            else
              ASSERT_EQ(a.data()[i], expected(operation, b.data()[i])) << i;
        }
  }

  TEST(Stream, CountsWhatTheLoopMoves)
  {
    for (const Operation operation : stream::all_operations)
      EXPECT_EQ(stream::bytes_per_element(operation), 8. * stream::n_arrays(operation));
    EXPECT_STREQ(stream::to_string(Operation::read), "read");
    EXPECT_STREQ(stream::to_string(Operation::scale), "scale");
  }
} // namespace
} // namespace tensormg
