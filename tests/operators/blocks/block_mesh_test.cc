// Blocks from lists of cells and from generators: neighbours and their maps, names of boundaries, and what is refused, with the place.
#include "operators/blocks/block_mesh.h"

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "operators/blocks/generated_mesh.h"

namespace tensormg
{
namespace
{
  /// nx x ny squares, or cubes in one layer.
  MeshCells grid(int dim, int nx, int ny)
  {
    MeshCells mesh = box_cells(dim, {nx, ny, 1}, {0., 0., 0.}, {double(nx), double(ny), 1.});
    mesh.boundary.clear();
    return mesh;
  }

  std::string refusal(const MeshCells &mesh)
  {
    try
    {
      make_block_mesh(mesh);
    }
    catch (const MeshError &error)
    {
      return error.what();
    }
    return "";
  }

  TEST(BlockMesh, SidesOfABox)
  {
    for (const int dim : {2, 3})
    {
      const BlockMesh mesh = make_block_mesh(box_cells(dim, {2, 3, 2}, {0., 1., 2.}, {1., 2., 4.}));
      ASSERT_EQ(mesh.n_blocks(), dim == 3 ? 12 : 6);
      EXPECT_EQ(mesh.corners.front()[0], (std::array<double, 3>{0., 1., dim == 3 ? 2. : 0.}));
      EXPECT_EQ(
          mesh.corners.back()[(1 << dim) - 1], (std::array<double, 3>{1., 2., dim == 3 ? 4. : 0.}));
      for (const auto &sides : mesh.sides)
        for (int side = 0; side < 2 * dim; ++side)
          if (sides[side].neighbour < 0)
          {
            EXPECT_EQ(sides[side].boundary, side);
          }
    }
  }

  TEST(BlockMesh, NeighboursOfAGrid)
  {
    const BlockMesh mesh = make_block_mesh(grid(3, 3, 2));
    ASSERT_EQ(mesh.n_blocks(), 6);
    for (int y = 0; y < 2; ++y)
      for (int x = 0; x < 3; ++x)
      {
        const auto &sides = mesh.sides[x + 3 * y];
        EXPECT_EQ(sides[0].neighbour, x > 0 ? x - 1 + 3 * y : -1);
        EXPECT_EQ(sides[1].neighbour, x < 2 ? x + 1 + 3 * y : -1);
        EXPECT_EQ(sides[3].neighbour, y < 1 ? x + 3 : -1);
        EXPECT_EQ(sides[5].neighbour, -1);
        for (int side = 0; side < 6; ++side)
          if (sides[side].neighbour >= 0)
          {
            EXPECT_EQ(sides[side].side, side ^ 1);
            EXPECT_EQ(sides[side].map, FaceMap());
          }
      }
  }

  // The way there and back, in a mesh whose blocks have all kinds of directions.
  TEST(BlockMesh, MapsOfNeighboursAreInverse)
  {
    for (const int dim : {2, 3})
    {
      const BlockMesh mesh =
          generate_mesh(dim, "hyper_ball", dim == 2 ? "0,0 : 1 : false" : "0,0,0 : 1 : false", 2)
              .blocks;
      int turned = 0;
      for (std::int64_t b = 0; b < mesh.n_blocks(); ++b)
        for (int side = 0; side < 2 * dim; ++side)
          if (const BlockSide &other = mesh.sides[b][side]; other.neighbour >= 0)
          {
            const BlockSide &back = mesh.sides[other.neighbour][other.side];
            EXPECT_EQ(back.neighbour, b);
            EXPECT_EQ(back.side, side);
            EXPECT_EQ(back.map, other.map.inverse());
            turned += other.side != (side ^ 1) || other.map != FaceMap() ? 1 : 0;
          }
      EXPECT_GT(turned, 0);
    }
  }

  TEST(BlockMesh, NamesOfBoundaries)
  {
    MeshCells mesh = grid(2, 2, 1);
    mesh.boundary = {{{0, 1, 0, 0}, 7}, {{5, 2, 0, 0}, 3}};
    mesh.material = {4, 2};
    const BlockMesh blocks = make_block_mesh(mesh);
    EXPECT_EQ(blocks.sides[0][2].boundary, 7);
    EXPECT_EQ(blocks.sides[1][1].boundary, 3);
    EXPECT_EQ(blocks.sides[1][2].boundary, 0);
    EXPECT_EQ(blocks.material, (std::vector<int>{4, 2}));
  }

  TEST(BlockMesh, WhatIsRefused)
  {
    const auto changed = [](int dim, const std::function<void(MeshCells &)> &change) {
      MeshCells mesh = grid(dim, 2, 2);
      change(mesh);
      return refusal(mesh);
    };
    const auto expect = [](const std::string &found, const std::string &text) {
      EXPECT_NE(found.find(text), std::string::npos)
          << "found: " << found << "\nexpected: " << text;
    };
    for (const int dim : {2, 3})
    {
      EXPECT_EQ(changed(dim, [](MeshCells &) {}), "");
      expect(changed(dim, [](MeshCells &m) { m.cells.clear(); }), "no cells");
      expect(changed(dim, [](MeshCells &m) { m.cells[1][2] = 99; }), "cell 1 names vertex 99");
      expect(changed(dim, [](MeshCells &m) { m.cells[1][3] = m.cells[1][0]; }), "twice");
      expect(changed(dim, [](MeshCells &m) { m.vertices[4][0] = NAN; }), "not a number");
      expect(changed(dim, [](MeshCells &m) { std::swap(m.cells[3][0], m.cells[3][1]); }),
          "cell 3 at (1.5, 1.5");
      expect(changed(dim,
                 [](MeshCells &m) {
                   m.vertices[4] = {2.5, 2.5, 0.};
                 }),
          "is inverted at its corner (");
      expect(changed(dim,
                 [](MeshCells &m) {
                   m.vertices[4] = {0.5, 0.5, 0.};
                 }),
          "is flat at its corner (0.5, 0.5");
      expect(changed(dim,
                 [](MeshCells &m) {
                   m.vertices.push_back(m.vertices[4]);
                   m.cells[0][3] = std::ssize(m.vertices) - 1;
                 }),
          "lie both at (1, 1");
      expect(changed(dim,
                 [](MeshCells &m) {
                   m.boundary = {{{0, 4, 3, 9}, 5}};
                 }),
          "boundary 5 at (0, 0");
    }
    expect(changed(3, [](MeshCells &m) { m.cells.push_back(m.cells[0]); }),
        "shares a face with two others");
    expect(changed(2,
               [](MeshCells &m) {
                 m.boundary = {{{1, 4, 0, 0}, 5}};
               }),
        "lies between two cells");
    expect(changed(2,
               [](MeshCells &m) {
                 m.boundary = {{{0, 1, 0, 0}, 5}, {{1, 0, 0, 0}, 6}};
               }),
        "named twice, as boundary 5 and 6");
  }

  TEST(NamedMesh, CurvesAreThoseOfTheGenerator)
  {
    const NamedMesh shell = generate_mesh(3, "hyper_shell", "0,0,0 : 0.5 : 1 : 6 : true", 10);
    EXPECT_EQ(shell.blocks.n_blocks(), 6);
    for (int b = 0; b < 6; ++b)
    {
      int inner = 0;
      while (shell.blocks.sides[b][inner].neighbour >= 0)
        ++inner;
      if (shell.blocks.sides[b][inner].boundary == 1)
        inner ^= 1;
      EXPECT_EQ(shell.blocks.sides[b][inner].boundary, 0);
      EXPECT_EQ(shell.blocks.sides[b][inner ^ 1].boundary, 1);
      for (const auto &[t, radius] : {std::pair{0., 0.5}, {1., 1.}, {0.5, 0.75}})
      {
        std::array<std::vector<double>, 3> coordinates{{{0.1, 0.77}, {0.3}, {0.9}}};
        coordinates[inner / 2] = {inner % 2 == 0 ? t : 1. - t};
        for (const auto &p : shell.geometry.points(b, coordinates))
          EXPECT_NEAR(std::hypot(p[0], p[1], p[2]), radius, 1e-6);
      }
    }
  }

  TEST(NamedMesh, WrongNamesAndArguments)
  {
    const auto refusal_of = [](const char *name, const char *arguments) {
      try
      {
        generate_mesh(2, name, arguments, 1);
      }
      catch (const MeshError &error)
      {
        return std::string(error.what());
      }
      return std::string();
    };
    EXPECT_NE(refusal_of("hyper_bal", "0,0 : 1 : false").find("hyper_bal"), std::string::npos);
    const std::string wrong = refusal_of("hyper_ball", "0,0 : x : false");
    EXPECT_NE(wrong.find("the generator hyper_ball makes no mesh of '0,0 : x : false'"),
        std::string::npos)
        << wrong;
    EXPECT_EQ(wrong.find('\n'), std::string::npos);
  }
} // namespace
} // namespace tensormg
