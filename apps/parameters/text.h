// Small functions on the text of parameters: trimming, lists, numbers, spelling.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operators/data/short_text.h"

namespace tensormg
{
/// Without white space at both ends.
std::string trim(std::string_view text);

/// The trimmed parts between separators; "" has no parts, "a,,b" has an empty one.
std::vector<std::string> split(std::string_view text, char separator);

std::string join(const std::vector<std::string> &parts, const std::string &separator);

/// The number that makes up the whole of `text`; nothing if there is more or less, or not finite.
std::optional<double> to_number(std::string_view text);
std::optional<std::int64_t> to_integer(std::string_view text);

/// The shortest text that reads back as the same number.
std::string to_text(double value);

/// The shortest candidate that begins with `text`, or the one with the fewest edits from it; empty if none resembles it.
std::string nearest(std::string_view text, const std::vector<std::string> &candidates);

/// The first candidate with this part; empty if there is none, or the part is so short that it says nothing.
std::string one_with(std::string_view part, const std::vector<std::string> &candidates);

/// " (did you mean 'WORD'?)" with the nearest candidate; empty if none resembles the text.
std::string suggestion(std::string_view text, const std::vector<std::string> &candidates);

/// "is not a known word", with a suggestion.
std::string complaint_about_word(std::string_view text, const std::vector<std::string> &known);
} // namespace tensormg
