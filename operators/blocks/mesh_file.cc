#include "operators/blocks/mesh_file.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "operators/blocks/abaqus_file.h"
#include "operators/blocks/dealii_file.h"
#include "operators/blocks/gmsh_file.h"
#include "operators/blocks/gmsh_sections.h"
#include "operators/blocks/mesh_checks.h"
#include "operators/blocks/vtk_file.h"

namespace tensormg
{
namespace
{
  std::string content_of(const std::string &path)
  {
    // A folder may be opened, but not read.
    if (std::filesystem::is_directory(path))
      throw MeshError("this is a folder, not a file");
    std::ifstream file(path, std::ios::binary);
    if (!file)
      throw MeshError("there is no such file, or it may not be read");
    std::string content{std::istreambuf_iterator<char>(file), {}};
    if (file.bad())
      throw MeshError("the file cannot be read");
    if (content.find_first_not_of(" \t\r\n") == std::string::npos)
      throw MeshError("the file is empty");
    return content;
  }

  std::string extension_of(const std::string &path)
  {
    std::string extension = std::filesystem::path(path).extension().string();
    std::transform(extension.begin(), extension.end(), extension.begin(),
        [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return extension;
  }

  NamedMesh read_gmsh(int dim, const std::string &path, const std::string &content)
  {
    const std::optional<std::size_t> n_elements = check_gmsh_sections(content);
#ifdef TENSORMG_HAVE_GMSH
    return read_gmsh_file(dim, path, n_elements);
#else
    static_cast<void>(n_elements);
    throw MeshError("this build has no Gmsh to read the " + std::to_string(dim) + "D mesh of " +
        path + ": install libgmsh-dev and build again");
#endif
  }

  NamedMesh read_text(int dim, const std::string &extension, const std::string &content)
  {
    // A number that has lost digits is one still.
    if (content.back() != '\n' && content.back() != '\r')
      throw MeshError("the last line has no end: the file is cut off");
    if (extension == ".vtk")
      return read_dealii_mesh(dim, MeshFormat::vtk, checked_vtk(content));
    const bool has_keywords = content[content.find_first_not_of(" \t\r\n")] == '*';
    if (!has_keywords)
      return read_dealii_mesh(dim, MeshFormat::ucd, content);
    check_abaqus(content);
    return read_dealii_mesh(dim, MeshFormat::abaqus, content);
  }

  NamedMesh read(int dim, const std::string &path)
  {
    const std::string extension = extension_of(path);
    const bool is_gmsh = extension == ".msh";
    if (!is_gmsh && extension != ".vtk" && extension != ".inp" && extension != ".ucd")
      throw MeshError("meshes are read from files .msh (Gmsh), .vtk (legacy VTK), .inp (Abaqus, "
                      "AVS UCD) and .ucd (AVS UCD)");
    const std::string content = content_of(path);
    NamedMesh mesh = is_gmsh ? read_gmsh(dim, path, content) : read_text(dim, extension, content);
    check_geometry(mesh.blocks, mesh.geometry);
    return mesh;
  }
} // namespace

NamedMesh read_mesh_file(int dim, const std::string &path)
{
  try
  {
    return read(dim, path);
  }
  catch (const MeshError &error)
  {
    throw MeshError(path + ": " + error.what());
  }
}
} // namespace tensormg
