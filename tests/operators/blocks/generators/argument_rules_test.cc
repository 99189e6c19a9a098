#include "operators/blocks/generators/argument_rules.h"

#include <string>

#include <gtest/gtest.h>

#include "operators/blocks/generated_mesh.h"

namespace tensormg
{
namespace
{
  struct Case
  {
    int dim;
    const char *name, *arguments, *refusal;
  };

  /// Each of these ended deal.II, or its mesh was another one than that asked for.
  const Case refused[] = {
      {2, "hyper_cube", "1 : 0 : false",
          "left = 1, right = 0; allowed: left : right : colorize with left < right"},
      {2, "hyper_cube", "1 : 1 : false", "left < right"},
      {2, "subdivided_hyper_cube", "0 : 0 : 1 : false", "1 <= repetitions"},
      {2, "subdivided_hyper_cube", "-3 : 0 : 1 : false", "1 <= repetitions"},
      {3, "subdivided_hyper_cube", "100000 : 0 : 1 : false", "cells = 1e+15"},
      {3, "hyper_rectangle", "0,0,0 : 1,0,1 : false", "p1 != p2"},
      {2, "subdivided_hyper_rectangle", "3 : 0,0 : 1,1 : false", "count(repetitions) = 1, dim = 2"},
      {2, "subdivided_hyper_rectangle", "3,0 : 0,0 : 1,1 : false", "0 < repetitions"},
      {2, "subdivided_hyper_rectangle", "1,2 ; 3 : 0,0 : 3,5 : false",
          "sum(step_sizes) = 3,3, |p2-p1| = 3,5"},
      {3, "simplex", "0,0,0 ; 1,0,0 ; 0,1,0", "count(vertices) = 3"},
      {3, "general_cell", "0,0,0 ; 1,0,0 : false", "count(vertices) = 2"},
      {2, "cheese", "2", "count(holes) = 1"},
      {2, "cheese", "2,0", "1 <= holes"},
      {2, "hyper_cross", "1,1 : true", "count(sizes) = 2"},
      {3, "hyper_L", "1 : -1 : false", "left < right"},
      {3, "hyper_cube_slit", "1 : 0 : false", "left < right"},
      {3, "enclosed_hyper_cube", "0 : 1 : 0 : false", "0 < thickness"},
      {3, "hyper_ball", "0,0,0 : -1 : false", "radius = -1"},
      {2, "hyper_ball_balanced", "0,0 : 0", "0 < radius"},
      {3, "quarter_hyper_ball", "0,0,0 : -1", "0 < radius"},
      {3, "half_hyper_ball", "0,0,0 : 0", "0 < radius"},
      {3, "cylinder", "1 : -1", "half_length = -1"},
      {3, "cylinder", "-1 : 1", "radius = -1"},
      {3, "subdivided_cylinder", "0 : 1 : 1", "1 <= x_subdivisions"},
      {2, "subdivided_cylinder", "2 : 1 : 1", "problem.dimension = 3"},
      {3, "truncated_cone", "1 : 0 : 1", "0 < radius_1"},
      {3, "truncated_cone", "1e-12 : 1e-12 : 1", "cells"},
      {3, "torus", "1 : 2 : 6 : 6.283185307179586", "r = 2, R = 1"},
      {3, "torus", "2 : 1 : 2 : 6.283185307179586", "3 <= n_cells_toroidal"},
      {3, "torus", "2 : 1 : 6 : 7", "0 < phi <= 2*pi"},
      {3, "moebius", "4 : 2 : 2 : 0.5", "5 <= n_cells"},
      {2, "moebius", "6 : 2 : 2 : 0.5", "problem.dimension = 3"},
      {3, "pipe_junction", "0,0,-2 : 1 ; 0,1.8,1 : 0.4 = 0,0,0 : 1 = 0.5", "count(openings) = 2"},
      {3, "pipe_junction", "0,0,-2 : -1 ; 0,1.8,1 : 0.4 ; 0,-1.8,1 : 0.4 = 0,0,0 : 1 = 0.5",
          "0 < radii"},
      {3, "pipe_junction", "1 ; 2 ; 3 = 1 = 1", "0 < radii"},
      {2, "concentric_hyper_shells", "0,0 : 1 : 2 : 1 : 0 : 1000000000 : false", "cells"},
      {2, "hyper_shell", "0,0 : 2 : 1 : 0 : true", "inner_radius = 2, outer_radius = 1"},
      {2, "hyper_shell", "0,0 : 0 : 1 : 0 : true", "0 < inner_radius < outer_radius"},
      {2, "hyper_shell", "0,0 : 1 : 2 : 2 : true", "1 != n_cells != 2"},
      {2, "hyper_shell", "0,0 : 1 : 1.000000000001 : 0 : true", "cells"},
      {3, "hyper_shell", "0,0,0 : 1 : 2 : 7 : true", "n_cells = 7"},
      {3, "half_hyper_shell", "0,0,0 : 1 : 1 : 0 : true", "inner_radius < outer_radius"},
      {2, "half_hyper_shell", "0,0 : 1 : 0.5 : 0 : true", "inner_radius < outer_radius"},
      {2, "half_hyper_shell", "0,0 : 1 : 2 : 1 : true", "1 != n_cells"},
      {2, "quarter_hyper_shell", "0,0 : 1 : 0.5 : 0 : true", "inner_radius < outer_radius"},
      {3, "quarter_hyper_shell", "0,0,0 : 1 : 2 : 4 : true", "n_cells in 0|3"},
      {2, "eccentric_hyper_shell", "0,0 : 2,0 : 1 : 2 : 0", "|inner_center-outer_center| = 2"},
      {3, "cylinder_shell", "-1 : 1 : 2 : 0 : 0", "0 < length"},
      {3, "cylinder_shell", "1 : 2 : 1 : 0 : 0", "inner_radius < outer_radius"},
      {2, "cylinder_shell", "1 : 1 : 2 : 0 : 0", "problem.dimension = 3"},
      {2, "concentric_hyper_shells", "0,0 : 1 : 2 : 0 : 0 : 0 : true", "1 <= n_shells"},
      {2, "concentric_hyper_shells", "0,0 : 2 : 1 : 2 : 0 : 0 : true",
          "inner_radius < outer_radius"},
      {2, "plate_with_a_hole", "1 : 0.4 : 2 : 2 : 1 : 1 : 0,0 : 0 : 1 : 1 : 2 : true",
          "inner_radius < outer_radius"},
      {2, "plate_with_a_hole", "0.4 : 1 : -2 : 2 : 1 : 1 : 0,0 : 0 : 1 : 1 : 2 : true",
          "0 <= pad_bottom"},
      {2, "plate_with_a_hole", "0.4 : 1 : 2 : 2 : 1e12 : 1 : 0,0 : 0 : 1 : 1 : 2 : true", "cells"},
      {3, "plate_with_a_hole", "0.4 : 1 : 2 : 2 : 1 : 1 : 0,0,0 : 0 : 1 : 1 : 1 : true",
          "2 <= n_slices"},
      {3, "plate_with_a_hole", "0.4 : 1 : 2 : 2 : 1 : 1 : 0,0,0 : 0 : 1 : 0 : 2 : true", "0 < L"},
      {2, "hyper_cube_with_cylindrical_hole", "0.5 : 0.25 : 1 : 1 : true",
          "inner_radius < outer_radius"},
      {3, "hyper_cube_with_cylindrical_hole", "0.25 : 0.5 : 1 : 0 : true", "1 <= repetitions"},
      {2, "channel_with_cylinder", "0.03 : 0 : 2 : true", "1 <= n_shells"},
      {2, "channel_with_cylinder", "0.06 : 2 : 2 : true", "shell_region_width < 0.05"},
      {2, "channel_with_cylinder", "0.03 : 2 : 30 : true", "skewness"},
  };

  TEST(ArgumentRules, WhatIsRefused)
  {
    for (const Case &of : refused)
      try
      {
        check_generator_arguments(of.dim, of.name, of.arguments);
        ADD_FAILURE() << of.name << " takes " << of.arguments;
      }
      catch (const MeshError &error)
      {
        const std::string text = error.what();
        EXPECT_NE(text.find(of.refusal), std::string::npos) << text;
        EXPECT_NE(text.find("; allowed: "), std::string::npos) << text;
        EXPECT_NE(text.find(of.name), std::string::npos) << text;
      }
  }

  /// Each generator with other arguments than those that are refused, and how many cells it then makes.
  struct Mesh
  {
    int dim;
    const char *name, *arguments;
    int cells;
  };
  const Mesh made[] = {
      {2, "hyper_cube", "0 : 1 : true", 1},
      {3, "subdivided_hyper_cube", "2 : 0 : 1 : true", 8},
      {3, "hyper_rectangle", "1,1,1 : 0,2,3 : false", 1},
      {2, "subdivided_hyper_rectangle", "3,2 : 0,0 : 1,1 : false", 6},
      {2, "subdivided_hyper_rectangle", "1,2 ; 3 : 0,0 : 3,3 : false", 2},
      {3, "simplex", "0,0,0 ; 1,0,0 ; 0,1,0 ; 0,0,1", 4},
      {2, "general_cell", "0,0 ; 1,0 ; 0,1 ; 1,2 : true", 1},
      {2, "cheese", "2,2", 21},
      {2, "hyper_cross", "1,0,1,1 : true", 4},
      {3, "hyper_L", "-1 : 1 : false", 7},
      {2, "enclosed_hyper_cube", "0 : 1 : 0.5 : false", 9},
      {3, "hyper_ball", "0,0,0 : 1 : true", 7},
      {2, "hyper_ball_balanced", "0,0 : 1", 12},
      {3, "quarter_hyper_ball", "0,0,0 : 1", 4},
      {3, "half_hyper_ball", "0,0,0 : 1", 6},
      {3, "cylinder", "1 : 2", 10},
      {3, "subdivided_cylinder", "3 : 1 : 2", 15},
      {3, "truncated_cone", "1 : 0.5 : 1", 5},
      {3, "torus", "2 : 1 : 6 : 6.283185307179586", 30},
      {3, "moebius", "6 : 2 : 2 : 0.5", 6},
      {3, "pipe_junction", "0,0,-2 : 1 ; 0,1.8,1 : 0.4 ; 0,-1.8,1 : 0.4 = 0,0,0 : 1 = 0.5", 168},
      {2, "hyper_shell", "0,0 : 1 : 2 : 0 : true", 10},
      {3, "hyper_shell", "0,0,0 : 1 : 2 : 24 : true", 24},
      {2, "half_hyper_shell", "0,0 : 1 : 2 : 2 : true", 2},
      {3, "quarter_hyper_shell", "0,0,0 : 1 : 2 : 3 : true", 3},
      {2, "eccentric_hyper_shell", "0.5,0 : 0,0 : 1 : 2 : 12", 12},
      {3, "cylinder_shell", "1 : 1 : 2 : 6 : 2", 12},
      {2, "concentric_hyper_shells", "0,0 : 1 : 2 : 3 : 2 : 0 : true", 24},
      {2, "plate_with_a_hole", "0.4 : 1 : 0 : 0 : 0 : 0 : 0,0 : 0 : 1 : 1 : 2 : true", 8},
      {3, "plate_with_a_hole", "0.4 : 1 : 2 : 2 : 1 : 1 : 0,0,0 : 0 : 1 : 1 : 2 : true", 28},
      {3, "hyper_cube_with_cylindrical_hole", "0.25 : 0.5 : 1 : 2 : true", 16},
      {2, "channel_with_cylinder", "0.03 : 2 : 2 : true", 108},
  };

  TEST(ArgumentRules, WhatIsMade)
  {
    for (const Mesh &of : made)
    {
      SCOPED_TRACE(of.name);
      EXPECT_NO_THROW(
          EXPECT_EQ(generate_mesh(of.dim, of.name, of.arguments, 1).blocks.n_blocks(), of.cells));
    }
  }

  TEST(ArgumentRules, WhatIsLeftToDealii)
  {
    check_generator_arguments(2, "hyper_bal", "0,0 : -1");
    check_generator_arguments(2, "hyper_ball", "0,0 : x : false");
    check_generator_arguments(2, "hyper_ball", "0,0 : -1");
  }
} // namespace
} // namespace tensormg
