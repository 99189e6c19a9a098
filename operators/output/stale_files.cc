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

namespace tensormg
{
namespace
{
  namespace fs = std::filesystem;

  bool is_field_file(const fs::path &file)
  {
    std::array<char, 200> beginning{};
    std::ifstream stream(file, std::ios::binary);
    stream.read(beginning.data(), beginning.size());
    const std::string_view text(beginning.data(), static_cast<std::size_t>(stream.gcount()));
    return text.find(field_file_mark) != std::string_view::npos;
  }

  /// The rank in STEM.RANK.vtu, at least four digits; nothing for other names.
  std::optional<int> rank_of_piece(std::string_view name, std::string_view stem)
  {
    constexpr std::string_view extension = ".vtu";
    if (!name.starts_with(stem) || !name.ends_with(extension) ||
        name.size() < stem.size() + 1 + extension.size() || name[stem.size()] != '.')
      return std::nullopt;
    name.remove_prefix(stem.size() + 1);
    name.remove_suffix(extension.size());
    const bool is_number =
        std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
    int rank = 0;
    if (name.size() < 4 || !is_number ||
        std::from_chars(name.data(), name.data() + name.size(), rank).ec != std::errc())
      return std::nullopt;
    return rank;
  }
} // namespace

std::vector<fs::path> find_field_files(const std::string &base, int n_pieces)
{
  const bool one_file = n_pieces == 1;
  std::error_code ignored;
  // A record goes before its pieces.
  std::vector<fs::path> candidates, files;
  if (n_pieces <= 1)
    candidates.emplace_back(base + ".pvtu");
  if (!one_file)
    candidates.emplace_back(base + ".vtu");
  const fs::path parent = fs::path(base).parent_path();
  const std::string stem = fs::path(base).filename().string();
  for (fs::directory_iterator entry(parent.empty() ? "." : parent, ignored), end; entry != end;
       entry.increment(ignored))
    if (const auto rank = rank_of_piece(entry->path().filename().string(), stem);
        rank && (one_file || *rank >= n_pieces))
      candidates.push_back(entry->path());
  for (const fs::path &file : candidates)
    if (fs::is_regular_file(fs::symlink_status(file, ignored)) && is_field_file(file))
      files.push_back(file);
  return files;
}

void remove_stale_files(const std::string &base, int n_pieces)
{
  std::error_code ignored;
  for (const fs::path &file : find_field_files(base, n_pieces))
    fs::remove(file, ignored);
}
} // namespace tensormg
