// Files that Gmsh's library writes: formats, orders of elements, names, and what is refused, with the place.
#include "operators/blocks/gmsh_file.h"

#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include <gmsh.h>
#include <gtest/gtest.h>

#include "tests/operators/blocks/mesh_files.h"
#include "tests/support/temporary_directory.h"

namespace tensormg
{
namespace
{
  using test::content;
  using test::expect_refusal;
  using test::refusal;
  using test::TemporaryDirectory;
  using test::volume;
  using Point = std::array<double, 3>;
  namespace mesh = gmsh::model::mesh;

  struct Format
  {
    double version = 4.1;
    bool binary = false;
  };

  /// A model of Gmsh for the time that a file is made.
  class Model
  {
  public:
    Model()
    {
      gmsh::initialize(0, nullptr, false);
      gmsh::option::setNumber("General.Terminal", 0.);
      gmsh::model::add("made by a test");
    }
    ~Model() { gmsh::finalize(); }
    Model(const Model &) = delete;
    Model &operator=(const Model &) = delete;

    void write(const std::string &path, const Format &format = {}) const
    {
      gmsh::option::setNumber("Mesh.MshFileVersion", format.version);
      gmsh::option::setNumber("Mesh.Binary", format.binary ? 1. : 0.);
      gmsh::write(path);
    }

    /// Nodes with tags from 1; those known already keep theirs.
    void nodes(int dim, int entity, const std::vector<Point> &points)
    {
      std::vector<std::size_t> tags;
      std::vector<double> coordinates;
      for (const Point &point : points)
      {
        tags.push_back(++n_nodes_);
        coordinates.insert(coordinates.end(), point.begin(), point.end());
      }
      mesh::addNodes(dim, entity, tags, coordinates);
    }

  private:
    std::size_t n_nodes_ = 0;
  };

  /// The quarter of a ring 1 < r < 2 of 3 x 4 cells, in 3D of height 1 in two layers, with names.
  void make_ring(int dim, int order, bool incomplete, double z = 0.)
  {
    gmsh::option::setNumber("Mesh.ElementOrder", order);
    gmsh::option::setNumber("Mesh.SecondOrderIncomplete", incomplete ? 1. : 0.);
    namespace geo = gmsh::model::geo;
    geo::addPoint(0., 0., z, 0., 1);
    geo::addPoint(1., 0., z, 0., 2);
    geo::addPoint(2., 0., z, 0., 3);
    geo::addPoint(0., 2., z, 0., 4);
    geo::addPoint(0., 1., z, 0., 5);
    geo::addLine(2, 3, 1);
    geo::addCircleArc(3, 1, 4, 2);
    geo::addLine(4, 5, 3);
    geo::addCircleArc(5, 1, 2, 4);
    geo::addCurveLoop({1, 2, 3, 4}, 1);
    geo::addPlaneSurface({1}, 1);
    for (const int curve : {1, 2, 3, 4})
      geo::mesh::setTransfiniteCurve(curve, curve % 2 == 1 ? 4 : 5);
    geo::mesh::setTransfiniteSurface(1);
    geo::mesh::setRecombine(2, 1);
    gmsh::vectorpair made;
    if (dim == 3)
      geo::extrude({{2, 1}}, 0., 0., 1., made, {2}, {}, true);
    geo::synchronize();
    // The volume, and the surfaces that grew from the curves 2 and 4.
    const int body = dim == 3 ? made[1].second : 1, outer = dim == 3 ? made[3].second : 2,
              inner = dim == 3 ? made[5].second : 4;
    gmsh::model::addPhysicalGroup(dim, {body}, 7);
    gmsh::model::setPhysicalName(dim, 7, "cast iron");
    gmsh::model::addPhysicalGroup(dim - 1, {outer}, 12);
    gmsh::model::setPhysicalName(dim - 1, 12, "outer");
    gmsh::model::addPhysicalGroup(dim - 1, {inner}, 11);
    mesh::generate(dim);
  }

  /// Element of a type through `map` of its nodes in [0, 1]^dim; elements of the same nodes share them by `offset` of tags.
  void add_element(Model &model, int type, int entity, const std::function<Point(Point)> &map,
      std::size_t first_node = 1)
  {
    std::string name;
    int dim = 0, order = 0, n = 0, n_corners = 0;
    std::vector<double> local;
    mesh::getElementProperties(type, name, dim, order, n, local, n_corners);
    std::vector<Point> points;
    std::vector<std::size_t> tags;
    for (int i = 0; i < n; ++i)
    {
      Point at{};
      for (int d = 0; d < dim; ++d)
        at[d] = 0.5 * (1. + local[i * dim + d]);
      points.push_back(map(at));
      tags.push_back(first_node + i);
    }
    gmsh::model::addDiscreteEntity(dim, entity);
    model.nodes(dim, entity, points);
    mesh::addElementsByType(entity, type, {}, tags);
  }

  /// Cells by numbers of nodes, of which the last, at (9, 9, 9), belongs to no cell.
  void write_cells(const std::string &path, int dim, std::vector<Point> points,
      const std::vector<std::vector<std::size_t>> &cells,
      const std::vector<std::vector<std::size_t>> &faces = {}, int face_type = 1)
  {
    Model model;
    gmsh::option::setNumber("Mesh.SaveAll", 1.);
    points.push_back({9., 9., 9.});
    gmsh::model::addDiscreteEntity(dim, 1);
    model.nodes(dim, 1, points);
    for (const auto &cell : cells)
      mesh::addElementsByType(1,
          cell.size() == 8                   ? 5
              : cell.size() == 6             ? 6
              : dim == 2 && cell.size() == 3 ? 2
              : dim == 2                     ? 3
                                             : 4,
          {}, cell);
    if (!faces.empty())
    {
      gmsh::model::addDiscreteEntity(dim - 1, 1);
      for (const auto &face : faces)
        mesh::addElementsByType(1, face_type, {}, face);
      gmsh::model::addPhysicalGroup(dim - 1, {1}, 5);
      gmsh::model::addPhysicalGroup(dim, {1}, 2);
    }
    model.write(path);
  }

  // Two unit squares side by side: nodes 1 2 3 / 4 5 6.
  const std::vector<Point> two_squares{
      {0., 0., 0.}, {1., 0., 0.}, {2., 0., 0.}, {0., 1., 0.}, {1., 1., 0.}, {2., 1., 0.}};
  const std::vector<std::vector<std::size_t>> cells_of_two{{1, 2, 5, 4}, {2, 3, 6, 5}};

  void expect_ring(const NamedMesh &ring, int dim, int order)
  {
    const double exact = 0.75 * std::numbers::pi;
    const double errors[5] = {0., 0.03, 2e-4, 2e-4, 1e-6};
    EXPECT_EQ(ring.blocks.n_blocks(), dim == 3 ? 24 : 12);
    EXPECT_EQ(ring.geometry.degree(), order);
    EXPECT_LT(std::abs(volume(ring) - exact), errors[order] * exact);
    EXPECT_GT(std::abs(volume(ring) - exact), order == 1 ? 0.01 : 0.);
    EXPECT_EQ(ring.material_names, (std::map<int, std::string>{{7, "cast iron"}}));
    EXPECT_EQ(ring.boundary_names, (std::map<int, std::string>{{12, "outer"}}));
    // The nodes lie on the circles.
    std::vector<double> nodes;
    for (int i = 0; i <= order; ++i)
      nodes.push_back(double(i) / order);
    int n_inner = 0, n_outer = 0, n_other = 0;
    for (std::int64_t b = 0; b < ring.blocks.n_blocks(); ++b)
    {
      EXPECT_EQ(ring.blocks.material[b], 7);
      for (int side = 0; side < 2 * dim; ++side)
      {
        const BlockSide &here = ring.blocks.sides[b][side];
        n_other += here.neighbour < 0 && here.boundary == 0 ? 1 : 0;
        if (here.boundary == 0)
          continue;
        (here.boundary == 11 ? n_inner : n_outer) += 1;
        std::array<std::vector<double>, 3> at{nodes, nodes, nodes};
        at[side / 2] = {double(side % 2)};
        for (const Point &p : ring.geometry.points(b, at))
          EXPECT_NEAR(std::hypot(p[0], p[1]), here.boundary == 11 ? 1. : 2., 1e-9);
      }
    }
    EXPECT_EQ(n_inner, dim == 3 ? 8 : 4);
    EXPECT_EQ(n_outer, n_inner);
    EXPECT_EQ(n_other, dim == 3 ? 2 * 6 + 2 * 12 : 6);
  }

  TEST(GmshFile, FormatsAndOrders)
  {
    const TemporaryDirectory folder;
    for (const int dim : {2, 3})
      for (const auto &[order, incomplete] :
          {std::pair{1, false}, {2, false}, {2, true}, {3, false}, {4, false}})
        for (const Format &format :
            {Format{2.2, false}, {2.2, true}, {4., false}, {4.1, false}, {4.1, true}})
        {
          const std::string path = folder / "ring.msh";
          SCOPED_TRACE(std::to_string(dim) + "D, order " + std::to_string(order) +
              (incomplete ? " incomplete" : "") + ", format " + std::to_string(format.version) +
              (format.binary ? " binary" : ""));
          {
            const Model model;
            make_ring(dim, order, incomplete);
            model.write(path, format);
          }
          expect_ring(read_mesh_file(dim, path), dim, order);
        }
  }

  // A map that each kind of element represents comes back exactly, which shows where every node belongs.
  TEST(GmshFile, NodesOfEachElement)
  {
    const TemporaryDirectory folder;
    const std::string path = folder / "element.msh";
    for (const int dim : {2, 3})
      for (const bool mirrored : {false, true})
        for (const auto &[order, incomplete] : {std::pair{1, false}, {2, false}, {2, true},
                 {3, false}, {3, true}, {4, false}, {5, false}})
        {
          const int power = order > 1 ? 1 : 0;
          const auto map = [&](Point p) {
            const double c = 0.1 * power;
            Point result{
                p[0] + c * p[1] * p[1] + 0.2 * p[0] * p[1], 2. * p[1] + c * p[0] * p[0], 0.};
            if (dim == 3)
              result = {result[0] + c * p[2] * p[2], result[1] - c * p[2] * p[0],
                  p[2] - c * p[0] * p[0] + 0.1 * p[0] * p[1] * p[2]};
            return result;
          };
          {
            Model model;
            const int type =
                mesh::getElementType(dim == 3 ? "Hexahedron" : "Quadrangle", order, incomplete);
            // Mirrored elements have their first two directions exchanged, and are given back in order.
            add_element(model, type, 1, [&](Point p) {
              if (mirrored)
                std::swap(p[0], p[1]);
              return map(p);
            });
            gmsh::option::setNumber("Mesh.SaveAll", 1.);
            model.write(path, {4.1, true});
          }
          SCOPED_TRACE(std::to_string(dim) + "D, order " + std::to_string(order) +
              (incomplete ? " incomplete" : "") + (mirrored ? " mirrored" : ""));
          const NamedMesh mesh = read_mesh_file(dim, path);
          ASSERT_EQ(mesh.geometry.degree(), order);
          const std::vector<double> at{0., 0.13, 0.5, 0.81, 1.};
          const auto points = mesh.geometry.points(0, {at, at, at});
          for (std::size_t q = 0; q < points.size(); ++q)
          {
            const Point expected = map({at[q % 5], at[q / 5 % 5], dim == 3 ? at[q / 25] : 0.});
            for (int d = 0; d < 3; ++d)
              EXPECT_NEAR(points[q][d], expected[d], 1e-12);
          }
        }
  }

  TEST(GmshFile, MixedOrdersAreRaised)
  {
    const TemporaryDirectory folder;
    const std::string path = folder / "mixed.msh";
    // Quadrilaterals of 4 and of 9 nodes that share nodes 2 and 3.
    const auto write = [&](double bulge) {
      Model model;
      gmsh::option::setNumber("Mesh.SaveAll", 1.);
      add_element(model, 3, 1, [](Point p) { return p; });
      gmsh::model::addDiscreteEntity(2, 2);
      model.nodes(2, 2,
          {{2., 0., 0.}, {2., 1., 0.}, {1.5, 0., 0.}, {2., 0.5, 0.}, {1.5, 1., 0.},
              {1. + bulge, 0.5, 0.}, {1.5, 0.5, 0.}});
      mesh::addElementsByType(2, 10, {}, {2, 5, 6, 3, 7, 8, 9, 10, 11});
      model.write(path);
    };
    write(0.);
    const NamedMesh mixed = read_mesh_file(2, path);
    EXPECT_EQ(mixed.geometry.degree(), 2);
    EXPECT_NEAR(volume(mixed), 2., 1e-13);
    write(0.1);
    expect_refusal(
        2, path, {"cell 0 at (0.5, 0.5)", "share a face that is not one surface", "(1.1, 0.5)"});
  }

  TEST(GmshFile, PlanesOf2D)
  {
    const TemporaryDirectory folder;
    const std::string path = folder / "plane.msh";
    {
      const Model model;
      make_ring(2, 2, false, 3.5);
      model.write(path);
    }
    const NamedMesh ring = read_mesh_file(2, path);
    EXPECT_EQ(ring.blocks.corners[0][0][2], 0.);
    EXPECT_EQ(ring.geometry.points(0, {{{0.5}, {0.5}, {}}})[0][2], 0.);
    write_cells(
        path, 2, {{0., 0., 0.}, {1., 0., 0.}, {1., 1., 0.5}, {0., 1., 0.5}}, {{1, 2, 3, 4}});
    expect_refusal(2, path, {"(0, 0, 0)", "(0, 1, 0.5)", "plane of one z"});
  }

  TEST(GmshFile, NamedFacesBetweenCellsAreLeftOut)
  {
    const TemporaryDirectory folder;
    const std::string path = folder / "interface.msh";
    write_cells(path, 2, two_squares, cells_of_two, {{2, 5}, {1, 2}});
    const NamedMesh two = read_mesh_file(2, path);
    EXPECT_EQ(two.blocks.sides[0][1].neighbour, 1);
    EXPECT_EQ(two.blocks.sides[0][1].boundary, 0);
    EXPECT_EQ(two.blocks.sides[0][2].boundary, 5);
    EXPECT_EQ(two.blocks.material, (std::vector<int>{2, 2}));
  }

  TEST(GmshFile, CellsThatAreRefused)
  {
    const TemporaryDirectory folder;
    const std::string path = folder / "cells.msh";
    const auto refused = [&](std::vector<Point> points,
                             const std::vector<std::vector<std::size_t>> &cells,
                             const std::vector<std::string> &parts, int dim = 2) {
      write_cells(path, dim, std::move(points), cells);
      expect_refusal(dim, path, parts);
    };
    refused(two_squares, {{1, 2, 5, 4}, {2, 3, 6}, {2, 6, 5}},
        {"2 of the 3 cells are no quadrilaterals", "Triangle 3", "(1, 0, 0)", "Recombine"});
    refused({{0., 0., 0.}, {1., 0., 0.}, {0., 1., 0.}, {0., 0., 1.}}, {{1, 2, 3, 4}},
        {"1 of the 1 cells are no hexahedra", "Tetrahedron 4", "Mesh.SubdivisionAlgorithm = 2"}, 3);
    refused({{0., 0., 0.}, {1., 0., 0.}, {0., 1., 0.}, {0., 0., 1.}, {1., 0., 1.}, {0., 1., 1.}},
        {{1, 2, 3, 4, 5, 6}}, {"1 of the 1 cells are no hexahedra", "Prism 6"}, 3);
    // A node moved out of its cell, a cell whose nodes are in a wrong order, and one without area.
    auto moved = two_squares;
    moved[4] = {-0.5, -0.5, 0.};
    refused(moved, cells_of_two, {"cell 0 at (0.125, 0.125) is inverted at its corner (1, 0)"});
    refused(two_squares, {{1, 2, 4, 5}, {2, 3, 6, 5}}, {"cell 0 at (0.5, 0.5)", "inverted"});
    refused({{0., 0., 0.}, {1., 0., 0.}, {2., 0., 0.}, {3., 0., 0.}}, {{1, 2, 3, 4}}, {"is flat"});
    // Two nodes at one place, to the last digit and nearly.
    auto twice = two_squares;
    twice.push_back({1., 1., 0.});
    refused(twice, {{1, 2, 5, 4}, {2, 3, 6, 7}}, {"lie both at (1, 1)"});
    twice.back()[0] += 1e-9;
    refused(twice, {{1, 2, 5, 4}, {2, 3, 6, 7}}, {"vertices at (1, 1)", "the same place"});
    refused(
        two_squares, {{1, 2, 5, 4}, {2, 3, 6, 5}, {1, 2, 5, 4}}, {"shares a face with two others"});
    // One cell beside two of half its height.
    auto hanging = two_squares;
    hanging.push_back({1., 0.5, 0.});
    hanging.push_back({2., 0.5, 0.});
    refused(hanging, {{1, 2, 5, 4}, {2, 3, 8, 7}, {7, 8, 6, 5}},
        {"cell 0 at (0.5, 0.5)", "at (1, 0.5)", "hanging nodes"});
  }

  TEST(GmshFile, HangingNodesIn3D)
  {
    const TemporaryDirectory folder;
    const std::string path = folder / "hanging.msh";
    // A cube of edge 2 under the first of four cubes of edge 1: points of a grid with three in each direction.
    std::vector<Point> points;
    for (int z : {0, 2, 3})
      for (int y = 0; y < 3; ++y)
        for (int x = 0; x < 3; ++x)
          points.push_back({double(x), double(y), double(z)});
    const std::vector<std::size_t> coarse{1, 3, 9, 7, 10, 12, 18, 16},
        fine{10, 11, 14, 13, 19, 20, 23, 22};
    write_cells(path, 3, points, {coarse, fine});
    expect_refusal(3, path, {"cell 0 at (1, 1, 1)", "hanging nodes"});
  }

  // Second-order elements whose corners are fine, and whose nodes between them are not.
  TEST(GmshFile, FoldedCurves)
  {
    const TemporaryDirectory folder;
    const std::string path = folder / "folded.msh";
    for (const int dim : {2, 3})
    {
      {
        Model model;
        gmsh::option::setNumber("Mesh.SaveAll", 1.);
        add_element(model, dim == 3 ? 12 : 10, 1, [](Point p) {
          if (p[0] == 0. && p[1] == 0.5)
            p[0] = 1.2;
          return p;
        });
        model.write(path);
      }
      expect_refusal(dim, path, {"cell 0 at (0.5, 0.5", "is folded at (", "allowed: det J > 0"});
    }
  }

  TEST(GmshFile, FacesAndGroupsThatAreRefused)
  {
    const TemporaryDirectory folder;
    const std::string path = folder / "faces.msh";
    write_cells(path, 2, two_squares, cells_of_two, {{1, 5}});
    expect_refusal(2, path, {"a face of boundary 5 at (0, 0) is a face of no cell"});
    write_cells(path, 2, two_squares, cells_of_two, {{1, 7}});
    expect_refusal(2, path, {"boundary 5", "is a face of no cell"});
    for (const int dim : {1, 2})
      for (const Format &format : {Format{2.2, false}, {2.2, true}, {4.1, false}, {4.1, true}})
      {
        {
          const Model model;
          make_ring(2, 1, false);
          gmsh::model::addPhysicalGroup(dim, {dim == 1 ? 2 : 1}, 99);
          model.write(path, format);
        }
        expect_refusal(
            2, path, {"of dimension " + std::to_string(dim), "at (", "and 99: one is needed"});
      }
    {
      const Model model;
      make_ring(3, 1, false);
      model.write(path);
    }
    expect_refusal(2, path, {"the mesh is one in 3D, of 24 cells", "problem.dimension is 2"});
    {
      const Model model;
      make_ring(2, 1, false);
      model.write(path);
    }
    expect_refusal(3, path, {"the mesh is one in 2D, of 12 cells", "problem.dimension is 3"});
  }

  TEST(GmshFile, FilesThatAreRefused)
  {
    const TemporaryDirectory folder;
    const std::string path = folder / "file.msh", head = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n";
    const auto refused = [&](const std::string &text, const std::vector<std::string> &parts) {
      test::write(path, text);
      expect_refusal(2, path, parts);
    };
    expect_refusal(2, path, {"no such file"});
    refused("", {"is empty"});
    refused("SystemCall \"touch x\";\n", {"does not begin with $MeshFormat"});
    refused(head, {"no section $Nodes"});
    refused(head + "$Nodes\n0\n$EndNodes\n$Elements\n0\n$EndElements\n", {"no cells"});
    refused(head + "$Nodes\n1\n1 0 0 0\n$EndNodes\n$Elements\n1\n1 15 2 0 1 1\n$EndElements\n",
        {"no cells, neither in 3D nor in 2D"});
    refused(head + "$Nodes\n1\n1 0 0 0\n$EndNodes\n$Elements\n1\n1 3 2 0 1 1 2 3 4\n$EndElements\n",
        {"Gmsh does not read it: "});
    refused(
        "$MeshFormat\n9.7 0 8\n$EndMeshFormat\n$Nodes\n0\n$EndNodes\n$Elements\n0\n$EndElements\n",
        {"Gmsh does not read it: Unknown MSH file version 9.7"});
    // Heads that promise other nodes than there are: Gmsh would write beyond its memory.
    const auto version_4 = [](const std::string &numbers) {
      return "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n" + numbers +
          "\n2 1 0 4\n1\n2\n3\n4\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n$EndNodes\n"
          "$Elements\n1 1 1 1\n2 1 3 1\n1 1 2 3 4\n$EndElements\n";
    };
    test::write(path, version_4("1 4 1 4"));
    EXPECT_EQ(read_mesh_file(2, path).blocks.n_blocks(), 1);
    refused(
        version_4("1 2 1 4"), {"the lists of the section $Nodes have 4 nodes", "begins with 2"});
    refused(version_4("1 4 1 2"), {"node 3", "is not between 1 and 2"});
    refused(version_4("1 4 1 x"), {"has 'x'", "whole number"});
    std::string negative = version_4("1 4 1 4");
    negative.replace(negative.find("1 1 2 3 4"), 9, "1 1 2 3 -4");
    refused(negative, {"the section $Elements has '-4'"});
    const std::string nodes =
        "$Nodes\n6\n1 0 0 0\n2 1 0 0\n3 2 0 0\n4 0 1 0\n5 1 1 0\n6 2 1 0\n$EndNodes\n";
    const auto two = [&](const std::string &first, const std::string &second) {
      return head + nodes + "$Elements\n2\n" + first + " 1 2 5 4\n" + second +
          " 2 3 6 5\n$EndElements\n";
    };
    refused(two("1 3 2 7 7", "1 3 2 8 8"), {"Gmsh takes 1 of the 2 elements"});
    refused(two("1 3 2 7 1", "2 3 2 8 1"), {"entity 1 of dimension 2", "groups 7 and 8"});
    refused(two("1 3 2 7 7", "2 99 2 8 8"), {"Gmsh does not read it"});
    test::write(path, two("1 3 2 7 7", "2 3 0"));
    EXPECT_EQ(read_mesh_file(2, path).blocks.material, (std::vector<int>{0, 7}));
    refused("$NOD\n4\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n$ENDNOD\n$ELM\n1\n1 3 7 7 4 1 2 3 4\n",
        {"$ELM has no end"});
    test::write(path,
        "$NOD\n4\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n$ENDNOD\n$ELM\n1\n1 3 7 7 4 1 2 3 4\n$ENDELM\n");
    EXPECT_EQ(read_mesh_file(2, path).blocks.material, std::vector<int>{7});
  }

  // A file that is cut off anywhere is refused, or lacks nothing that counts.
  TEST(GmshFile, FilesThatAreCutOff)
  {
    const TemporaryDirectory folder;
    const std::string path = folder / "cut.msh";
    for (const Format &format : {Format{2.2, false}, {2.2, true}, {4.1, false}, {4.1, true}})
    {
      {
        const Model model;
        make_ring(2, 2, false);
        model.write(path, format);
      }
      const std::string whole = content(path);
      std::vector<std::size_t> lengths{whole.size() - 1, whole.size() - 2, whole.size() - 5};
      for (std::size_t i = 0; i < 40; ++i)
        lengths.push_back(i * whole.size() / 40);
      for (const std::size_t length : lengths)
      {
        test::write(path, whole.substr(0, length));
        SCOPED_TRACE(std::to_string(length) + " of " + std::to_string(whole.size()));
        if (length + 1 < whole.size())
          expect_refusal(2, path, {});
        else
          expect_ring(read_mesh_file(2, path), 2, 2);
      }
    }
  }

  // A program that uses Gmsh itself keeps its model and its options, and nothing is printed.
  TEST(GmshFile, LibraryIsLeftAsItWas)
  {
    const TemporaryDirectory folder;
    const std::string path = folder / "ring.msh", bad = folder / "bad.msh";
    test::write(bad,
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1\n1 0 0 0\n$EndNodes\n$Elements\n1\n1 "
        "3 0 1 2 3 4\n$EndElements\n");
    const Model model;
    make_ring(2, 1, false);
    model.write(path);
    gmsh::option::setNumber("General.Terminal", 1.);
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    expect_ring(read_mesh_file(2, path), 2, 1);
    expect_refusal(2, bad, {"Gmsh does not read it"});
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    std::string name;
    gmsh::model::getCurrent(name);
    EXPECT_EQ(name, "made by a test");
    std::vector<std::string> models;
    gmsh::model::list(models);
    EXPECT_EQ(models.size(), 2u) << "the first one is Gmsh's own";
    double terminal = 0.;
    gmsh::option::getNumber("General.Terminal", terminal);
    EXPECT_EQ(terminal, 1.);
    std::vector<std::size_t> nodes;
    std::vector<double> coordinates, parameters;
    mesh::getNodes(nodes, coordinates, parameters);
    EXPECT_GT(nodes.size(), 20u);
  }
} // namespace
} // namespace tensormg
