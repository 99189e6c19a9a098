#include "apps/parameters/file.h"

#include <algorithm>
#include <cctype>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include <nlohmann/json.hpp>

#include "apps/parameters/parameters.h"
#include "apps/parameters/text.h"

namespace tensormg
{
namespace
{
  using Json = nlohmann::ordered_json;

  /// Without the mark that editors on Windows put in front.
  std::string without_mark(const std::string &text, const std::string &file)
  {
    const std::string utf8 = "\xEF\xBB\xBF", utf16[] = {"\xFF\xFE", "\xFE\xFF"};
    if (text.starts_with(utf16[0]) || text.starts_with(utf16[1]))
      throw ParameterError(file + ": is text in UTF-16; allowed: UTF-8 or ASCII");
    return text.starts_with(utf8) ? text.substr(utf8.size()) : text;
  }

  std::string read_text(const std::string &file)
  {
    const std::filesystem::path path(file);
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::status(path, error);
    if (!std::filesystem::exists(status))
      throw ParameterError(file + ": there is no such file");
    if (std::filesystem::is_directory(status))
      throw ParameterError(file + ": is a directory; a parameter file (.prm or .json) is needed");
    std::ifstream stream(path, std::ios::binary);
    std::ostringstream text;
    // Copying nothing fails, so an empty file is left out of the check.
    if (stream && stream.peek() != std::ifstream::traits_type::eof())
      text << stream.rdbuf();
    if (!stream.is_open() || stream.bad() || !text)
      throw ParameterError(file + ": cannot be read");
    return without_mark(text.str(), file);
  }

  /// The rest of `line` after the keyword in lower or upper case, as deal.II reads it.
  std::optional<std::string> after_keyword(const std::string &line, const std::string &keyword)
  {
    const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
    std::string word = line.substr(0, end);
    if (std::none_of(
            word.begin(), word.end(), [](unsigned char c) { return std::islower(c) != 0; }))
      std::transform(word.begin(), word.end(), word.begin(),
          [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (word != keyword)
      return std::nullopt;
    return trim(line.substr(end));
  }

  /// The .prm format: 'subsection NAME' ... 'end', 'set KEY = VALUE', comments from '#' on, and a
  /// backslash at the end of a line that goes on in the next one.
  class PrmReader
  {
  public:
    explicit PrmReader(std::string file)
      : file_(std::move(file))
    {}

    std::vector<Assignment> read(const std::string &text)
    {
      std::istringstream stream(text);
      std::string line;
      std::string pending; // what the lines before continue into this one
      int number = 0;
      int first = 1; // line in which `pending` began
      while (std::getline(stream, line))
      {
        ++number;
        if (pending.empty())
          first = number;
        line = trim(line.substr(0, line.find('#')));
        const bool goes_on = !line.empty() && line.back() == '\\';
        if (goes_on)
          line.pop_back();
        pending += line;
        if (!goes_on)
        {
          read_line(trim(pending), place(first));
          pending.clear();
        }
      }
      if (!trim(pending).empty())
        throw ParameterError(place(first) + ": the last line ends with a backslash");
      if (!open_.empty())
        throw ParameterError(open_.back().second + ": subsection '" + cut(open_.back().first) +
            "' is not closed by 'end'");
      return std::move(assignments_);
    }

  private:
    std::string place(int line) const { return file_ + ":" + std::to_string(line); }

    void read_line(const std::string &line, const std::string &where)
    {
      if (line.empty())
        return;
      if (const auto name = after_keyword(line, "subsection"); name && !name->empty())
        open_.emplace_back(*name, where);
      else if (line == "end" || line == "END")
      {
        if (open_.empty())
          throw ParameterError(where + ": 'end' without a subsection");
        open_.pop_back();
      }
      else if (const auto setting = after_keyword(line, "set");
               setting && setting->find('=') != std::string::npos && setting->front() != '=')
      {
        const std::size_t equals = setting->find('=');
        std::vector<std::string> sections;
        for (const auto &section : open_)
          sections.push_back(section.first);
        assignments_.push_back({join(sections, "."), trim(setting->substr(0, equals)),
            {trim(setting->substr(equals + 1))}, where});
      }
      else if (after_keyword(line, "include"))
        throw ParameterError(
            where + ": 'include' is not supported; put all parameters into one file");
      else
        throw ParameterError(where + ": cannot read '" + cut(line) +
            "'; allowed: subsection NAME, set KEY = VALUE, end, and # comments");
    }

    std::string file_;
    std::vector<std::pair<std::string, std::string>> open_; // subsections: name, place
    std::vector<Assignment> assignments_;
  };

  /// Text of a number, word or truth value; nothing for lists, objects and null.
  std::optional<std::string> scalar_text(const Json &value)
  {
    if (value.is_string())
      return trim(value.get<std::string>());
    if (value.is_number() || value.is_boolean())
      return value.dump();
    return std::nullopt;
  }

  /// Counts the lines of a text while a parser reads it.
  class LineCounter
  {
  public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char *;
    using reference = const char &;

    LineCounter(const char *at, int *line)
      : at_(at)
      , line_(line)
    {}
    const char &operator*() const { return *at_; }
    LineCounter &operator++()
    {
      *line_ += *at_ == '\n' ? 1 : 0;
      ++at_;
      return *this;
    }
    bool operator==(const LineCounter &other) const { return at_ == other.at_; }

  private:
    const char *at_;
    int *line_;
  };

  /// `places`: where the keys stand, in the order of the document; those that are used are removed.
  void collect_json(const Json &object, const std::string &section, std::deque<std::string> &places,
      std::vector<Assignment> &assignments)
  {
    for (const auto &[key, value] : object.items())
    {
      Assignment assignment{section, key, {}, places.front()};
      places.pop_front();
      if (value.is_object())
      {
        collect_json(value, assignment.name(), places, assignments);
        continue;
      }
      bool usable = value.is_array() || scalar_text(value);
      for (const Json &item : value.is_array() ? value : Json::array({value}))
      {
        usable = usable && scalar_text(item);
        assignment.items.push_back(scalar_text(item).value_or(""));
      }
      if (!usable)
        throw ParameterError(assignment.where + ": " + cut(assignment.name()) + " = " +
            cut(value.dump(-1, ' ', false, Json::error_handler_t::replace)) +
            " cannot be used; allowed: a number, true or false, a text in quotes, or "
            "a list of these");
      assignments.push_back(assignment);
    }
  }

  std::vector<Assignment> read_json(const std::string &text, const std::string &file)
  {
    // The parser keeps the last of two equal keys, so they are looked for while it runs.
    // No parameter needs more than two levels; a limit on them keeps what goes through them from overflowing the stack.
    constexpr int deepest = 10;
    std::vector<std::set<std::string>> keys;
    std::deque<std::string> places;
    int line = 1;
    const Json::parser_callback_t find_duplicates = [&](int depth, Json::parse_event_t event,
                                                        Json &value) {
      if (depth > deepest)
        throw ParameterError(file + ":" + std::to_string(line) + ": values lie in more than " +
            std::to_string(deepest) +
            R"( others; allowed: {"section": {"key": value}}, where a value may be a list)");
      if (event == Json::parse_event_t::object_start)
        keys.emplace_back();
      else if (event == Json::parse_event_t::object_end)
        keys.pop_back();
      else if (event == Json::parse_event_t::key)
      {
        places.push_back(file + ":" + std::to_string(line));
        if (!keys.back().insert(value).second)
          throw ParameterError(places.back() + ": the key '" + cut(value.get<std::string>()) +
              "' stands twice in the same place");
      }
      return true;
    };

    try
    {
      const Json document = Json::parse(LineCounter(text.data(), &line),
          LineCounter(text.data() + text.size(), &line), find_duplicates);
      if (!document.is_object())
        throw ParameterError(file + R"(: not an object; allowed: {"section": {"key": value}})");
      std::vector<Assignment> assignments;
      collect_json(document, "", places, assignments);
      return assignments;
    }
    catch (const Json::parse_error &error)
    {
      // Without the library's tag: "[json.exception.parse_error.101] parse error at line ...".
      const std::string message = error.what();
      const std::size_t begin = message.find("] ");
      const auto end =
          text.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, text.size()));
      throw ParameterError(file + ":" + std::to_string(1 + std::count(text.begin(), end, '\n')) +
          ": not valid JSON: " +
          cut_middle(begin == std::string::npos ? message : message.substr(begin + 2)));
    }
  }
} // namespace

std::string prefix(const std::string &where)
{
  return where == "--set" ? where + " " : where + ": ";
}

std::vector<Assignment> read_assignments(const std::string &file)
{
  const std::string suffix = std::filesystem::path(file).extension().string();
  const std::string text = read_text(file);
  if (suffix != ".prm" && suffix != ".json")
    throw ParameterError(file + ": a parameter file ends in .prm or .json");
  if (trim(text).empty())
    throw ParameterError(file + ": the file is empty");

  std::vector<Assignment> assignments =
      suffix == ".prm" ? PrmReader(file).read(text) : read_json(text, file);
  if (assignments.empty())
    throw ParameterError(file + ": the file sets no parameter");
  std::map<std::string, std::string> seen;
  for (const Assignment &assignment : assignments)
    if (const auto [entry, is_new] = seen.emplace(assignment.name(), assignment.where); !is_new)
      throw ParameterError(prefix(assignment.where) + cut(assignment.name()) +
          " is set a second time; first in " + entry->second);
  return assignments;
}

Assignment parse_override(const std::string &text)
{
  const std::size_t equals = text.find('=');
  const std::string name = trim(text.substr(0, equals));
  const std::size_t dot = name.rfind('.');
  if (equals == std::string::npos || dot == std::string::npos || dot == 0 || dot + 1 == name.size())
    throw ParameterError("--set " + cut(text) +
        ": cannot be read; allowed: section.key=value, e.g. solver.tolerance=1e-10");
  return {name.substr(0, dot), name.substr(dot + 1), {trim(text.substr(equals + 1))}, "--set"};
}
} // namespace tensormg
