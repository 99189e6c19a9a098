// How entries of the parameter table are made: a typed value, its limits and words, its member.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/parameters/table.h"
#include "apps/parameters/text.h"
#include "apps/parameters/values.h"
#include "apps/parameters/words.h"

namespace tensormg
{
using PatternPointer = std::shared_ptr<const dealii::Patterns::PatternBase>;

// What deal.II accepts; the entry's read() may be stricter, and says what is wrong.
PatternPointer number_pattern(double lower, double upper);
PatternPointer integer_pattern(int lower, int upper);
PatternPointer words_pattern(const std::vector<std::string> &list);
PatternPointer any_pattern();

inline constexpr int max_int = std::numeric_limits<int>::max();

/// An interval of the real line; `open` ends do not belong to it.
struct Range
{
  double lower = -std::numeric_limits<double>::max();
  double upper = std::numeric_limits<double>::max();
  bool open_lower = false;
  bool open_upper = false;

  bool contains(double x) const
  {
    return (open_lower ? x > lower : x >= lower) && (open_upper ? x < upper : x <= upper);
  }
  std::string text() const
  {
    std::string text = "a number";
    if (lower > -std::numeric_limits<double>::max())
      text += (open_lower ? " > " : " >= ") + to_text(lower);
    if (upper < std::numeric_limits<double>::max())
      text += (open_upper ? " and < " : " and <= ") + to_text(upper);
    return text;
  }
};

inline Range above(double lower) { return {.lower = lower, .open_lower = true}; }

inline Range at_least(double lower) { return {.lower = lower}; }

template <typename Enum>
std::string read_word(Enum &value, const std::string &text)
{
  const std::optional<Enum> found = from_word<Enum>(text);
  if (!found)
    return complaint_about_word(text, first_column(words<Enum>));
  value = *found;
  return "";
}

/// One section of the file, kept in the struct that `access` finds in the parameters.
template <typename Access>
class Section
{
public:
  Section(std::vector<ParameterEntry> &table, std::string name, Access access)
    : table_(table)
    , name_(std::move(name))
    , access_(access)
  {}

  template <typename Struct>
  void number(const char *key, double Struct::*member, Range range, const char *description) const
  {
    add(
        key, description, range.text(), number_pattern(range.lower, range.upper),
        [=](auto &data, const std::string &text) -> std::string {
          const std::optional<double> value = to_number(text);
          if (!value)
            return "is not a finite number of double precision";
          if (!range.contains(*value))
            return "is out of range";
          data.*member = *value;
          return "";
        },
        [=](const auto &data) { return to_text(data.*member); });
  }

  template <typename Integer, typename Struct>
  void integer(
      const char *key, Integer Struct::*member, int lower, int upper, const char *description) const
  {
    const std::string first = std::to_string(lower);
    const std::string last = std::to_string(upper);
    const std::string allowed = upper == max_int ? "an integer >= " + first
        : upper == lower + 1                     ? first + " or " + last
                                                 : "an integer from " + first + " to " + last;
    add(
        key, description, allowed, integer_pattern(lower, upper),
        [=](auto &data, const std::string &text) -> std::string {
          const std::optional<std::int64_t> value = to_integer(text);
          if (!value)
            return "is not an integer";
          if (*value < lower || *value > upper)
            return "is out of range";
          data.*member = static_cast<Integer>(*value);
          return "";
        },
        [=](const auto &data) { return std::to_string(data.*member); });
  }

  template <typename Struct>
  void boolean(const char *key, bool Struct::*member, const char *description) const
  {
    add(
        key, description, "true or false", words_pattern({"true", "false"}),
        [=](auto &data, const std::string &text) -> std::string {
          if (text != "true" && text != "false")
            return "is neither true nor false";
          data.*member = text == "true";
          return "";
        },
        [=](const auto &data) { return data.*member ? "true" : "false"; });
  }

  template <typename Enum, typename Struct>
  void word(const char *key, Enum Struct::*member, const char *description) const
  {
    const std::vector<std::string> known = first_column(words<Enum>);
    add(
        key, description, join(known, ", "), words_pattern(known),
        [=](auto &data, const std::string &text) { return read_word(data.*member, text); },
        [=](const auto &data) { return to_word(data.*member); });
  }

  template <typename Struct>
  void text(const char *key, std::string Struct::*member, const char *allowed,
      const char *description) const
  {
    add(
        key, description, allowed, any_pattern(),
        [=](auto &data, const std::string &text) {
          data.*member = text;
          return "";
        },
        [=](const auto &data) { return data.*member; });
  }

  /// Increasing integers from `lower` to `upper`.
  template <typename Integer, typename Struct>
  void increasing(const char *key, std::vector<Integer> Struct::*member, std::int64_t lower,
      std::int64_t upper, const char *description) const
  {
    add(
        key, description,
        "an increasing list of integers from " + std::to_string(lower) + " to " +
            std::to_string(upper),
        any_pattern(),
        [=](auto &data, const std::string &text) {
          return read_increasing(data.*member, lower, upper, text);
        },
        [=](const auto &data) { return write_list(data.*member); });
  }

  /// Different words of a list. `when_empty`: on what condition there may be none; empty: never.
  template <typename Struct, typename Known>
  void word_list(const char *key, std::vector<std::string> Struct::*member, const Known &known,
      const char *description, const std::string &when_empty = "") const
  {
    const std::vector<std::string> list(known.begin(), known.end());
    add(
        key, description,
        "a list of " + join(list, ", ") + (when_empty.empty() ? "" : ", or nothing " + when_empty),
        any_pattern(),
        [=](auto &data, const std::string &text) -> std::string {
          const std::string complaint = read_words(data.*member, list, text);
          return text.empty() && !when_empty.empty() ? "" : complaint;
        },
        [=](const auto &data) { return join(data.*member, ", "); });
  }

  /// Any other type; read(data, text) and write(data) see the section's struct.
  template <typename Read, typename Write>
  ParameterEntry &add(const std::string &key, const std::string &description,
      const std::string &allowed, PatternPointer pattern, Read read, Write write) const
  {
    const Access access = access_;
    table_.push_back({name_, key, description, allowed, std::move(pattern),
        [=](Parameters &p, const std::string &text) -> std::string {
          return read(access(p), text);
        },
        [=](const Parameters &p) -> std::string { return write(access(p)); }});
    return table_.back();
  }

private:
  std::vector<ParameterEntry> &table_;
  std::string name_;
  Access access_;
};
} // namespace tensormg
