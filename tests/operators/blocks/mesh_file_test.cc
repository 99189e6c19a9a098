// Mesh files that deal.II reads, and what every kind of file is refused for, with the file and the place.
#include "operators/blocks/mesh_file.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/operators/blocks/mesh_files.h"
#include "tests/support/temporary_directory.h"

namespace tensormg
{
namespace
{
  using test::expect_refusal;
  using test::TemporaryDirectory;
  using test::volume;

  // Two unit squares side by side, in VTK's order of nodes.
  std::string squares_vtk(const std::string &z = "0", const std::string &second = "1 2 5 4")
  {
    return "# vtk DataFile Version 3.0\nsquares\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 6 double\n"
           "0 0 " +
        z + "\n1 0 " + z + "\n2 0 " + z + "\n0 1 " + z + "\n1 1 " + z + "\n2 1 " + z +
        "\n\nCELLS 3 13\n4 0 1 4 3\n4 " + second +
        "\n2 0 3\n\nCELL_TYPES 3\n9\n9\n3\n\nCELL_DATA 3\nSCALARS MaterialID int 1\n"
        "LOOKUP_TABLE default\n7\n8\n9\n";
  }

  std::string cube_vtk(const std::string &cell)
  {
    return "# vtk DataFile Version 3.0\ncube\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 8 double\n"
           "0 0 0\n1 0 0\n1 1 0\n0 1 0\n0 0 1\n1 0 1\n1 1 1\n0 1 1\n\nCELLS 1 9\n8 " +
        cell + "\n\nCELL_TYPES 1\n12\n";
  }

  const std::string squares_ucd =
      "# two squares\n6 4 0 0 0\n"
      "1 0 0 0\n2 1 0 0\n3 2 0 0\n4 0 1 0\n5 1 1 0\n6 2 1 0\n"
      "1 7 quad 1 2 5 4\n2 8 quad 2 3 6 5\n3 4 line 1 4\n4 5 line 3 6\n";

  const std::string cube_abaqus =
      "*HEADING\ncube\n*NODE\n1, 0, 0, 0\n2, 1, 0, 0\n3, 1, 1, 0\n4, 0, 1, 0\n5, 0, 0, 1\n"
      "6, 1, 0, 1\n7, 1, 1, 1\n8, 0, 1, 1\n*ELEMENT, TYPE=C3D8R, ELSET=EB3\n1, 1, 2, 3, 4, 5, 6, 7, 8\n"
      "*ELSET, ELSET=SS5_S6\n1,\n*SURFACE, NAME=SS5\nSS5_S6, S6\n*END\n";

  void expect_two_squares(const NamedMesh &two, int boundary)
  {
    ASSERT_EQ(two.blocks.n_blocks(), 2);
    EXPECT_EQ(two.geometry.degree(), 1);
    EXPECT_NEAR(volume(two), 2., 1e-14);
    EXPECT_EQ(two.blocks.material, (std::vector<int>{7, 8}));
    int n_boundary = 0, n_zero = 0;
    for (const auto &sides : two.blocks.sides)
      for (int side = 0; side < 4; ++side)
        if (sides[side].neighbour < 0)
          (sides[side].boundary == boundary ? n_boundary : n_zero) += 1;
    EXPECT_EQ(n_boundary, 1);
    EXPECT_EQ(n_boundary + n_zero, 6);
    EXPECT_TRUE(two.boundary_names.empty());
  }

  TEST(MeshFile, Vtk)
  {
    const TemporaryDirectory folder;
    const std::string path = folder / "mesh.vtk";
    for (const std::string z : {"0", "-2.5"})
    {
      test::write(path, squares_vtk(z));
      expect_two_squares(read_mesh_file(2, path), 9);
    }
    // Versions with the same content, and numbers of other kinds, which are left out.
    std::string other = squares_vtk();
    other.replace(other.find("3.0"), 3, "4.2");
    test::write(
        path, other + "POINT_DATA 6\nSCALARS T double 1\nLOOKUP_TABLE default\n0 0 0 1 1 1\n");
    expect_two_squares(read_mesh_file(2, path), 9);
    test::write(path, cube_vtk("0 1 2 3 4 5 6 7"));
    EXPECT_NEAR(volume(read_mesh_file(3, path)), 1., 1e-14);
  }

  TEST(MeshFile, Ucd)
  {
    const TemporaryDirectory folder;
    for (const char *name : {"mesh.ucd", "mesh.inp", "MESH.INP"})
    {
      test::write(folder / name, squares_ucd);
      const NamedMesh two = read_mesh_file(2, folder / name);
      expect_two_squares(two, 4);
      EXPECT_EQ(two.blocks.sides[0][0].boundary, 4);
      EXPECT_EQ(two.blocks.sides[1][1].boundary, 5);
    }
  }

  TEST(MeshFile, Abaqus)
  {
    const TemporaryDirectory folder;
    const std::string path = folder / "cube.inp";
    test::write(path, cube_abaqus);
    const NamedMesh cube = read_mesh_file(3, path);
    EXPECT_NEAR(volume(cube), 1., 1e-14);
    EXPECT_EQ(cube.blocks.material, std::vector<int>{3});
    int named = 0;
    for (const BlockSide &side : cube.blocks.sides[0])
      named += side.boundary == 5 ? 1 : 0;
    EXPECT_EQ(named, 1);
  }

  // deal.II prints what is wrong and throws that it has printed it.
  TEST(MeshFile, NothingIsPrinted)
  {
    const TemporaryDirectory folder;
    std::string missing = cube_abaqus;
    missing.erase(missing.find("8, 0, 1, 1\n"), 11);
    test::write(folder / "cube.inp", missing);
    testing::internal::CaptureStderr();
    expect_refusal(3, folder / "cube.inp", {"referencing a vertex with index 8"});
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  }

  // Sets of sets, which deal.II would read for ever, and elements that it takes by their place.
  TEST(MeshFile, SetsOfAbaqus)
  {
    const TemporaryDirectory folder;
    const std::string path = folder / "cube.inp";
    test::write(path, cube_abaqus + "*NSET, NSET=n\n1, 2\n*Elset, elset=all, generate\n1, 1, 1\n");
    EXPECT_EQ(read_mesh_file(3, path).blocks.n_blocks(), 1);
    test::write(path, cube_abaqus + "*Elset, elset=all\nEB3, EB4\n");
    expect_refusal(3, path, {"'EB3, EB4'", "line 20", "*ELSET"});
    test::write(path, cube_abaqus + "*ELSET, ELSET=all\n2,\n");
    expect_refusal(3, path, {"line 20 names element 2; there are 1"});
    std::string renumbered = cube_abaqus;
    renumbered.replace(renumbered.find("1, 1, 2, 3"), 1, "9");
    test::write(path, renumbered);
    expect_refusal(3, path, {"numbered from 1 in the order of the file"});
  }

  // Left-handed cells are turned, also one of several.
  TEST(MeshFile, LeftHandedCells)
  {
    const TemporaryDirectory folder;
    const std::string flat = folder / "flat.vtk", solid = folder / "solid.vtk";
    test::write(flat, squares_vtk("0", "1 4 5 2"));
    expect_two_squares(read_mesh_file(2, flat), 9);
    test::write(solid, cube_vtk("4 5 6 7 0 1 2 3"));
    EXPECT_NEAR(volume(read_mesh_file(3, solid)), 1., 1e-14);
    std::string abaqus = cube_abaqus;
    abaqus.replace(abaqus.find("1, 1, 2, 3, 4, 5, 6, 7, 8"), 25, "1, 5, 6, 7, 8, 1, 2, 3, 4");
    test::write(folder / "left.inp", abaqus);
    EXPECT_NEAR(volume(read_mesh_file(3, folder / "left.inp")), 1., 1e-14);
  }

  TEST(MeshFile, FilesThatAreRefused)
  {
    const TemporaryDirectory folder;
    expect_refusal(3, folder / "absent.vtk", {"no such file"});
    expect_refusal(3, folder / "mesh.stl", {".msh (Gmsh)", ".vtk", ".inp", ".ucd"});
    expect_refusal(3, folder / "mesh", {".msh (Gmsh)"});
    std::filesystem::create_directory(folder / "folder.msh");
    expect_refusal(3, folder / "folder.msh", {"a folder"});
    for (const char *name : {"empty.msh", "empty.vtk", "empty.inp", "empty.ucd"})
    {
      test::write(folder / name, "\n \n");
      expect_refusal(3, folder / name, {"is empty"});
      test::write(folder / name, "nothing of a mesh\n");
      expect_refusal(3, folder / name, {});
    }
  }

  TEST(MeshFile, MeshesThatAreRefused)
  {
    const TemporaryDirectory folder;
    const std::string path = folder / "mesh.vtk";
    const auto refused = [&](int dim, const std::string &text,
                             const std::vector<std::string> &parts) {
      test::write(path, text);
      expect_refusal(dim, path, parts);
    };
    refused(3, squares_vtk(), {"deal.II does not read it"});
    refused(2, cube_vtk("0 1 2 3 4 5 6 7"), {"deal.II does not read it"});
    refused(2, squares_vtk("0", "1 2 6 4"), {"cell 1 names point 6; there are 6"});
    const auto changed = [](std::string text, const std::string &from, const std::string &to) {
      return text.replace(text.find(from), from.size(), to);
    };
    refused(2, changed(squares_vtk(), "Version 3.0", "Version 5.1"), {"is 5.1", "4.2"});
    refused(2, changed(squares_vtk(), "ASCII", "BINARY"), {"is BINARY"});
    refused(2, changed(squares_vtk(), "1 1 0", "1 x 0"), {"coordinate 1 of point 4"});
    refused(2, changed(squares_vtk(), "CELL_TYPES 3", "CELL_TYPES 2"), {"3 cells have 2 types"});
    refused(2, changed(squares_vtk(), "CELL_TYPES 3\n9", "CELL_TYPES 3\n12"),
        {"cell 0 is of type 12 and has 4 points instead of 8"});
    refused(
        2, changed(squares_vtk(), "CELL_TYPES 3\n9", "CELL_TYPES 3\n23"), {"deal.II", "cell type"});
    refused(2, squares_vtk("0", "1 2 4 5"), {"cell 1 at (1.5, 0.5)", "inverted"});
    refused(3, cube_vtk("0 1 2 3 4 6 5 7"), {"cell 0 at (0.5, 0.5, 0.5)"});
    refused(
        2, changed(squares_vtk(), "2 1 0", "2 1 3"), {"(0, 0, 0)", "(2, 1, 3)", "plane of one z"});
    refused(2,
        "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 3 double\n"
        "0 0 0\n1 0 0\n0 1 0\n\nCELLS 1 4\n3 0 1 2\n\nCELL_TYPES 1\n5\n",
        {"1 of the 1 cells are no quadrilaterals"});
  }

  // Formats with counts: what is cut off is missed, but for materials that are not announced. (Files of Abaqus have no counts.)
  TEST(MeshFile, FilesThatAreCutOff)
  {
    const TemporaryDirectory folder;
    for (const auto &[name, text] :
        {std::pair<std::string, std::string>{"cut.vtk", squares_vtk()}, {"cut.ucd", squares_ucd}})
      for (std::size_t length = 0; length < text.size(); ++length)
      {
        SCOPED_TRACE(text.substr(0, length));
        test::write(folder / name, text.substr(0, length));
        const std::size_t data = text.find("\nCELL_DATA");
        if (data != std::string::npos && (length == data || length == data + 1))
          EXPECT_EQ(read_mesh_file(2, folder / name).blocks.n_blocks(), 2);
        else
          expect_refusal(2, folder / name, {});
      }
  }
} // namespace
} // namespace tensormg
