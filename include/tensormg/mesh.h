// The mesh of a problem that is not on a box of axis-parallel cells, as plain data.
#pragma once

#include <array>
#include <cstdint>
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
  file      ///< "file"
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

struct MeshOptions
{
  MeshType type = MeshType::box;
  std::array<std::string, 3> map;  ///< mapped: the place of (x, y, z), one expression per direction
  std::string generator;           ///< generate: the name, as in "hyper_shell"
  std::string generator_arguments; ///< separated by colons, "0,0,0 : 0.5 : 1 : 6"
  std::string file;                ///< file: its path
  /// Polynomial degree of the geometry of a cell, at most that of the elements; 0: theirs.
  int degree = 0;
  FaceAverage averages = FaceAverage::arithmetic;
  /// Boundaries by name or number and what holds there, for meshes that are generated or from a file; "*" is all others.
  std::vector<std::pair<std::string, BoundaryCondition>> conditions{{"*", {}}};
};
} // namespace tensormg
