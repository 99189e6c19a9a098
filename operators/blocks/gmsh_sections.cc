#include "operators/blocks/gmsh_sections.h"

#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string_view>

#include "operators/blocks/block_mesh.h"

namespace tensormg
{
namespace
{
  /// Is that a line of the content? Binary data may stand before it, but then a line has been ended.
  bool has_line(const std::string &content, const std::string &line)
  {
    for (std::size_t at = content.find(line); at != std::string::npos;
         at = content.find(line, at + 1))
    {
      const std::size_t end = at + line.size();
      const bool begins = at == 0 || content[at - 1] == '\n' || content[at - 1] == '\r';
      if (begins &&
          (end == content.size() ||
              std::string_view("\r\n \t").find(content[end]) != std::string_view::npos))
        return true;
    }
    return false;
  }

  std::string last_line(const std::string &content)
  {
    const std::size_t last = content.find_last_not_of("\r\n \t");
    const std::size_t end = content.find_last_of("\r\n", last);
    const std::size_t begin = end == std::string::npos ? 0 : end + 1;
    return content.substr(begin, last + 1 - begin);
  }

  /// The numbers behind the line that begins a section.
  std::istringstream numbers_of(const std::string &content, const std::string &section)
  {
    const std::size_t at = content.find(section);
    return std::istringstream(content.substr(at + section.size(), 200));
  }

  /// Of a text of version 4.1: Gmsh reserves memory by what the head of the section says and writes beyond it where the lists have more.
  void check_nodes(const std::string &content)
  {
    const std::string begin = "$Nodes";
    const char *at = content.c_str() + content.find(begin) + begin.size();
    const auto next = [&] {
      char *end = nullptr;
      const std::size_t number = std::strtoull(at, &end, 10);
      if (end == at)
        throw MeshError("the section $Nodes has something that is no whole number where there "
                        "ought to be the number of a node, or of nodes");
      at = end;
      return number;
    };
    const std::size_t n_lists = next(), n_nodes = next(), least = next(), most = next();
    std::size_t sum = 0;
    for (std::size_t list = 0; list < n_lists; ++list)
    {
      const std::size_t dim = next();
      next();
      const bool has_parameters = next() != 0;
      const std::size_t n = next();
      sum += n;
      if (n > n_nodes || sum > n_nodes)
        break;
      for (std::size_t i = 0; i < n; ++i)
        if (const std::size_t tag = next(); tag < least || tag > most)
          throw MeshError("node " + std::to_string(tag) + " is not between " +
              std::to_string(least) + " and " + std::to_string(most) +
              ", which the section $Nodes begins with");
      for (std::size_t i = 0; i < n * (3 + (has_parameters ? dim : 0)); ++i)
      {
        at += std::strspn(at, " \t\r\n");
        at += std::strcspn(at, " \t\r\n");
      }
    }
    if (sum != n_nodes)
      throw MeshError("the lists of the section $Nodes have " + std::to_string(sum) +
          " nodes, where it begins with " + std::to_string(n_nodes));
  }

  std::optional<std::size_t> n_elements(const std::string &content)
  {
    double version = 0.;
    int is_binary = 0;
    numbers_of(content, "$MeshFormat") >> version >> is_binary;
    if (version > 4. && version < 5. && is_binary == 0 &&
        content.find("\n$Nodes") != std::string::npos)
      check_nodes(content);
    std::istringstream numbers = numbers_of(content, "$Elements");
    std::size_t n_lists = 0, n = 0;
    if (version >= 4.)
      numbers >> n_lists;
    if ((version >= 4. && is_binary != 0) || !(numbers >> n))
      return {};
    return n;
  }
} // namespace

std::optional<std::size_t> check_gmsh_sections(const std::string &content)
{
  const bool is_version_1 = content.starts_with("$NOD");
  if (!is_version_1 && !content.starts_with("$MeshFormat") && !content.starts_with("$Comments"))
    throw MeshError("this is no mesh of Gmsh: it does not begin with $MeshFormat");
  const auto check = [&](const std::string &begin, const std::string &end) {
    if (!has_line(content, begin))
      throw MeshError("the file has no section " + begin + ": it is cut off, or holds no mesh");
    if (!has_line(content, end))
      throw MeshError("the section " + begin + " has no end: the file is cut off");
  };
  if (is_version_1)
  {
    check("$NOD", "$ENDNOD");
    check("$ELM", "$ENDELM");
    return {};
  }
  check("$MeshFormat", "$EndMeshFormat");
  if (has_line(content, "$ParametricNodes"))
    check("$ParametricNodes", "$EndParametricNodes");
  else
    check("$Nodes", "$EndNodes");
  check("$Elements", "$EndElements");
  const std::string last = last_line(content), end = "$End";
  if (!last.starts_with(end) || !has_line(content, "$" + last.substr(end.size())))
    throw MeshError("the last section has no end: the file is cut off");
  return n_elements(content);
}
} // namespace tensormg
