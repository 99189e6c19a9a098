#include "kernels/diagnostics/sparse/text_lines.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "kernels/diagnostics/sparse/matrix_market.h"

namespace tensormg::sparse
{
namespace
{
  using namespace std::string_view_literals;

  bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

  struct Container
  {
    std::string_view magic;
    const char *what; ///< "compressed by gzip"
    const char *unpack;
  };
  constexpr std::array containers{Container{"\x1f\x8b"sv, "compressed by gzip", "gzip -dk"},
      Container{"\xfd"
                "7zXZ\0"sv,
          "compressed by xz", "xz -dk"},
      Container{"BZh"sv, "compressed by bzip2", "bzip2 -dk"},
      Container{"\x28\xb5\x2f\xfd"sv, "compressed by zstd", "zstd -d"},
      Container{"PK\x03\x04"sv, "a ZIP archive", "unzip"},
      Container{"7z\xbc\xaf\x27\x1c"sv, "a 7z archive", "7z x"}};

} // namespace

bool Lines::next()
{
  if (rest_.empty())
    return false;
  const std::size_t end = std::min(rest_.find('\n'), rest_.size());
  line_ = rest_.substr(0, end);
  rest_.remove_prefix(std::min(end + 1, rest_.size()));
  ++number_;
  return true;
}

bool Lines::next_with_content()
{
  while (next())
  {
    line_ = line_.substr(0, line_.find('%'));
    if (!peek().empty())
      return true;
  }
  return false;
}

std::string_view Lines::word()
{
  const std::string_view found = peek();
  line_.remove_prefix(static_cast<std::size_t>(found.data() + found.size() - line_.data()));
  return found;
}

void Lines::fail(const std::string &text) const
{
  throw MatrixMarketError(
      name_ + ':' + std::to_string(std::max<std::int64_t>(1, number_)) + ": " + text);
}

void Lines::expect_end()
{
  if (const std::string_view more = word(); !more.empty() && more[0] != '%')
    fail(quoted(more) + " behind what the line should hold");
}

std::string Lines::quoted(std::string_view word)
{
  std::string text = "'";
  for (const char c : word.substr(0, 40))
    text += std::isprint(static_cast<unsigned char>(c)) != 0 ? c : '?';
  return text + (word.size() > 40 ? "...'" : "'");
}

std::string_view Lines::peek()
{
  while (!line_.empty() && is_blank(line_.front()))
    line_.remove_prefix(1);
  std::size_t end = 0;
  while (end < line_.size() && !is_blank(line_[end]))
    ++end;
  return line_.substr(0, end);
}

std::string_view without_byte_order_mark(std::string_view text)
{
  return text.starts_with("\xef\xbb\xbf") ? text.substr(3) : text;
}

void refuse_packed(std::string_view text, const Lines &lines)
{
  for (const Container &container : containers)
    if (text.starts_with(container.magic))
      lines.fail(std::string("the file is ") + container.what + "; unpack it first (" +
          container.unpack + ")");
  constexpr std::size_t tar_magic = 257;
  if (text.size() > tar_magic && text.substr(tar_magic).starts_with("ustar"))
    lines.fail("the file is a tar archive; unpack it first (tar -xf)");
}
} // namespace tensormg::sparse
