#include "apps/parameters/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>

namespace tensormg
{
namespace
{
  constexpr std::string_view white_space = " \t\r\n\v\f";

  /// Number of insertions, deletions and replacements from one word to the other (Levenshtein).
  std::size_t edit_distance(std::string_view a, std::string_view b)
  {
    std::vector<std::size_t> row(b.size() + 1); // distances of a's beginning to all beginnings of b
    std::iota(row.begin(), row.end(), std::size_t(0));
    for (std::size_t i = 0; i < a.size(); ++i)
    {
      std::size_t diagonal = row[0];
      row[0] = i + 1;
      for (std::size_t j = 0; j < b.size(); ++j)
      {
        const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
        diagonal = row[j + 1];
        row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
      }
    }
    return row.back();
  }

  /// std::from_chars on all of `text`, with the leading '+' that it does not know.
  template <typename Number>
  std::optional<Number> parse_all(std::string_view text)
  {
    if (text.size() > 1 && text[0] == '+' && text[1] != '-')
      text.remove_prefix(1);
    Number value{};
    const char *end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stop != end)
      return std::nullopt;
    return value;
  }
} // namespace

std::string trim(std::string_view text)
{
  const std::size_t begin = text.find_first_not_of(white_space);
  if (begin == std::string_view::npos)
    return "";
  return std::string(text.substr(begin, text.find_last_not_of(white_space) - begin + 1));
}

std::vector<std::string> split(std::string_view text, char separator)
{
  std::vector<std::string> parts;
  if (trim(text).empty())
    return parts;
  while (true)
  {
    const std::size_t end = text.find(separator);
    parts.push_back(trim(text.substr(0, end)));
    if (end == std::string_view::npos)
      return parts;
    text.remove_prefix(end + 1);
  }
}

std::string join(const std::vector<std::string> &parts, const std::string &separator)
{
  std::string text;
  for (const std::string &part : parts)
    text += (&part == &parts.front() ? "" : separator) + part;
  return text;
}

std::optional<double> to_number(std::string_view text)
{
  const std::optional<double> value = parse_all<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<std::int64_t> to_integer(std::string_view text)
{
  return parse_all<std::int64_t>(text);
}

std::string to_text(double value)
{
  std::array<char, 32> buffer{};
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return std::string(buffer.data(), result.ptr);
}

std::string nearest(std::string_view text, const std::vector<std::string> &candidates)
{
  // An abbreviation is more likely than a misspelling, unless it is only a letter.
  std::string best;
  for (const std::string &candidate : candidates)
    if (text.size() > 1 && candidate.starts_with(text) &&
        (best.empty() || candidate.size() < best.size()))
      best = candidate;
  if (!best.empty())
    return best;
  std::size_t best_distance = std::numeric_limits<std::size_t>::max();
  for (const std::string &candidate : candidates)
  {
    // Further away than this, it is another word and no misspelling.
    const std::size_t farthest = std::max<std::size_t>(2, candidate.size() / 3);
    if (text.size() > candidate.size() + farthest)
      continue;
    const std::size_t distance = edit_distance(text, candidate);
    if (distance <= farthest && distance < best_distance && distance < candidate.size())
    {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string one_with(std::string_view part, const std::vector<std::string> &candidates)
{
  constexpr std::size_t shortest_part = 4;
  if (part.size() >= shortest_part)
    for (const std::string &candidate : candidates)
      if (candidate.find(part) != std::string::npos)
        return candidate;
  return "";
}

std::string suggestion(std::string_view text, const std::vector<std::string> &candidates)
{
  const std::string guess = nearest(text, candidates);
  return guess.empty() ? "" : " (did you mean '" + guess + "'?)";
}

std::string complaint_about_word(std::string_view text, const std::vector<std::string> &known)
{
  return "is not a known word" + suggestion(text, known);
}
} // namespace tensormg
