// Matrix Market files: every kind that is read, and for each way in which a file can be wrong an error that
// names file and line.
#include "kernels/diagnostics/sparse/matrix_market.h"

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/temporary_directory.h"

namespace tensormg
{
namespace
{
  using sparse::MatrixMarketError;
  using sparse::parse_matrix_market;
  using sparse::SparseMatrix;

  using Dense = std::vector<std::vector<double>>;

  Dense dense(const SparseMatrix<double> &matrix)
  {
    Dense result(static_cast<std::size_t>(matrix.rows),
        std::vector<double>(static_cast<std::size_t>(matrix.columns), 0.));
    for (std::int32_t row = 0; row < matrix.rows; ++row)
      for (std::int32_t e = matrix.row_begin[row]; e < matrix.row_begin[row + 1]; ++e)
      {
        EXPECT_TRUE(e == matrix.row_begin[row] || matrix.column[e] > matrix.column[e - 1]);
        result[static_cast<std::size_t>(row)][static_cast<std::size_t>(matrix.column[e])] +=
            matrix.value[e];
      }
    return result;
  }

  Dense read(const std::string &header, const std::string &rest)
  {
    return dense(
        parse_matrix_market("%%MatrixMarket matrix coordinate " + header + "\n" + rest, "a"));
  }

  TEST(MatrixMarket, FieldsAndSymmetries)
  {
    EXPECT_EQ(read("real general", "2 3 3\n1 1 1.5\n2 3 -2e-1\n1 3 +4\n"),
        (Dense{{1.5, 0., 4.}, {0., 0., -0.2}}));
    EXPECT_EQ(read("integer general", "2 2 2\n2 1 -7\n1 2 9007199254740993\n"),
        (Dense{{0., 9007199254740992.}, {-7., 0.}}));
    EXPECT_EQ(read("pattern general", "2 2 2\n1 1\n2 1\n"), (Dense{{1., 0.}, {1., 0.}}));
    EXPECT_EQ(read("real symmetric", "3 3 3\n1 1 2\n3 1 5\n3 2 -1\n"),
        (Dense{{2., 0., 5.}, {0., 0., -1.}, {5., -1., 0.}}));
    EXPECT_EQ(read("pattern symmetric", "2 2 2\n2 1\n2 2\n"), (Dense{{0., 1.}, {1., 1.}}));
    EXPECT_EQ(read("integer skew-symmetric", "2 2 1\n2 1 3\n"), (Dense{{0., -3.}, {3., 0.}}));
    EXPECT_EQ(read("real skew-symmetric", "2 2 3\n1 1 0\n2 1 3\n2 2 -0.0\n"),
        (Dense{{0., -3.}, {3., 0.}}));
    EXPECT_EQ(read("double general", "1 2 2\n1 1 1.5\n1 2 2\n"), (Dense{{1.5, 2.}}));
  }

  TEST(MatrixMarket, ExponentsOfFortran)
  {
    EXPECT_EQ(read("real general", "1 4 4\n1 1 1d0\n1 2 1D+3\n1 3 -.5d-1\n1 4 +2.D1\n"),
        (Dense{{1., 1000., -0.05, 20.}}));
  }

  TEST(MatrixMarket, LayoutIsFree)
  {
    const Dense expected{{0., 1.}, {2., 0.}};
    EXPECT_EQ(
        read("real general", "% a comment\n%\n\n2 2 2\n1 2 1\n2 1 2"), expected); // no end of line
    EXPECT_EQ(
        read("real general", "2 2 2\r\n1 2 1\r\n\r\n% one more\r\n\t2  1\t 2 \r\n"), expected);
    EXPECT_EQ(dense(parse_matrix_market(
                  "%%matrixmarket MATRIX Coordinate Real GENERAL\n2 2 2\n2 1 2\n1 2 1\n", "a")),
        expected);
    EXPECT_EQ(read("real general", "1 1 2\n1 1 2\n1 1 3\n"), (Dense{{5.}})) << "added";
    EXPECT_EQ(read("real general % all of it", "2 2 2 % sizes\n1 2 1 % here\n2 1 2%%\n"), expected);
    EXPECT_EQ(
        dense(parse_matrix_market(
            "\xef\xbb\xbf%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n", "a")),
        (Dense{{2.}}))
        << "byte order mark";
    EXPECT_EQ(read("real general", "0 0 0\n"), Dense{});
    EXPECT_EQ(read("real general", "2 3 0\n% nothing\n"), Dense(2, std::vector<double>(3, 0.)));
  }

  void expect_error(
      const std::string &text, int line, const std::string &part, const sparse::Room &room = {})
  {
    SCOPED_TRACE(text);
    try
    {
      parse_matrix_market(text, "some/file.mtx", room);
      ADD_FAILURE() << "was read";
    }
    catch (const MatrixMarketError &error)
    {
      const std::string message = error.what();
      EXPECT_EQ(message.rfind("some/file.mtx:" + std::to_string(line) + ": ", 0), 0u) << message;
      EXPECT_NE(message.find(part), std::string::npos) << message;
      EXPECT_LT(message.size(), 250u);
      EXPECT_EQ(message.find_first_of("\n\x1b"), std::string::npos);
    }
  }

  TEST(MatrixMarket, HeadersThatCannotBeRead)
  {
    expect_error("", 1, "empty");
    expect_error("\n", 1, "is ''");
    expect_error("%MatrixMarket matrix coordinate real general\n1 1 0\n", 1, "%%matrixmarket");
    expect_error("\x1b[31m\x07 binary", 1, "'?[31m?'");
    expect_error(std::string(1000, 'x'), 1, "...'");
    expect_error("%%MatrixMarket vector coordinate real general\n", 1, "readable: matrix");
    expect_error("%%MatrixMarket matrix array real general\n", 1, "readable: coordinate");
    expect_error(
        "%%MatrixMarket matrix coordinate complex general\n", 1, "real, double, integer, pattern");
    expect_error("%%MatrixMarket matrix coordinate real hermitian\n", 1, "skew-symmetric");
    expect_error("%%MatrixMarket matrix coordinate real\n1 1 0\n", 1, "the symmetry is ''");
    expect_error("%%MatrixMarket matrix coordinate real general more\n", 1, "'more' behind");
  }

  TEST(MatrixMarket, SizesThatCannotBeUsed)
  {
    const std::string header = "%%MatrixMarket matrix coordinate real general\n";
    expect_error(header, 1, "sizes is missing");
    expect_error(header + "% only\n% comments\n", 3, "sizes is missing");
    expect_error(header + "2 2\n", 2, "the number of entries is missing");
    expect_error(header + "2 2 1 1\n1 1 1\n", 2, "'1' behind");
    expect_error(header + "-1 2 1\n", 2, "the number of rows is '-1'");
    expect_error(header + "2.5 2 1\n", 2, "'2.5'");
    expect_error(header + "2 2147483647 1\n", 2, "0 to 2147483646");
    expect_error(header + "2 99999999999999999999999 1\n", 2, "the number of columns");
    expect_error(header + "2 2 2000000000\n1 1 1\n", 2, "do not fit into the 6 bytes");
    expect_error(
        "%%MatrixMarket matrix coordinate real symmetric\n2 3 0\n", 2, "2 rows and 3 columns");
  }

  TEST(MatrixMarket, SizesThatDoNotFitIntoMemory)
  {
    const std::string header = "%%MatrixMarket matrix coordinate real general\n";
    const sparse::Room room{0x1p32, 24., 8.};
    expect_error(header + "2000000000 1 1\n1 1 3\n", 2,
        "2000000000 rows, 1 columns and 1 entries take 52.2 GiB of memory, with vectors; 4 GiB are "
        "available",
        room);
    expect_error(header + "1 2000000000 1\n1 1 3\n", 2, "take 14.9 GiB", room);
    const sparse::Room little{1e5, 24., 8.};
    std::string entries = "%%MatrixMarket matrix coordinate real symmetric\n2 2 3000\n";
    for (int e = 0; e < 3000; ++e)
      entries += "2 1 1\n";
    expect_error(entries, 2, "available", little);
    EXPECT_EQ(parse_matrix_market(entries, "a", {1e6, 24., 8.}).entries(), 2);
  }

  TEST(MatrixMarket, SizesForWhichThereAreTooFewEntries)
  {
    const std::string header = "%%MatrixMarket matrix coordinate real general\n";
    sparse::Room room;
    room.most_sizes_per_entry = 1000.;
    expect_error(header + "1 1000001 1\n1 1 3\n", 2,
        "1 rows and 1000001 columns for 1 entries; allowed are 1000000 of each", room);
    EXPECT_EQ(parse_matrix_market(header + "1000000 1 1\n1 1 3\n", "a", room).rows, 1000000);
  }

  TEST(MatrixMarket, PackedFiles)
  {
    expect_error("\x1f\x8b\x08 more", 1, "compressed by gzip; unpack it first");
    expect_error(std::string("\xfd"
                             "7zXZ\0 more",
                     11),
        1, "compressed by xz; unpack it first (xz -dk)");
    expect_error("BZh91AY", 1, "bzip2");
    expect_error("\x28\xb5\x2f\xfd more", 1, "zstd");
    expect_error("PK\x03\x04 more", 1, "ZIP archive");
    std::string tar(512, 'a');
    tar.replace(257, 5, "ustar");
    expect_error(tar, 1, "tar archive; unpack it first");
  }

  TEST(MatrixMarket, EntriesThatCannotBeUsed)
  {
    const std::string header = "%%MatrixMarket matrix coordinate real general\n% a\n3 2 2\n";
    expect_error(header + "1 1 1\n\n%\n% end and more\n", 7, "after 1 entries");
    expect_error(header + "1 1 1\n2 2 2\n\n3 1 1\n", 7, "more than the 2 entries");
    expect_error(header + "0 1 1\n1 1 1\n", 4, "the row is '0'; allowed is an integer from 1 to 3");
    expect_error(header + "1 3 1\n1 1 1\n", 4, "the column is '3'");
    expect_error(header + "1 1 1\n4 1 1\n", 5, "the row is '4'");
    expect_error(header + "1 1 1\n1 -1 1\n", 5, "the column is '-1'");
    expect_error(header + "1 1 1\n1\n   \n      ", 5, "the column is missing");
    expect_error(header + "1 1 1\n1 1\n     ", 5, "the value is missing");
    expect_error(header + "1 1 1\n1 1 1.2.3\n", 5, "'1.2.3'");
    expect_error(header + "1 1 1\n1 1 nan\n", 5, "finite");
    expect_error(header + "1 1 1\n1 1 -inf\n", 5, "finite");
    expect_error(header + "1 1 1\n1 1 1e999\n", 5, "finite");
    expect_error(header + "1 1 1\n1 1 1 1\n", 5, "'1' behind");
    expect_error(header + "1 1 1\n1 1 0x10\n", 5, "'0x10'");
    for (const char *wrong : {"d", "1d", "d1", "1d2d3", "1e2d3", "1d0.5", "0xd"})
      expect_error(header + "1 1 1\n1 1 " + wrong + "\n", 5, "finite");
    expect_error(header + "1 1 1\n1 1 % no value\n", 5, "the value is missing");
    expect_error(header + "1 1 1e308\n1 1 1e308\n", 5,
        "row 1, column 1 adds up to more than double precision");
    const std::string integer = "%%MatrixMarket matrix coordinate integer general\n1 1 1\n";
    expect_error(integer + "1 1 1.5\n", 3, "integer of 64 bits");
    expect_error(integer + "1 1 9223372036854775808\n", 3, "integer of 64 bits");
    expect_error(
        "%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1 1\n", 3, "'1' behind");
  }

  TEST(MatrixMarket, TrianglesThatMayNotBeStored)
  {
    expect_error(
        "%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 1\n", 3, "above the diagonal");
    expect_error(
        "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n1 2 1\n", 3, "above");
    expect_error("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 2 1\n", 3,
        "on the diagonal");
    expect_error("%%MatrixMarket matrix coordinate pattern skew-symmetric\n2 2 1\n2 2\n", 3,
        "on the diagonal");
  }

  TEST(MatrixMarket, Files)
  {
    const test::TemporaryDirectory directory;
    const auto file = directory.path() / "m.mtx";
    const auto write = [&](const std::string &text) { std::ofstream(file) << text; };
    write("%%MatrixMarket matrix coordinate pattern general\n1 2 1\n1 2\n");
    EXPECT_EQ(dense(sparse::read_matrix_market(file)), (Dense{{0., 1.}}));
    const auto expect_complaint = [&](const std::filesystem::path &path, const std::string &part) {
      try
      {
        sparse::read_matrix_market(path);
        ADD_FAILURE() << path;
      }
      catch (const MatrixMarketError &error)
      {
        EXPECT_NE(std::string(error.what()).find(path.string()), std::string::npos);
        EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
      }
    };
    write("");
    expect_complaint(file, ":1: the file is empty");
    expect_complaint(directory.path() / "none.mtx", "No such file");
    expect_complaint(directory.path(), "directory");
    expect_complaint("/dev/zero", ":1: the begin of the file"); // has no end
  }
} // namespace
} // namespace tensormg
