// Numbers and tables for people, and who says what at which verbosity.
#include <cmath>
#include <sstream>

#include <gtest/gtest.h>

#include "apps/common/console.h"

namespace tensormg
{
namespace
{
  TEST(Console, Counts)
  {
    EXPECT_EQ(format_count(0), "0");
    EXPECT_EQ(format_count(999), "999");
    EXPECT_EQ(format_count(1000), "1 000");
    EXPECT_EQ(format_count(-1234567), "-1 234 567");
    EXPECT_EQ(format_count(std::int64_t(1) << 62), "4 611 686 018 427 387 904");
  }

  TEST(Console, Numbers)
  {
    EXPECT_EQ(format_number(0.), "0");
    EXPECT_EQ(format_number(1.), "1.00");
    EXPECT_EQ(format_number(0.01234), "0.0123");
    EXPECT_EQ(format_number(-12.34), "-12.3");
    EXPECT_EQ(format_number(123456.), "123456");
    EXPECT_EQ(format_number(1e-8), "1e-08");
    EXPECT_EQ(format_number(INFINITY), "inf");
    EXPECT_EQ(format_residual(1.234e-8), "1.23e-08");
  }

  TEST(Console, Units)
  {
    EXPECT_EQ(format_bytes(0.), "0 B");
    EXPECT_EQ(format_bytes(1024.), "1.00 KiB");
    EXPECT_EQ(format_bytes(22.9 * (1 << 30)), "22.9 GiB");
    EXPECT_EQ(format_bytes(1e30), "8.67e+11 EiB");
    EXPECT_EQ(format_seconds(0.01234), "12.3 ms");
    EXPECT_EQ(format_seconds(1.234), "1.23 s");
  }

  /// Counts the pieces in which it gets a text.
  class Pieces : public std::streambuf
  {
  public:
    int count = 0;
    std::string text;

  private:
    std::streamsize xsputn(const char *begin, std::streamsize size) override
    {
      ++count;
      text.append(begin, static_cast<std::size_t>(size));
      return size;
    }
    int overflow(int character) override
    {
      ++count;
      text += static_cast<char>(character);
      return character;
    }
  };

  TEST(Console, MessagesAreOnePiece)
  {
    Pieces pieces;
    std::ostream error(&pieces);
    std::ostringstream out;
    Console console(MPI_COMM_SELF, Verbosity::normal, out, error);
    console.warning("one");
    EXPECT_EQ(pieces.count, 1);
    console.error("two");
    EXPECT_EQ(pieces.count, 2);
    EXPECT_EQ(pieces.text, "tensormg: warning: one\ntensormg: error: two\n");
  }

  TEST(Console, Tables)
  {
    TextTable table("| ", 1);
    table.add_row({"name", "n", "note"});
    table.add_row({"a", "100"});
    EXPECT_EQ(table.text(), "| name    n  note\n| a     100\n");
  }

  /// What the console writes to both streams with this verbosity.
  std::string output(Verbosity verbosity)
  {
    std::ostringstream out;
    Console console(MPI_COMM_SELF, verbosity, out, out);
    console.result("r");
    console.normal("n");
    console.verbose("v");
    console.warning("w");
    console.error("e");
    return out.str();
  }

  TEST(Console, Verbosity)
  {
    const std::string complaints = "tensormg: warning: w\ntensormg: error: e\n";
    EXPECT_EQ(output(Verbosity::quiet), "r" + complaints);
    EXPECT_EQ(output(Verbosity::normal), "rn" + complaints);
    EXPECT_EQ(output(Verbosity::verbose), "rnv" + complaints);
  }

  TEST(Console, Silent)
  {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    Console console = Console::silent(MPI_COMM_SELF);
    console.result("r");
    console.warning("w");
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  }
} // namespace
} // namespace tensormg
