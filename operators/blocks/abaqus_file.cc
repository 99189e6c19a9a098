#include "operators/blocks/abaqus_file.h"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "operators/blocks/block_mesh.h"
#include "operators/data/short_text.h"

namespace tensormg
{
void check_abaqus(const std::string &content)
{
  const std::string keyword = "*ELSET";
  std::istringstream lines(content);
  std::string line;
  bool is_set = false;
  for (int number = 1; std::getline(lines, line); ++number)
  {
    if (line.starts_with("*"))
    {
      std::string begin = line.substr(0, keyword.size());
      std::transform(begin.begin(), begin.end(), begin.begin(),
          [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
      is_set = begin == keyword;
    }
    else if (is_set && line.find_first_not_of("0123456789, \t\r") != std::string::npos)
      throw MeshError("line " + std::to_string(number) + ", '" + cut(line) +
          "', is in a list *ELSET, and is no list of elements by number");
  }
}
} // namespace tensormg
