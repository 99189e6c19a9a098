// The mesh of a problem that is not on a box of axis-parallel cells, as plain data.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tensormg/problem.h"

namespace tensormg
{
enum class MeshType : std::uint8_t
{
  box,      ///< "box": axis-parallel cells
  mapped,   ///< "mapped": the cells of the box, moved by functions of their coordinates
  generate, ///< "generate": by a generator of deal.II
  file,     ///< "file"
  arrays    ///< MeshArrays; for callers of the library
};

/// Of what both cells have at a face, K and the sizes of the cells counting.
enum class FaceAverage : std::uint8_t
{
  arithmetic, ///< "arithmetic": of fluxes, and the sum of penalties
  harmonic ///< "harmonic": weights that are large where K is small, and the harmonic mean of penalties, for K that jumps
};

/// What holds on a boundary, as on a side of the box.
struct BoundaryCondition
{
  BoundaryKind kind = BoundaryKind::dirichlet;
  std::string value = "0";
  std::string robin_coefficient = "1";
};

/// Where the nodes of a cell lie on its edges.
enum class CellNodePlaces : std::uint8_t
{
  gauss_lobatto, ///< the points of Gauss-Lobatto quadrature: deal.II's MappingQ, MFEM's nodes
  equidistant    ///< Gmsh, VTK
};

/// A mesh of the calling program: cells with (degree + 1)^dim nodes each, whose polynomials are their shape.
struct MeshArrays
{
  int degree = 1; ///< 1 to 12; up to 2 both places are the same
  CellNodePlaces places = CellNodePlaces::gauss_lobatto;
  std::vector<std::array<double, 3>> points; ///< in 2D z is not read
  /// The numbers of the points of each cell, its nodes in the order of a tensor product, the first direction fastest: corners of degree 1 as
  /// deal.II numbers them, (0,0), (1,0), (0,1), (1,1) and so on. Right-handed. Cells that meet have the numbers of the corners of their face in common; its other
  /// nodes may be points of each, at the same places.
  std::vector<std::int64_t> cells;
  std::vector<int> material; ///< by cell; empty: 0
  /// Faces at the boundary by the numbers of their corners, in any order (in 2D the first two), and to which boundary each belongs; faces
  /// that are not here belong to boundary 0.
  std::vector<std::array<std::int64_t, 4>> faces;
  std::vector<int> boundary;
  std::map<int, std::string> boundary_names; ///< of those that have one
};

struct MeshOptions
{
  MeshType type = MeshType::box;
  std::array<std::string, 3> map;  ///< mapped: the place of (x, y, z), one expression per direction
  std::string generator;           ///< generate: the name, as in "hyper_shell"
  std::string generator_arguments; ///< separated by colons, "0,0,0 : 0.5 : 1 : 6"
  std::string file;                ///< file: its path
  MeshArrays arrays;               ///< arrays
  /// Polynomial degree of the geometry of a cell, at most that of the elements; 0: theirs.
  int degree = 0;
  FaceAverage averages = FaceAverage::arithmetic;
  /// Boundaries by name or number and what holds there, for all meshes but mapped boxes; "*" is all others.
  std::vector<std::pair<std::string, BoundaryCondition>> conditions{{"*", {}}};
};
} // namespace tensormg
