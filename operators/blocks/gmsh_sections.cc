#include "operators/blocks/gmsh_sections.h"

#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string_view>

#include "operators/blocks/block_mesh.h"
#include "operators/data/short_text.h"

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

  /// The numbers of nodes in a text of version 4.1. Gmsh takes them for places in memory, which it reserves by what the section of nodes begins with.
  class NodeNumbers
  {
  public:
    explicit NodeNumbers(const std::string &content)
      : content_(content)
    {}

    void check()
    {
      begin("$Nodes");
      const std::size_t n_lists = next(), n_nodes = next();
      least_ = next();
      most_ = next();
      std::size_t sum = 0;
      for (std::size_t list = 0; list < n_lists && sum <= n_nodes; ++list)
        sum += check_list_of_nodes();
      if (sum != n_nodes)
        throw MeshError("the lists of the section $Nodes have " + std::to_string(sum) +
            " nodes, where it begins with " + std::to_string(n_nodes));
      begin("$Elements");
      const std::size_t n_blocks = next();
      skip_line();
      for (std::size_t block = 0; block < n_blocks; ++block)
        check_elements();
    }

  private:
    void begin(const std::string &section)
    {
      section_ = section;
      at_ = content_.c_str() + content_.find("\n" + section) + 1;
      skip_line();
    }
    void skip_line()
    {
      at_ += std::strcspn(at_, "\n");
      at_ += *at_ == '\n' ? 1 : 0;
    }
    void skip_word()
    {
      at_ += std::strspn(at_, " \t\r\n");
      at_ += std::strcspn(at_, " \t\r\n");
    }

    std::size_t next()
    {
      at_ += std::strspn(at_, " \t\r\n");
      char *end = nullptr;
      const std::size_t number = std::strtoull(at_, &end, 10);
      if (*at_ < '0' || *at_ > '9' || std::strchr(" \t\r\n", *end) == nullptr)
        throw MeshError("the section " + section_ + " has '" +
            cut(std::string(at_, std::strcspn(at_, " \t\r\n"))) +
            "' where there ought to be a whole number");
      at_ = end;
      return number;
    }

    void next_node()
    {
      if (const std::size_t tag = next(); tag < least_ || tag > most_)
        throw MeshError("node " + std::to_string(tag) + " in the section " + section_ +
            " is not between " + std::to_string(least_) + " and " + std::to_string(most_) +
            ", which the section $Nodes begins with");
    }

    std::size_t check_list_of_nodes()
    {
      const std::size_t dim = next();
      skip_word(); // the entity
      const bool has_parameters = next() != 0;
      const std::size_t n = next();
      for (std::size_t i = 0; i < n; ++i)
        next_node();
      for (std::size_t i = 0; i < n * (3 + (has_parameters ? dim : 0)); ++i)
        skip_word();
      return n;
    }

    /// A line for each element.
    void check_elements()
    {
      next();
      skip_word(); // the entity
      next();
      const std::size_t n = next();
      skip_line();
      for (std::size_t i = 0; i < n; ++i)
      {
        next();
        for (at_ += std::strspn(at_, " \t\r"); *at_ != '\n' && *at_ != '\0';
             at_ += std::strspn(at_, " \t\r"))
          next_node();
        skip_line();
      }
    }

    const std::string &content_;
    std::string section_;
    const char *at_ = nullptr;
    std::size_t least_ = 0, most_ = 0;
  };

  std::optional<std::size_t> n_elements(const std::string &content)
  {
    double version = 0.;
    int is_binary = 0;
    numbers_of(content, "$MeshFormat") >> version >> is_binary;
    if (version > 4. && version < 5. && is_binary == 0 &&
        content.find("\n$Nodes") != std::string::npos)
      NodeNumbers(content).check();
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
