#include "apps/common/path_list.h"

#include "apps/parameters/text.h"

namespace tensormg
{
std::vector<std::string> split_paths(std::string_view text)
{
  if (trim(text).empty())
    return {};
  std::vector<std::string> paths(1);
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == ',' || text[i + 1] == '\\'))
      paths.back() += text[++i];
    else if (text[i] == ',')
      paths.emplace_back();
    else
      paths.back() += text[i];
  for (std::string &path : paths)
    path = trim(path);
  return paths;
}

std::string join_paths(const std::vector<std::string> &paths)
{
  std::vector<std::string> escaped;
  for (const std::string &path : paths)
  {
    escaped.emplace_back();
    for (const char c : path)
      escaped.back() += c == ',' || c == '\\' ? std::string{'\\', c} : std::string{c};
  }
  return join(escaped, ", ");
}
} // namespace tensormg
