#include "operators/sparse/matrix_market.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <new>
#include <sstream>
#include <system_error>
#include <vector>

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

  bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

  /// A text line by line, each cut into words.
  class Lines
  {
  public:
    Lines(std::string_view text, std::string name)
      : rest_(text)
      , name_(std::move(name))
    {}

    /// The next line, whatever it is; false at the end.
    bool next()
    {
      if (rest_.empty())
        return false;
      const std::size_t end = std::min(rest_.find('\n'), rest_.size());
      line_ = rest_.substr(0, end);
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      ++number_;
      return true;
    }

    /// The next line that is neither empty nor a comment.
    bool next_with_content()
    {
      while (next())
      {
        const std::string_view word = peek();
        if (!word.empty() && word[0] != '%')
          return true;
      }
      return false;
    }

    /// Takes the next word of the line; empty if there is none.
    std::string_view word()
    {
      const std::string_view found = peek();
      line_.remove_prefix(static_cast<std::size_t>(found.data() + found.size() - line_.data()));
      return found;
    }

    [[noreturn]] void fail(const std::string &text) const
    {
      throw MatrixMarketError(
          name_ + ':' + std::to_string(std::max<std::int64_t>(1, number_)) + ": " + text);
    }

    void expect_end()
    {
      if (const std::string_view more = word(); !more.empty())
        fail(quoted(more) + " behind what the line should hold");
    }

    /// A word for a message: short, and without bytes that a terminal would obey.
    static std::string quoted(std::string_view word)
    {
      std::string text = "'";
      for (const char c : word.substr(0, 40))
        text += std::isprint(static_cast<unsigned char>(c)) != 0 ? c : '?';
      return text + (word.size() > 40 ? "...'" : "'");
    }

    std::size_t bytes_left() const { return rest_.size(); }

  private:
    std::string_view peek()
    {
      while (!line_.empty() && is_blank(line_.front()))
        line_.remove_prefix(1);
      std::size_t end = 0;
      while (end < line_.size() && !is_blank(line_[end]))
        ++end;
      return line_.substr(0, end);
    }

    std::string_view rest_, line_;
    std::string name_;
    std::int64_t number_ = 0;
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
    else if (!read_number(word, value) || !std::isfinite(value))
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

  Header read_header(Lines &lines)
  {
    Header header;
    if (!lines.next())
      lines.fail("the file is empty; it should begin with %%MatrixMarket");
    read_word<int, 1>(lines, "the begin of the file", {{{"%%matrixmarket", 0}}});
    read_word<int, 1>(lines, "the object", {{{"matrix", 0}}});
    read_word<int, 1>(lines, "the format", {{{"coordinate", 0}}});
    header.field = read_word<Field, 3>(lines, "the field",
        {{{"real", Field::real}, {"integer", Field::integer}, {"pattern", Field::pattern}}});
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
    // No memory on trust: "1 1" and a line break is the shortest entry.
    const std::size_t shortest = header.field == Field::pattern ? 4 : 6;
    if (static_cast<std::size_t>(header.entries) * shortest > lines.bytes_left() + 1)
      lines.fail(std::to_string(header.entries) + " entries do not fit into the " +
          std::to_string(lines.bytes_left()) + " bytes behind this line");
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
    if (header.symmetry == Symmetry::skew && entry.column == entry.row)
      lines.fail("an entry on the diagonal, although the matrix is skew-symmetric");
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
  SparseMatrix<double> compress(std::vector<Entry> &entries, const Header &header)
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
} // namespace

SparseMatrix<double> parse_matrix_market(std::string_view text, const std::string &name)
{
  Lines lines(text, name);
  try
  {
    const Header header = read_header(lines);
    std::vector<Entry> entries = read_entries(lines, header);
    mirror(entries, header, lines);
    return compress(entries, header);
  }
  catch (const std::bad_alloc &)
  {
    lines.fail("there is not enough memory for this matrix");
  }
}

SparseMatrix<double> read_matrix_market(const std::filesystem::path &file)
{
  std::error_code error;
  if (std::filesystem::is_directory(file, error))
    throw MatrixMarketError(file.string() + ": is a directory");
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  if (stream)
    text << stream.rdbuf();
  if (!stream || stream.bad() || (text.fail() && stream.peek() != std::char_traits<char>::eof()))
    throw MatrixMarketError(
        file.string() + ": cannot be read: " + std::generic_category().message(errno));
  return parse_matrix_market(text.view(), file.string());
}
} // namespace tensormg::sparse
