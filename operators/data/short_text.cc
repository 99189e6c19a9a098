#include "operators/data/short_text.h"

#include <algorithm>
#include <cstddef>

namespace tensormg
{
namespace
{
  constexpr std::size_t longest = 100;

  /// Not inside of a character of UTF-8.
  std::size_t boundary_before(const std::string &text, std::size_t at)
  {
    const std::size_t least = at - std::min<std::size_t>(at, 3);
    std::size_t boundary = at;
    while (boundary > least && (static_cast<unsigned char>(text[boundary]) & 0xC0U) == 0x80U)
      --boundary;
    return boundary;
  }

  std::string in_one_line(std::string text)
  {
    std::replace_if(
        text.begin(), text.end(), [](unsigned char c) { return c < ' '; }, ' ');
    return text;
  }
} // namespace

std::string cut(const std::string &text)
{
  if (text.size() <= longest)
    return in_one_line(text);
  return in_one_line(text.substr(0, boundary_before(text, longest))) + "... (" +
      std::to_string(text.size()) + " characters)";
}

std::string cut_middle(const std::string &text)
{
  if (text.size() <= 2 * longest)
    return in_one_line(text);
  return in_one_line(text.substr(0, boundary_before(text, longest)) + " ... " +
      text.substr(boundary_before(text, text.size() - longest)));
}
} // namespace tensormg
