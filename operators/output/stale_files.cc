#include "operators/output/stale_files.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "operators/output/field_writer.h"
#include "operators/output/line_file.h"

namespace tensormg
{
namespace
{
  namespace fs = std::filesystem;

  /// Within the first line or two.
  bool has_mark(const fs::path &file, std::string_view mark, bool begins_with_it)
  {
    std::array<char, 200> beginning{};
    std::ifstream stream(file, std::ios::binary);
    stream.read(beginning.data(), beginning.size());
    const std::string_view text(beginning.data(), static_cast<std::size_t>(stream.gcount()));
    return begins_with_it ? text.starts_with(mark) : text.find(mark) != std::string_view::npos;
  }

  /// The number of these digits at least in BEFORE NUMBER AFTER; nothing for other names.
  std::optional<int> number_in(
      std::string_view name, std::string_view before, std::string_view after, std::size_t digits)
  {
    if (!name.starts_with(before) || !name.ends_with(after) ||
        name.size() < before.size() + digits + after.size())
      return std::nullopt;
    name.remove_prefix(before.size());
    name.remove_suffix(after.size());
    const bool is_number =
        std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
    int number = 0;
    if (!is_number ||
        std::from_chars(name.data(), name.data() + name.size(), number).ec != std::errc())
      return std::nullopt;
    return number;
  }

  /// Calls use(path, name) for the entries of the folder of `base`.
  template <typename Use>
  void for_entries(const fs::path &base, const Use &use)
  {
    std::error_code ignored;
    const fs::path parent = base.parent_path();
    for (fs::directory_iterator entry(parent.empty() ? "." : parent, ignored), end; entry != end;
         entry.increment(ignored))
      use(entry->path(), entry->path().filename().string());
  }

  bool is_file_with(const fs::path &file, std::string_view mark, bool begins_with_it = false)
  {
    std::error_code ignored;
    return fs::is_regular_file(fs::symlink_status(file, ignored)) &&
        has_mark(file, mark, begins_with_it);
  }
} // namespace

std::vector<fs::path> find_field_files(const std::string &base, int n_pieces)
{
  const bool one_file = n_pieces == 1;
  // A record goes before its pieces.
  std::vector<fs::path> candidates, files;
  if (n_pieces <= 1)
    candidates.emplace_back(base + ".pvtu");
  if (!one_file)
    candidates.emplace_back(base + ".vtu");
  const std::string stem = fs::path(base).filename().string();
  for_entries(base, [&](const fs::path &path, const std::string &name) {
    if (const auto rank = number_in(name, stem + '.', ".vtu", 4);
        rank && (one_file || *rank >= n_pieces))
      candidates.push_back(path);
  });
  for (const fs::path &file : candidates)
    if (is_file_with(file, field_file_mark))
      files.push_back(file);
  return files;
}

void remove_stale_files(const std::string &base, int n_pieces)
{
  std::error_code ignored;
  for (const fs::path &file : find_field_files(base, n_pieces))
    fs::remove(file, ignored);
}

std::vector<fs::path> find_line_files(const std::string &base, std::size_t n_lines)
{
  std::vector<fs::path> files;
  const std::string stem = fs::path(base).filename().string() + "_line_";
  for_entries(base, [&](const fs::path &path, const std::string &name) {
    const auto number = number_in(name, stem, ".csv", 1);
    if (number && static_cast<std::size_t>(*number) > n_lines &&
        is_file_with(path, line_file_mark, true))
      files.push_back(path);
  });
  return files;
}
} // namespace tensormg
