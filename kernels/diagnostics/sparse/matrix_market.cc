#include "kernels/diagnostics/sparse/matrix_market.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <new>
#include <system_error>
#include <vector>

#include "kernels/diagnostics/sparse/text_lines.h"

namespace tensormg::sparse
{
namespace
{
  enum class Field : std::uint8_t
  {
    real,
    integer,
    pattern
  };
  enum class Symmetry : std::uint8_t
  {
    general,
    symmetric,
    skew
  };

  struct Entry
  {
    std::int32_t row, column;
    double value;
  };

  /// A number that is the whole word; a plus sign may stand before it.
  template <typename Number>
  bool read_number(std::string_view word, Number &value)
  {
    if (word.size() > 1 && word[0] == '+' && word[1] != '-')
      word.remove_prefix(1);
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    return error == std::errc() && end == word.data() + word.size();
  }

  std::int64_t read_integer(Lines &lines, const char *what, std::int64_t lower, std::int64_t upper)
  {
    const std::string_view word = lines.word();
    std::int64_t value = 0;
    if (word.empty())
      lines.fail(std::string(what) + " is missing");
    if (!read_number(word, value) || value < lower || value > upper)
      lines.fail(std::string(what) + " is " + Lines::quoted(word) +
          "; allowed is an integer from " + std::to_string(lower) + " to " + std::to_string(upper));
    return value;
  }

  /// Also with the exponents of Fortran in double precision, 1d0 and 1D+3.
  bool read_real(std::string_view word, double &value)
  {
    const std::size_t exponent = word.find_first_of("dD");
    if (exponent == std::string_view::npos)
      return read_number(word, value);
    std::string text(word);
    text[exponent] = 'e';
    return read_number(std::string_view(text), value);
  }

  double read_value(Lines &lines, Field field)
  {
    if (field == Field::pattern)
      return 1.;
    const std::string_view word = lines.word();
    if (word.empty())
      lines.fail("the value is missing");
    double value = 0.;
    if (field == Field::integer)
    {
      std::int64_t integer = 0;
      if (!read_number(word, integer))
        lines.fail("the value is " + Lines::quoted(word) + "; allowed is an integer of 64 bits");
      value = static_cast<double>(integer);
    }
    else if (!read_real(word, value) || !std::isfinite(value))
      lines.fail("the value is " + Lines::quoted(word) +
          "; allowed is a finite number of double precision");
    return value;
  }

  template <typename Enum, std::size_t n>
  Enum read_word(
      Lines &lines, const char *what, const std::array<std::pair<std::string_view, Enum>, n> &known)
  {
    const std::string_view word = lines.word();
    std::string lower(word), list;
    std::transform(lower.begin(), lower.end(), lower.begin(),
        [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    for (const auto &[name, value] : known)
    {
      if (lower == name)
        return value;
      list += (list.empty() ? "" : ", ") + std::string(name);
    }
    lines.fail(std::string(what) + " is " + Lines::quoted(word) + "; readable: " + list);
  }

  struct Header
  {
    Field field = Field::real;
    Symmetry symmetry = Symmetry::general;
    std::int64_t rows = 0, columns = 0, entries = 0;
  };

  std::string in_gib(double bytes)
  {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.3g GiB", bytes * 0x1p-30);
    return text.data();
  }

  /// No memory on trust: neither for entries that the file cannot have nor for more than there is.
  void check_sizes(const Lines &lines, const Header &header, std::size_t text, const Room &room)
  {
    // "1 1" and a line break is the shortest entry.
    const std::size_t shortest = header.field == Field::pattern ? 4 : 6;
    if (static_cast<std::size_t>(header.entries) * shortest > lines.bytes_left() + 1)
      lines.fail(std::to_string(header.entries) + " entries do not fit into the " +
          std::to_string(lines.bytes_left()) + " bytes behind this line");
    const double triangles = header.symmetry == Symmetry::general ? 1. : 2.;
    const auto rows = static_cast<double>(header.rows),
               columns = static_cast<double>(header.columns),
               entries = triangles * static_cast<double>(header.entries);
    if (const double most = std::max(
            1e6, room.most_sizes_per_entry * std::max(1., static_cast<double>(header.entries)));
        std::max(rows, columns) > most)
      lines.fail(std::to_string(header.rows) + " rows and " + std::to_string(header.columns) +
          " columns for " + std::to_string(header.entries) + " entries; allowed are " +
          std::to_string(std::llround(most)) + " of each");
    const double matrix = matrix_bytes(header.rows, 0, 8) + (4. + 8.) * entries;
    // Entries are sorted with as many again of them, if there is room.
    const double reading = static_cast<double>(text) + 1.5 * sizeof(Entry) * entries;
    const double beside =
        room.per_row * rows + room.per_column * columns + room.per_entry * entries;
    const double needed = matrix + std::max(reading, beside);
    if (needed > room.bytes)
      lines.fail(std::to_string(header.rows) + " rows, " + std::to_string(header.columns) +
          " columns and " + std::to_string(header.entries) + " entries take " + in_gib(needed) +
          " of memory" + (beside > reading ? ", with vectors" : "") + "; " + in_gib(room.bytes) +
          " are available");
  }

  void read_banner(Lines &lines)
  {
    if (!lines.next())
      lines.fail("the file is empty; it should begin with %%MatrixMarket");
    read_word<int, 1>(lines, "the begin of the file", {{{"%%matrixmarket", 0}}});
  }

  Header read_header(Lines &lines)
  {
    Header header;
    read_banner(lines);
    read_word<int, 1>(lines, "the object", {{{"matrix", 0}}});
    read_word<int, 1>(lines, "the format", {{{"coordinate", 0}}});
    header.field = read_word<Field, 4>(lines, "the field",
        {{{"real", Field::real}, {"double", Field::real}, {"integer", Field::integer},
            {"pattern", Field::pattern}}});
    header.symmetry = read_word<Symmetry, 3>(lines, "the symmetry",
        {{{"general", Symmetry::general}, {"symmetric", Symmetry::symmetric},
            {"skew-symmetric", Symmetry::skew}}});
    lines.expect_end();
    if (!lines.next_with_content())
      lines.fail("the line with the sizes is missing");
    header.rows = read_integer(lines, "the number of rows", 0, max_size);
    header.columns = read_integer(lines, "the number of columns", 0, max_size);
    header.entries = read_integer(lines, "the number of entries", 0, max_size);
    lines.expect_end();
    if (header.symmetry != Symmetry::general && header.rows != header.columns)
      lines.fail("a symmetric matrix with " + std::to_string(header.rows) + " rows and " +
          std::to_string(header.columns) + " columns");
    return header;
  }

  Entry read_entry(Lines &lines, const Header &header)
  {
    Entry entry{};
    entry.row = static_cast<std::int32_t>(read_integer(lines, "the row", 1, header.rows) - 1);
    entry.column =
        static_cast<std::int32_t>(read_integer(lines, "the column", 1, header.columns) - 1);
    entry.value = read_value(lines, header.field);
    lines.expect_end();
    if (header.symmetry != Symmetry::general && entry.column > entry.row)
      lines.fail("an entry above the diagonal, although the matrix is symmetric: only the lower "
                 "triangle may be stored");
    if (header.symmetry == Symmetry::skew && entry.column == entry.row && entry.value != 0.)
      lines.fail("an entry on the diagonal that is not 0, although the matrix is skew-symmetric");
    return entry;
  }

  std::vector<Entry> read_entries(Lines &lines, const Header &header)
  {
    std::vector<Entry> entries;
    entries.reserve(static_cast<std::size_t>(header.entries));
    for (std::int64_t e = 0; e < header.entries; ++e)
    {
      if (!lines.next_with_content())
        lines.fail("the file ends after " + std::to_string(e) + " entries; its header announces " +
            std::to_string(header.entries));
      entries.push_back(read_entry(lines, header));
    }
    if (lines.next_with_content())
      lines.fail(
          "more than the " + std::to_string(header.entries) + " entries that the header announces");
    return entries;
  }

  /// Both triangles of what may be stored as one.
  void mirror(std::vector<Entry> &entries, const Header &header, const Lines &lines)
  {
    if (header.symmetry == Symmetry::general)
      return;
    const double sign = header.symmetry == Symmetry::skew ? -1. : 1.;
    const std::size_t stored = entries.size();
    std::size_t mirrored = 0;
    for (const Entry &entry : entries)
      mirrored += entry.row != entry.column ? 1 : 0;
    if (stored + mirrored > static_cast<std::size_t>(max_size))
      lines.fail(std::to_string(stored + mirrored) + " entries in both triangles; at most " +
          std::to_string(max_size) + " can be used");
    entries.reserve(stored + mirrored);
    for (std::size_t e = 0; e < stored; ++e)
      if (const Entry entry = entries[e]; entry.row != entry.column)
        entries.push_back({entry.column, entry.row, sign * entry.value});
  }

  /// Sorted into rows and by columns, entries at the same place added.
  SparseMatrix<double> compress(
      std::vector<Entry> &entries, const Header &header, const Lines &lines)
  {
    std::stable_sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) {
      return a.row != b.row ? a.row < b.row : a.column < b.column;
    });
    std::size_t used = 0;
    for (std::size_t e = 0; e < entries.size(); ++e)
      if (used > 0 && entries[used - 1].row == entries[e].row &&
          entries[used - 1].column == entries[e].column)
        entries[used - 1].value += entries[e].value;
      else
        entries[used++] = entries[e];
    for (std::size_t e = 0; e < used; ++e)
      if (!std::isfinite(entries[e].value))
        lines.fail("what is given for row " + std::to_string(entries[e].row + 1) + ", column " +
            std::to_string(entries[e].column + 1) + " adds up to more than double precision holds");
    SparseMatrix<double> matrix;
    matrix.rows = static_cast<std::int32_t>(header.rows);
    matrix.columns = static_cast<std::int32_t>(header.columns);
    matrix.row_begin = Array<std::int32_t>(header.rows + 1);
    matrix.column = Array<std::int32_t>(static_cast<std::int64_t>(used));
    matrix.value = Array<double>(static_cast<std::int64_t>(used));
    for (std::size_t e = 0; e < used; ++e)
    {
      ++matrix.row_begin[entries[e].row + 1];
      matrix.column[static_cast<std::int64_t>(e)] = entries[e].column;
      matrix.value[static_cast<std::int64_t>(e)] = entries[e].value;
    }
    for (std::int32_t row = 0; row < matrix.rows; ++row)
      matrix.row_begin[row + 1] += matrix.row_begin[row];
    return matrix;
  }

  /// The whole text of a file or pipe, no more than there is room for; what is no matrix is found out at once.
  std::string read_text(const std::string &name, const Room &room)
  {
    errno = 0;
    std::ifstream stream(name, std::ios::binary);
    std::string text;
    std::error_code unknown;
    if (const std::uintmax_t size = std::filesystem::file_size(name, unknown);
        !unknown && static_cast<double>(size) < room.bytes)
      text.reserve(size); // not of a pipe
    constexpr std::size_t at_once = std::size_t(1) << 24;
    while (stream)
    {
      const std::size_t known = text.size();
      if (static_cast<double>(known + at_once) > std::max(room.bytes, 2. * at_once))
        throw MatrixMarketError(name + ": its text alone takes more than " +
            in_gib(static_cast<double>(known)) + " of memory; " + in_gib(room.bytes) +
            " are available");
      text.resize(known + at_once);
      stream.read(text.data() + known, static_cast<std::streamsize>(at_once));
      text.resize(known + static_cast<std::size_t>(stream.gcount()));
      if (known == 0)
      {
        Lines lines(without_byte_order_mark(text), name);
        refuse_packed(text, lines);
        if (!text.empty())
          read_banner(lines);
      }
    }
    if (!stream.eof())
      throw MatrixMarketError(name + ": cannot be read: " + std::generic_category().message(errno));
    return text;
  }
} // namespace

SparseMatrix<double> parse_matrix_market(
    std::string_view text, const std::string &name, const Room &room)
{
  Lines lines(without_byte_order_mark(text), name);
  try
  {
    refuse_packed(text, lines);
    const Header header = read_header(lines);
    check_sizes(lines, header, text.size(), room);
    std::vector<Entry> entries = read_entries(lines, header);
    mirror(entries, header, lines);
    return compress(entries, header, lines);
  }
  catch (const std::bad_alloc &)
  {
    lines.fail("there is not enough memory for this matrix");
  }
}

SparseMatrix<double> read_matrix_market(const std::filesystem::path &file, const Room &room)
{
  std::error_code error;
  if (std::filesystem::is_directory(file, error))
    throw MatrixMarketError(file.string() + ": is a directory");
  try
  {
    return parse_matrix_market(read_text(file.string(), room), file.string(), room);
  }
  catch (const std::bad_alloc &)
  {
    throw MatrixMarketError(file.string() + ": there is not enough memory for its text");
  }
}
} // namespace tensormg::sparse
