#include "operators/blocks/generators/generators.h"

namespace tensormg
{
namespace
{
  constexpr const char *of_box = "left < right", *of_ball = "0 < radius",
                       *of_radii = "0 < inner_radius < outer_radius",
                       *of_circle = "2D: 1 != n_cells != 2",
                       *of_sphere = "3D: n_cells in 0|6|12|24|48|96|192|384|768|1536|3072|6144",
                       *at_least_0 = "0 <= n_cells", *of_number = "cells <= 1e7",
                       *of_length = "0 < half_length",
                       *shell = "center : inner_radius : outer_radius : n_cells : colorize";

  std::vector<Generator> boxes()
  {
    return {
        {"hyper_cube", "left : right : colorize", {of_box}},
        {"subdivided_hyper_cube", "repetitions : left : right : colorize",
            {"1 <= repetitions", of_number, of_box}},
        {"hyper_rectangle", "p1 : p2 : colorize", {"p1 != p2"}},
        {"subdivided_hyper_rectangle", "repetitions : p1 : p2 : colorize",
            {"count(repetitions) = dim", "0 < repetitions", of_number, "p1 != p2",
                "sum(step_sizes) = |p2-p1|"}},
        {"simplex", "vertices", {"count(vertices) = dim+1"}},
        {"general_cell", "vertices : colorize", {"count(vertices) = 2^dim"}},
        {"cheese", "holes", {"count(holes) = dim", "1 <= holes", of_number}},
        {"hyper_cross", "sizes : colorize", {"count(sizes) = 2*dim", "0 <= sizes", of_number}},
        {"hyper_L", "left : right : colorize", {of_box}},
        {"hyper_cube_slit", "left : right : colorize", {of_box}},
        {"enclosed_hyper_cube", "left : right : thickness : colorize", {of_box, "0 < thickness"}},
    };
  }

  std::vector<Generator> round_bodies()
  {
    return {
        {"hyper_ball", "center : radius : attach_spherical_manifold", {of_ball}},
        {"hyper_ball_balanced", "center : radius", {of_ball}},
        {"quarter_hyper_ball", "center : radius", {of_ball}},
        {"half_hyper_ball", "center : radius", {of_ball}},
        {"cylinder", "radius : half_length", {of_ball, of_length}},
        {"subdivided_cylinder", "x_subdivisions : radius : half_length",
            {"1 <= x_subdivisions", of_number, of_ball, of_length}, false},
        {"truncated_cone", "radius_0 : radius_1 : half_length",
            {"0 < radius_0", "0 < radius_1", of_length, of_number}},
        {"torus", "R : r : n_cells_toroidal : phi",
            {"0 < r < R", "3 <= n_cells_toroidal <= 1e6", "0 < phi <= 2*pi"}, false},
        {"moebius", "n_cells : n_rotations : R : r",
            {"5 <= n_cells <= 1e6", "0 <= n_rotations", "0 < r < R"}, false},
        {"pipe_junction", "openings = bifurcation = aspect_ratio",
            {"count(openings) = 3", "0 < radii", "0 < aspect_ratio"}, false, '='},
    };
  }

  std::vector<Generator> shells_and_holes()
  {
    return {
        {"hyper_shell", shell, {of_radii, at_least_0, of_circle, of_sphere, of_number}},
        {"half_hyper_shell", shell, {of_radii, at_least_0, "2D: 1 != n_cells", of_number}},
        {"quarter_hyper_shell", shell, {of_radii, at_least_0, "3D: n_cells in 0|3", of_number}},
        {"eccentric_hyper_shell",
            "inner_center : outer_center : inner_radius : outer_radius : n_cells",
            {of_radii, "|inner_center-outer_center| < outer_radius-inner_radius", at_least_0,
                of_circle, of_sphere, of_number}},
        {"cylinder_shell", "length : inner_radius : outer_radius : n_radial_cells : n_axial_cells",
            {"0 < length", of_radii, "0 <= n_radial_cells", "1 != n_radial_cells != 2",
                "0 <= n_axial_cells", of_number},
            false},
        {"concentric_hyper_shells",
            "center : inner_radius : outer_radius : n_shells : skewness : n_cells : colorize",
            {of_radii, "1 <= n_shells <= 1000", "0 <= skewness <= 10", at_least_0, of_circle,
                of_sphere, of_number}},
        {"plate_with_a_hole",
            "inner_radius : outer_radius : pad_bottom : pad_top : pad_left : pad_right : center : "
            "polar_manifold_id : tfi_manifold_id : L : n_slices : colorize",
            {of_radii, "0 <= pad_bottom", "0 <= pad_top", "0 <= pad_left", "0 <= pad_right",
                "polar_manifold_id != tfi_manifold_id", "3D: 0 < L", "3D: 2 <= n_slices",
                of_number}},
        {"hyper_cube_with_cylindrical_hole",
            "inner_radius : outer_radius : L : repetitions : colorize",
            {of_radii, "3D: 0 < L", "3D: 1 <= repetitions <= 1e6"}},
        {"channel_with_cylinder", "shell_region_width : n_shells : skewness : colorize",
            {"0 <= shell_region_width < 0.05", "1 <= n_shells <= 1000", "0 <= skewness <= 10"}},
    };
  }
} // namespace

const Generator *find_generator(const std::string &name)
{
  static const std::vector<Generator> groups[] = {boxes(), round_bodies(), shells_and_holes()};
  for (const auto &group : groups)
    for (const Generator &generator : group)
      if (generator.name == name)
        return &generator;
  return nullptr;
}
} // namespace tensormg
