#include "operators/blocks/gmsh_file.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include <gmsh.h>

#include "operators/blocks/gmsh_elements.h"
#include "operators/blocks/gmsh_session.h"
#include "operators/blocks/mesh_cells.h"
#include "operators/data/short_text.h"
#include "operators/data/tensor_rule.h"

namespace tensormg
{
namespace
{
  /// Elements of one type in one entity of the model.
  struct ElementList
  {
    int type = 0;
    std::vector<std::size_t> tags, nodes;
  };

  std::vector<ElementList> lists_of(int dim, int entity)
  {
    std::vector<int> types;
    std::vector<std::vector<std::size_t>> tags, nodes;
    gmsh::model::mesh::getElements(types, tags, nodes, dim, entity);
    std::vector<ElementList> result;
    for (std::size_t t = 0; t < types.size(); ++t)
      result.push_back({types[t], std::move(tags[t]), std::move(nodes[t])});
    return result;
  }

  std::size_t n_elements_of(int dim)
  {
    std::size_t n = 0;
    for (const auto &list : lists_of(dim, -1))
      n += list.tags.size();
    return n;
  }

  std::size_t n_elements_read()
  {
    std::size_t n = 0;
    for (int dim = 0; dim <= 3; ++dim)
      n += n_elements_of(dim);
    return n;
  }

  class ModelReader
  {
  public:
    explicit ModelReader(int dim)
      : dim_(dim)
    {
      cells_.dim = dim;
    }

    NamedMesh read()
    {
      read_nodes();
      check_dimension();
      check_types();
      for (const int entity : entities(dim_))
        read_cells(entity);
      drop_plane(cells_);
      if (dim_ == 2)
        for (auto &block : blocks_)
          for (auto &point : block)
            point[2] = 0.;
      for (const int entity : entities(dim_ - 1))
        read_faces(entity);
      drop_interior_faces(cells_);
      BlockMesh mesh = make_block_mesh(cells_);
      return {std::move(mesh), BlockGeometry(dim_, degree_, std::move(blocks_)), names(dim_ - 1),
          names(dim_)};
    }

  private:
    using Point = std::array<double, 3>;

    static std::vector<int> entities(int dim)
    {
      gmsh::vectorpair found;
      gmsh::model::getEntities(found, dim);
      std::vector<int> tags;
      for (const auto &entity : found)
        tags.push_back(entity.second);
      return tags;
    }

    void read_nodes()
    {
      std::vector<std::size_t> tags;
      std::vector<double> coordinates, parameters;
      gmsh::model::mesh::getNodes(tags, coordinates, parameters);
      for (std::size_t i = 0; i < tags.size(); ++i)
        nodes_[tags[i]] = {coordinates[3 * i], coordinates[3 * i + 1], coordinates[3 * i + 2]};
    }

    const Point &node(std::size_t element, std::size_t tag) const
    {
      const auto found = nodes_.find(tag);
      if (found == nodes_.end())
        throw MeshError("element " + std::to_string(element) + " has node " + std::to_string(tag) +
            ", which is not in the file");
      return found->second;
    }

    /// The cells are the elements of the highest dimension.
    void check_dimension() const
    {
      const std::size_t solid = n_elements_of(3), flat = n_elements_of(2);
      const int found = solid > 0 ? 3 : flat > 0 ? 2 : 0;
      if (found == 0)
        throw MeshError("the file has no cells, neither in 3D nor in 2D");
      if (found != dim_)
        throw MeshError("the mesh is one in " + std::to_string(found) + "D, of " +
            std::to_string(found == 3 ? solid : flat) + " cells, where problem.dimension is " +
            std::to_string(dim_));
    }

    void check_types()
    {
      std::size_t n_cells = 0, n_others = 0;
      std::string others, first;
      for (const auto &list : lists_of(dim_, -1))
      {
        const GmshElements elements = gmsh_elements(list.type);
        n_cells += list.tags.size();
        degree_ = std::max(degree_, elements.order);
        if (elements.is_block() || list.tags.empty())
          continue;
        n_others += list.tags.size();
        others += (others.empty() ? "" : ", ") + std::to_string(list.tags.size()) + " of type " +
            elements.name;
        if (first.empty())
          first = "element " + std::to_string(list.tags[0]) + " with a corner at " +
              point_text(node(list.tags[0], list.nodes[0]), 3);
      }
      if (n_others > 0)
        throw MeshError(std::to_string(n_others) + " of the " + std::to_string(n_cells) +
            " cells are no " + (dim_ == 3 ? "hexahedra" : "quadrilaterals") + " (" + others +
            "), the first is " + first + "; Gmsh makes such cells with " +
            (dim_ == 3
                    ? "transfinite volumes and Recombine Surface, or Mesh.SubdivisionAlgorithm = 2"
                    : "Recombine Surface, or Mesh.SubdivisionAlgorithm = 1"));
    }

    /// The physical group of an entity, 0 if it is in none.
    int group_of(int dim, int entity, std::size_t element, std::size_t corner) const
    {
      std::vector<int> groups;
      gmsh::model::getPhysicalGroupsForEntity(dim, entity, groups);
      for (int &group : groups)
        group = std::abs(group); // the sign is an orientation
      std::sort(groups.begin(), groups.end());
      groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
      if (groups.size() > 1)
        throw MeshError("entity " + std::to_string(entity) + " of dimension " +
            std::to_string(dim) + ", with element " + std::to_string(element) + " at " +
            point_text(node(element, corner), dim_) + ", is in the physical groups " +
            std::to_string(groups[0]) + " and " + std::to_string(groups[1]) + ": one is needed");
      return groups.empty() ? 0 : groups[0];
    }

    std::int64_t vertex_number(std::size_t element, std::size_t tag)
    {
      const auto [entry, is_new] = vertices_.emplace(tag, std::ssize(cells_.vertices));
      if (is_new)
        cells_.vertices.push_back(node(element, tag));
      return entry->second;
    }

    void read_cells(int entity)
    {
      for (const ElementList &list : lists_of(dim_, entity))
      {
        if (list.tags.empty())
          continue;
        const int material = group_of(dim_, entity, list.tags[0], list.nodes[0]);
        const GmshElements elements = gmsh_elements(list.type);
        const std::vector<double> matrix = gmsh_node_matrix(list.type, degree_);
        for (std::size_t e = 0; e < list.tags.size(); ++e)
        {
          add_cell(elements, matrix, list.tags[e], &list.nodes[e * elements.n_nodes]);
          cells_.material.push_back(material);
        }
      }
    }

    void add_cell(const GmshElements &elements, const std::vector<double> &matrix,
        std::size_t element, const std::size_t *nodes)
    {
      std::vector<Point> from, to(matrix.size() / elements.n_nodes, Point{});
      for (std::size_t i = 0; i < elements.n_nodes; ++i)
        from.push_back(node(element, nodes[i]));
      for (std::size_t p = 0; p < to.size(); ++p)
        for (std::size_t i = 0; i < from.size(); ++i)
          if (const double value = matrix[p * from.size() + i]; value != 0.)
            for (int d = 0; d < 3; ++d)
              to[p][d] += value * from[i][d];
      auto &cell = cells_.cells.emplace_back();
      std::vector<Point> corners(elements.n_corners);
      for (std::size_t c = 0; c < elements.n_corners; ++c)
      {
        cell[elements.vertex[c]] = vertex_number(element, nodes[c]);
        corners[elements.vertex[c]] = from[c];
      }
      if (is_mirrored(dim_, corners))
        exchange_directions(cell, to);
      blocks_.push_back(std::move(to));
    }

    /// The first two, so that the cell becomes right-handed.
    void exchange_directions(std::array<std::int64_t, 8> &cell, std::vector<Point> &points) const
    {
      std::swap(cell[1], cell[2]);
      std::swap(cell[5], cell[6]);
      const std::size_t n = static_cast<std::size_t>(degree_) + 1;
      for (std::size_t layer = 0; layer < points.size(); layer += n * n)
        for (std::size_t j = 0; j < n; ++j)
          for (std::size_t i = 0; i < j; ++i)
            std::swap(points[layer + i + n * j], points[layer + j + n * i]);
    }

    void read_faces(int entity)
    {
      for (const ElementList &list : lists_of(dim_ - 1, entity))
      {
        if (list.tags.empty())
          continue;
        const int boundary = group_of(dim_ - 1, entity, list.tags[0], list.nodes[0]);
        if (boundary == 0)
          continue;
        const GmshElements elements = gmsh_elements(list.type);
        for (std::size_t e = 0; e < list.tags.size(); ++e)
        {
          std::array<std::int64_t, 4> face{-1, -1, -1, -1}; // a triangle is a face of no cell
          for (std::size_t c = 0; c < std::min<std::size_t>(elements.n_corners, 4); ++c)
            face[c] = vertex_number(list.tags[e], list.nodes[e * elements.n_nodes + c]);
          cells_.boundary.emplace_back(face, boundary);
        }
      }
    }

    static std::map<int, std::string> names(int dim)
    {
      gmsh::vectorpair groups;
      gmsh::model::getPhysicalGroups(groups, dim);
      std::map<int, std::string> result;
      for (const auto &group : groups)
      {
        std::string name;
        gmsh::model::getPhysicalName(dim, group.second, name);
        if (!name.empty())
          result[group.second] = name;
      }
      return result;
    }

    int dim_;
    int degree_ = 1;
    std::unordered_map<std::size_t, Point> nodes_;
    std::unordered_map<std::size_t, std::int64_t> vertices_;
    MeshCells cells_;
    std::vector<std::vector<Point>> blocks_;
  };
} // namespace

NamedMesh read_gmsh_file(
    int dim, const std::string &path, const std::optional<std::size_t> &n_elements)
{
  GmshSession session;
  session.merge(path);
  try
  {
    if (const std::size_t n = n_elements_read(); n_elements && n < *n_elements)
      throw MeshError("Gmsh takes " + std::to_string(n) + " of the " + std::to_string(*n_elements) +
          " elements of the file: some have the number of another one");
    return ModelReader(dim).read();
  }
  catch (const MeshError &)
  {
    throw;
  }
  catch (...)
  {
    throw MeshError("Gmsh: " + cut_middle(gmsh_error()));
  }
}
} // namespace tensormg
