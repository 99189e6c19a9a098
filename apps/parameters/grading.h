// The sizes of cells: parameter problem.grading.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "tensormg/graded.h"

namespace tensormg
{
struct Parameters;

/// Of one direction.
struct Grading
{
  enum class Kind : std::uint8_t
  {
    equal,
    geometric, ///< geometric_corners()
    tanh,      ///< tanh_corners()
    corners,
    file
  };
  Kind kind = Kind::equal;
  double ratio = 1.; ///< of the largest to the smallest cell
  FineEnd end = FineEnd::both;
  std::vector<double> corners; ///< of the parameter, or of the file once it was read
  std::string path;
};

/// "equal", "geometric RATIO END", "tanh RATIO END", "corners X0 X1 ..." or "file PATH", one for all directions or one per
/// direction, separated by semicolons; nothing: equal.
std::string read_grading(std::array<Grading, 3> &grading, int dim, const std::string &text);
std::string write_grading(const std::array<Grading, 3> &grading, int dim);

/// Sets problem.corners for problem.refinements, and reads files. Throws ParameterError.
void set_corners(Parameters &parameters);
} // namespace tensormg
