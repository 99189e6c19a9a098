// Problems on curved cells from their data to errors: orders, what is exact, fluxes that balance, conditions and their refusals.
#include "operators/pointwise/block_problem.h"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "operators/block_solver/block_solver.h"
#include "operators/pointwise/block_numbers.h"
#include "operators/pointwise/block_right_hand_side.h"

namespace tensormg
{
namespace
{
  struct Solved
  {
    SolveReport report;
    Errors errors;
    BlockNumbers numbers;
    Balance balance;
  };

  Solved solved(const Problem &p, const MeshOptions &mesh, double tolerance = 1e-11)
  {
    const BlockProblem problem = make_block_problem(p, mesh);
    const BlockLevels levels(
        problem.blocks, problem.geometry, pointwise_data(problem), level_options(problem));
    BlockRightHandSide right_hand_side = assemble_block_right_hand_side(problem, levels);
    make_compatible(problem, levels, right_hand_side);
    SolverOptions options;
    options.tolerance = tolerance;
    options.restart = 30;
    Vector<double> x(right_hand_side.b.block());
    const auto solver = make_block_solver(levels, options, x, right_hand_side.b);
    Solved result;
    result.report = solver->solve(x, right_hand_side.b, Start::zero);
    EXPECT_TRUE(result.report.converged()) << result.report.detail;
    if (levels.is_singular())
      subtract_mean(problem, levels, x);
    result.errors = compute_errors(problem, levels, x);
    result.numbers = solution_numbers(problem, levels, x);
    result.balance = right_hand_side.balance;
    return result;
  }

  MeshOptions generated(const std::string &generator, const std::string &arguments,
      std::vector<std::pair<std::string, BoundaryCondition>> conditions)
  {
    MeshOptions mesh;
    mesh.type = MeshType::generate;
    mesh.generator = generator;
    mesh.generator_arguments = arguments;
    mesh.conditions = std::move(conditions);
    return mesh;
  }

  void expect_orders(Problem p, const MeshOptions &mesh, int refinements)
  {
    SCOPED_TRACE(testing::Message() << p.dim << "D, degree " << p.degree);
    p.refinements = refinements;
    const Errors coarse = solved(p, mesh).errors;
    ++p.refinements;
    const Errors fine = solved(p, mesh).errors;
    EXPECT_GT(std::log2(coarse.l2 / fine.l2), p.degree + 0.8);
    EXPECT_GT(std::log2(coarse.h1_seminorm / fine.h1_seminorm), p.degree - 0.2);
  }

  /// u = 1 / r between spheres.
  Problem of_shell(int degree)
  {
    Problem p;
    p.degree = degree;
    p.right_hand_side = "0";
    p.exact_solution = "1/sqrt(x^2+y^2+z^2)";
    p.exact_gradient = {"-x/(x^2+y^2+z^2)^1.5", "-y/(x^2+y^2+z^2)^1.5", "-z/(x^2+y^2+z^2)^1.5"};
    return p;
  }

  TEST(CurvedProblem, OrdersBetweenSpheres)
  {
    const MeshOptions mesh = generated("hyper_shell", "0,0,0 : 0.5 : 1 : 6 : true",
        {{"0", {BoundaryKind::dirichlet, "2", "1"}}, {"1", {BoundaryKind::robin, "1", "2"}}});
    expect_orders(of_shell(2), mesh, 2);
    expect_orders(of_shell(3), mesh, 1);
  }

  // What rounding the solution leaves is no fault of the solver.
  TEST(CurvedProblem, SaysThatRoundingLimitsTheResidual)
  {
    Problem p;
    p.degree = 2;
    p.refinements = 1;
    p.right_hand_side = "1";
    const BlockProblem problem =
        make_block_problem(p, generated("hyper_shell", "0,0,0 : 0.5 : 1 : 6 : true", {{"*", {}}}));
    const BlockLevels levels(
        problem.blocks, problem.geometry, pointwise_data(problem), level_options(problem));
    const BlockRightHandSide right_hand_side = assemble_block_right_hand_side(problem, levels);
    Vector<double> x(right_hand_side.b.block());
    SolverOptions options;
    options.tolerance = 1e-18;
    const SolveReport report = make_block_solver(levels, options, x, right_hand_side.b)
                                   ->solve(x, right_hand_side.b, Start::zero);
    EXPECT_FALSE(report.converged());
    EXPECT_TRUE(report.is_rounding) << report.detail;
  }

  // The diagonal does not see r, which is a term of rank one.
  TEST(CurvedProblem, LargeRobinCoefficients)
  {
    Problem p;
    p.degree = 2;
    p.refinements = 1;
    p.right_hand_side = "1";
    p.exact_solution = "0";
    const std::pair<const char *, int> most[] = {{"1e3", 7}, {"1e6", 7}, {"1e9", 20}};
    for (const auto &[r, iterations] : most)
      EXPECT_LE(solved(p,
                    generated("hyper_shell", "0,0,0 : 0.5 : 1 : 6 : true",
                        {{"0", {}}, {"1", {BoundaryKind::robin, "1", r}}}),
                    1e-8)
                    .report.iterations,
          iterations)
          << r;
  }

  // The diagonal is that of stiff cells wherever soft ones touch them.
  TEST(CurvedProblem, ASoftLayerOfOneCell)
  {
    Problem p;
    p.degree = 2;
    p.refinements = 2;
    p.coarse_cells = {2, 2, 2};
    p.right_hand_side = "1";
    p.exact_solution = "0";
    p.cell_coefficient = {"if(x > 0.25 && x < 0.5, 1, 1e10)", "", ""};
    MeshOptions mesh;
    mesh.type = MeshType::mapped;
    mesh.map = {"x", "y", "z"};
    EXPECT_LE(solved(p, mesh, 1e-6).report.iterations, 12);
  }

  /// u = sin(x) exp(y) + x, with a full tensor, a reaction, and each kind of condition on a ring.
  Problem of_ring(int degree)
  {
    Problem p;
    p.dim = 2;
    p.degree = degree;
    p.cell_coefficient = {"2", "1 + 0.5*x", ""};
    p.mixed_coefficient = {"0.5", "", ""};
    p.reaction = "1 + x^2";
    p.exact_solution = "sin(x)*exp(y) + x";
    p.exact_gradient = {"cos(x)*exp(y) + 1", "sin(x)*exp(y)", ""};
    // -div(K grad u): u_xx = -u_s, u_yy = u_s, u_xy = cos(x) exp(y), u_s = sin(x) exp(y)
    p.right_hand_side =
        "2*sin(x)*exp(y) - cos(x)*exp(y) - (1+0.5*x)*sin(x)*exp(y) + (1+x^2)*(sin(x)*exp(y)+x)";
    return p;
  }
  const char *const u_of_ring = "sin(x)*exp(y) + x";
  // K grad u . n with n = (x, y) / r
  const std::string flux_of_ring =
      "((2*(cos(x)*exp(y)+1) + 0.5*sin(x)*exp(y))*x + (0.5*(cos(x)*exp(y)+1) + (1+0.5*x)*sin(x)*exp(y))*y)"
      "/sqrt(x^2+y^2)";

  TEST(CurvedProblem, OrdersWithATensorAReactionAndEveryCondition)
  {
    for (const BoundaryKind kind :
        {BoundaryKind::dirichlet, BoundaryKind::neumann, BoundaryKind::robin})
    {
      std::string value = u_of_ring;
      if (kind != BoundaryKind::dirichlet)
        value = "-1*(" + flux_of_ring + ")"; // the normal points to the middle
      if (kind == BoundaryKind::robin)
        value.append(" + (2+y)*(").append(u_of_ring).append(")");
      expect_orders(of_ring(3),
          generated("hyper_shell", "0,0 : 0.5 : 1 : 5 : true",
              {{"0", {kind, value, "2+y"}}, {"*", {BoundaryKind::dirichlet, u_of_ring, "1"}}}),
          2);
    }
  }

  // What goes in comes out, and the materials share the mesh.
  TEST(CurvedProblem, FluxesBalance)
  {
    Problem p = of_shell(2);
    p.refinements = 1;
    p.right_hand_side = "1 + x";
    const Solved s = solved(p,
        generated("hyper_shell", "0,0,0 : 0.5 : 1 : 6 : true",
            {{"0", {BoundaryKind::dirichlet, "x", "1"}}, {"1", {BoundaryKind::robin, "y", "2+x"}}}),
        1e-12);
    double flux = 0.;
    for (const auto &[number, of_boundary] : s.numbers.fluxes)
      flux += of_boundary;
    // All of f leaves: its integral is about that of 1 over the shell.
    EXPECT_NEAR(flux, -s.numbers.volume, 1e-8);
    EXPECT_NEAR(s.numbers.source, s.numbers.volume, 1e-10);
    EXPECT_NEAR(s.numbers.defect(), 0., 1e-9);
    // Cells of degree 2 on spheres of half and one.
    EXPECT_NEAR(s.numbers.areas.at(0), 3.14159, 0.01);
    EXPECT_NEAR(s.numbers.areas.at(1), 12.5664, 0.04);
    EXPECT_NEAR(s.numbers.volume, 3.66519, 0.01);
    EXPECT_NEAR(s.numbers.materials.at(0).volume, s.numbers.volume, 1e-12);
    EXPECT_NEAR(s.numbers.materials.at(0).integral, s.numbers.integral, 1e-12);
  }

  TEST(CurvedProblem, FluxesBalanceWithTheReaction)
  {
    Problem p = of_shell(2);
    p.refinements = 1;
    p.right_hand_side = "1 + x";
    p.reaction = "2 + y";
    const Solved s = solved(p,
        generated("hyper_shell", "0,0,0 : 0.5 : 1 : 6 : true",
            {{"0", {BoundaryKind::dirichlet, "x", "1"}}, {"1", {BoundaryKind::robin, "y", "2+x"}}}),
        1e-12);
    EXPECT_GT(std::abs(s.numbers.reaction), 0.1);
    EXPECT_NEAR(s.numbers.defect(), 0., 1e-9);
    EXPECT_GT(s.numbers.magnitude, s.numbers.source + std::abs(s.numbers.reaction));
  }

  // Of a plate whose cells are not rectangles; deal.II's generator makes one of bilinear cells.
  TEST(CurvedProblem, LinearFunctionsAreExactOnAffineCells)
  {
    Problem p;
    p.dim = 2;
    p.degree = 2;
    p.refinements = 2;
    p.coarse_cells = {2, 3, 1};
    p.cell_coefficient = {"3", "2", ""};
    p.mixed_coefficient = {"1", "", ""};
    p.right_hand_side = "0";
    p.exact_solution = "1 + 2*x - y";
    p.exact_gradient = {"2", "-1", ""};
    p.boundary_value.fill("1 + 2*x - y");
    MeshOptions mesh;
    mesh.type = MeshType::mapped;
    mesh.map = {"x + 0.3*y", "y - 0.2*x", ""};
    const Errors errors = solved(p, mesh, 1e-13).errors;
    EXPECT_LT(errors.l2, 1e-11);
    EXPECT_LT(errors.h1_seminorm, 1e-10);
  }

  // xx, yy, zz, xy, xz, yz, on sheared cells: a quadratic function is exact.
  TEST(CurvedProblem, TensorsInThreeDimensions)
  {
    Problem p;
    p.degree = 2;
    p.refinements = 1;
    p.cell_coefficient = {"4", "3", "2"};
    p.mixed_coefficient = {"0.5", "-0.7", "0.3"};
    p.exact_solution = "x*y + 2*x*z - 3*y*z + x^2";
    // -(2 * 4 + 2 * (0.5 * 1 - 0.7 * 2 - 0.3 * 3))
    p.right_hand_side = "-(8 + 2*(0.5 - 1.4 - 0.9))";
    p.boundary_value.fill(p.exact_solution);
    MeshOptions mesh;
    mesh.type = MeshType::mapped;
    mesh.map = {"x + 0.2*y", "y - 0.1*z", "z + 0.3*x"};
    EXPECT_LT(solved(p, mesh, 1e-13).errors.l2, 1e-10);
  }

  // K jumps where cells meet: each of them sees its own side of the jump, also where rounding moves the points to the other one.
  TEST(CurvedProblem, LayersAreExact)
  {
    Problem p;
    p.dim = 2;
    p.degree = 2;
    p.refinements = 4;
    p.lower = {0.3, 0., 0.};
    p.upper = {1.3, 1., 1.};
    p.cell_coefficient = {"if(x < 0.55, 2, if(x < 1.05, 1000, 0.05))", "", ""};
    p.right_hand_side = "0";
    // The thickness of the layers over K.
    p.constants = {{"r1", 0.5}, {"r2", 1e-3}, {"r3", 20.}, {"r", 0.125 + 0.5e-3 + 5.}};
    p.exact_solution =
        "(if(x<0.55, r1*(x-0.3), if(x<1.05, r1*0.25+r2*(x-0.55), r1*0.25+r2*0.5+r3*(x-1.05))))/r";
    p.boundary = {BoundaryKind::dirichlet, BoundaryKind::dirichlet, BoundaryKind::neumann,
        BoundaryKind::neumann};
    p.boundary_value = {"0", "1", "0", "0", "0", "0"};
    MeshOptions mesh;
    mesh.type = MeshType::mapped;
    mesh.map = {"x", "y", ""};
    const Solved s = solved(p, mesh, 1e-12);
    EXPECT_LT(s.errors.l2, 1e-9);
    EXPECT_LE(s.report.iterations, 15);
    EXPECT_NEAR(s.numbers.fluxes.at(1), 1. / 5.1255, 1e-9);
  }

  // u harmonic on both sides of x = 1/2, where K jumps by 1e6: harmonic averages have the orders, and the diagonal is enough.
  TEST(CurvedProblem, HarmonicAveragesWhereTheCoefficientJumps)
  {
    Problem p;
    p.dim = 2;
    p.degree = 2;
    p.coarse_cells = {2, 2, 1};
    p.refinements = 3;
    p.right_hand_side = "0";
    p.cell_coefficient = {"if(x < 0.5, 1, 1e6)", "", ""};
    p.exact_solution = "(cosh(x-0.5) + if(x < 0.5, 1, 1e-6)*sinh(x-0.5))*sin(y)";
    p.boundary_value.fill(p.exact_solution);
    MeshOptions mesh;
    mesh.type = MeshType::mapped;
    mesh.map = {"x", "y + 0.4*sin(6*x)*(1-y)*y", ""};
    std::array<double, 2> errors{};
    for (const FaceAverage averages : {FaceAverage::arithmetic, FaceAverage::harmonic})
    {
      mesh.averages = averages;
      const Solved s = solved(p, mesh);
      errors[averages == FaceAverage::harmonic ? 1 : 0] = s.errors.l2;
    }
    EXPECT_LT(errors[1], errors[0]);
    ++p.refinements;
    EXPECT_GT(std::log2(errors[1] / solved(p, mesh).errors.l2), 2.8);
    const BlockProblem problem = make_block_problem(p, mesh);
    const BlockLevels levels(
        problem.blocks, problem.geometry, pointwise_data(problem), level_options(problem));
    SolverOptions options;
    options.restart = 30;
    options.multigrid.relaxation = Relaxation::diagonal;
    BlockRightHandSide right_hand_side = assemble_block_right_hand_side(problem, levels);
    Vector<double> x(right_hand_side.b.block());
    const auto solver = make_block_solver(levels, options, x, right_hand_side.b);
    EXPECT_LE(solver->solve(x, right_hand_side.b, Start::zero).iterations,
        9); // with equal weights more than 100
  }

  // deal.II's step-50, uniformly refined: a jump that the coarsest cells have within them.
  TEST(CurvedProblem, JumpsWithinCoarseCells)
  {
    Problem p;
    p.degree = 2;
    p.refinements = 2;
    p.exact_solution = "0";
    p.cell_coefficient = {"if(min(x, min(y, z)) < -0.5, 100, 1)", "", ""};
    EXPECT_LE(
        solved(p, generated("hyper_L", "-1 : 1 : false", {{"*", {}}}), 1e-10).report.iterations, 8);
  }

  TEST(CurvedProblem, NothingHoldsTheSolution)
  {
    Problem p;
    p.dim = 2;
    p.degree = 3;
    p.refinements = 3;
    p.right_hand_side = "2*cos(x)*cos(y)";
    p.exact_solution = "cos(x)*cos(y) + 7";
    MeshOptions mesh = generated("hyper_cube", "0 : 3.14159265358979323846 : false",
        {{"*", {BoundaryKind::neumann, "0", "1"}}});
    const Solved s = solved(p, mesh);
    EXPECT_LT(s.errors.l2, 1e-4); // 8 cells
    EXPECT_NEAR(s.numbers.integral, 0., 1e-10);
    p.right_hand_side = "1";
    EXPECT_THROW(solved(p, mesh), std::invalid_argument);
  }

  TEST(CurvedProblem, MaterialsAreNamedInExpressions)
  {
    Problem p;
    p.dim = 2;
    p.degree = 1;
    p.refinements = 1;
    p.cell_coefficient = {"if(material == 0, 1, 5)", "", ""};
    const BlockProblem problem =
        make_block_problem(p, generated("hyper_ball", "0,0 : 1 : false", {{"*", {}}}));
    const PointwiseData data = pointwise_data(problem);
    EXPECT_EQ(data.k(0, {{0.1, 0.2, 0.}}).front()[0], 1.);
    p.cell_coefficient = {"if(marterial == 0, 1, 5)", "", ""};
    const BlockProblem wrong =
        make_block_problem(p, generated("hyper_ball", "0,0 : 1 : false", {{"*", {}}}));
    EXPECT_THROW(pointwise_data(wrong), ExpressionError);
  }

  // A quarter of a ring whose ends are joined by a rotation: u = cos(4 phi) r^4 is harmonic and the same on both.
  TEST(CurvedProblem, PeriodicByARotation)
  {
    Problem p;
    p.dim = 2;
    p.degree = 4;
    p.refinements = 2;
    p.right_hand_side = "0";
    p.exact_solution = "(x^4 - 6*x^2*y^2 + y^4)";
    // Boundaries: 0 inner, 1 outer, 2 and 3 the ends.
    const MeshOptions mesh = generated("quarter_hyper_shell", "0,0 : 0.5 : 1 : 0 : true",
        {{"0", {BoundaryKind::dirichlet, p.exact_solution, "1"}},
            {"1", {BoundaryKind::dirichlet, p.exact_solution, "1"}},
            {"2", {BoundaryKind::periodic, "3", "1"}}});
    EXPECT_LT(solved(p, mesh).errors.l2, 1e-5);
    EXPECT_EQ(make_block_problem(p, mesh).conditions.size(), 2u);
  }

  // A box that is mapped to a whole ring: its ends meet.
  TEST(CurvedProblem, PeriodicMappedBoxes)
  {
    Problem p;
    p.dim = 2;
    p.degree = 4;
    p.refinements = 2;
    p.coarse_cells = {1, 4, 1};
    p.lower = {0.5, 0., 0.};
    p.upper = {1., 2. * std::numbers::pi, 1.};
    p.right_hand_side = "0";
    p.exact_solution = "x*y";
    p.boundary = {BoundaryKind::dirichlet, BoundaryKind::dirichlet, BoundaryKind::periodic,
        BoundaryKind::periodic};
    p.boundary_value.fill("x*y");
    MeshOptions mesh;
    mesh.type = MeshType::mapped;
    mesh.map = {"x*cos(y)", "x*sin(y)", ""};
    EXPECT_LT(solved(p, mesh).errors.l2, 1e-5);
  }

  // A ring's four ends cannot be joined in a chain.
  TEST(CurvedProblem, PairsThatContradict)
  {
    Problem p;
    p.dim = 2;
    const MeshOptions mesh = generated("hyper_rectangle", "0,0 : 1,1 : true",
        {{"0", {BoundaryKind::periodic, "1", "1"}}, {"2", {BoundaryKind::periodic, "3", "1"}},
            {"1", {BoundaryKind::periodic, "2", "1"}}});
    EXPECT_THROW(make_block_problem(p, mesh), std::invalid_argument);
  }

  TEST(CurvedProblem, BoundariesThatCannotBeJoined)
  {
    Problem p;
    p.dim = 2;
    const MeshOptions mesh = generated("quarter_hyper_shell", "0,0 : 0.5 : 1 : 0 : true",
        {{"0", {BoundaryKind::periodic, "2", "1"}}, {"*", {}}});
    EXPECT_THROW(make_block_problem(p, mesh), MeshError);
  }

  TEST(CurvedProblem, WrongConditionsAreRefused)
  {
    Problem p;
    p.dim = 2;
    const auto refusal = [&](std::vector<std::pair<std::string, BoundaryCondition>> conditions) {
      try
      {
        make_block_problem(
            p, generated("hyper_shell", "0,0 : 0.5 : 1 : 5 : true", std::move(conditions)));
      }
      catch (const std::invalid_argument &error)
      {
        return std::string(error.what());
      }
      return std::string("nothing was thrown");
    };
    EXPECT_EQ(refusal({{"0", {}}, {"3", {}}}),
        "boundary.conditions: the mesh has no boundary '3'; allowed: 0, 1, and * for all others");
    EXPECT_EQ(refusal({{"1", {}}}),
        "boundary.conditions: the boundary '0' of the mesh has none; allowed: one for each of 0, 1, or * for all others");
    EXPECT_EQ(refusal({{"0", {BoundaryKind::periodic, "0", "1"}}, {"1", {}}}),
        "boundary.conditions: '0' cannot be periodic with '0'; allowed: pairs of two boundaries each");
  }
} // namespace
} // namespace tensormg
