// The library on curved cells as its callers see it: against the path of the program, exact solutions, the same mesh from arrays, the same K by
// values, and what it refuses.
// ranks: 1 2
#include "tensormg/mesh_solver.h"

#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "operators/block_solver/block_solve.h"
#include "operators/blocks/generated_mesh.h"
#include "operators/pointwise/block_right_hand_side.h"
#include "operators/solver/execution.h"
#include "operators/vectors/nodal_map.h"
#include "tensormg/mpi.h"

namespace tensormg
{
namespace
{
  using Numbers = std::vector<double>;
  using Conditions = std::vector<std::pair<std::string, BoundaryCondition>>;

  Execution alone()
  {
    Execution execution;
    execution.backend = "cpu";
    return execution;
  }
  Execution everybody()
  {
    Execution execution = alone();
    execution.communicator = communicator(MPI_COMM_WORLD);
    return execution;
  }
  SolverOptions exactly(double tolerance = 1e-12)
  {
    SolverOptions options;
    options.tolerance = tolerance;
    options.restart = 30;
    return options;
  }

  Problem of_shell(int dim, int degree, int refinements)
  {
    Problem problem;
    problem.dim = dim;
    problem.degree = degree;
    problem.refinements = refinements;
    problem.right_hand_side = "0";
    return problem;
  }
  const std::string harmonic_2d = "log(x^2+y^2)/2", harmonic_3d = "1/sqrt(x^2+y^2+z^2)";
  MeshOptions shell(int dim)
  {
    MeshOptions mesh;
    mesh.type = MeshType::generate;
    mesh.generator = "hyper_shell";
    mesh.generator_arguments = dim == 2 ? "0,0 : 0.5 : 1 : 5 : true" : "0,0,0 : 0.5 : 1 : 6 : true";
    const std::string u = dim == 2 ? harmonic_2d : harmonic_3d;
    mesh.conditions = {{"0", {BoundaryKind::dirichlet, u}},
        {"1", {BoundaryKind::robin, dim == 2 ? "1+2*(" + u + ")" : "2*(" + u + ")-1", "2"}}};
    return mesh;
  }

  struct Coordinates
  {
    explicit Coordinates(std::int64_t size)
      : x(static_cast<std::size_t>(size))
      , y(x.size())
      , z(x.size())
    {}
    Numbers x, y, z;
    template <typename F>
    Numbers of(const F &f) const
    {
      Numbers result;
      for (std::size_t i = 0; i < x.size(); ++i)
        result.push_back(f(x[i], y[i], z[i]));
      return result;
    }
  };
  Coordinates nodes_of(const MeshSolver &solver)
  {
    Coordinates at(solver.size());
    solver.coordinates(at.x, at.y, at.z);
    return at;
  }
  Coordinates points_of(const MeshSolver &solver)
  {
    Coordinates at(solver.points_size());
    solver.point_coordinates(at.x, at.y, at.z);
    return at;
  }

  double largest_difference(const Numbers &a, const Numbers &b)
  {
    EXPECT_EQ(a.size(), b.size());
    double largest = 0.;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
      largest = std::isnan(a[i] - b[i]) ? INFINITY : std::max(largest, std::abs(a[i] - b[i]));
    MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return largest;
  }
  double dot(const Numbers &a, const Numbers &b)
  {
    double sum = 0.;
    for (std::size_t i = 0; i < a.size(); ++i)
      sum += a[i] * b[i];
    return sum;
  }
  Numbers random_numbers(std::int64_t size, unsigned seed)
  {
    std::mt19937 generator(seed);
    std::uniform_real_distribution<double> uniform(-1., 1.);
    Numbers result(static_cast<std::size_t>(size));
    for (double &number : result)
      number = uniform(generator);
    return result;
  }
  Numbers solved(MeshSolver &solver)
  {
    Numbers u(static_cast<std::size_t>(solver.size()), NAN);
    const SolveReport report = solver.solve(u);
    EXPECT_TRUE(report.converged()) << report.detail;
    return u;
  }
  Numbers product(MeshSolver &solver, const Numbers &x)
  {
    Numbers y(x.size(), NAN);
    solver.multiply(y, x);
    return y;
  }

  template <typename Action>
  void expect_refused(const Action &action, const std::vector<std::string> &parts)
  {
    try
    {
      action();
      ADD_FAILURE() << "not refused: " << parts[0];
    }
    catch (const ArgumentError &error)
    {
      for (const std::string &part : parts)
        EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  }

  // The steps of the program, with the same bits.
  TEST(MeshSolver, SolvesAsTheProgram)
  {
    const Problem p = of_shell(2, 3, 2);
    const BlockProblem problem = make_divided_problem(p, shell(2), MPI_COMM_SELF);
    const auto levels = make_levels(problem, MPI_COMM_SELF, Coarsening::automatic, true);
    BlockRightHandSide right_hand_side = assemble_block_right_hand_side(problem, *levels);
    Vector<double> x(right_hand_side.b.block());
    const auto block_solver = make_block_solver(*levels, {}, x, right_hand_side.b);
    ScaledSolve solve(*block_solver, x, right_hand_side.b);
    const SolveReport report = solve.run(Start::zero, {});
    solve.finish();
    const NodalMap map(levels->basis(), line_nodes(Nodes::gauss, 4));

    MeshSolver solver(p, shell(2), {}, alone());
    Numbers u(static_cast<std::size_t>(solver.size()), NAN), expected(u.size());
    EXPECT_EQ(solver.solve(u).iterations, report.iterations);
    modes_to_nodes(map.values_of_modes(), 1., x, expected.data(), {4});
    EXPECT_EQ(u, expected);
    EXPECT_EQ(solved(solver), u) << "once more";
  }

  TEST(MeshSolver, ConvergesToTheExactSolution)
  {
    for (const int dim : {2, 3})
      for (const Nodes nodes : {Nodes::gauss, Nodes::gauss_lobatto})
      {
        double before = 0.;
        for (const int refinements : {1, 2})
        {
          Execution execution = alone();
          execution.nodes = nodes;
          MeshSolver solver(of_shell(dim, 3, refinements), shell(dim), exactly(1e-10), execution);
          const Numbers u = solved(solver);
          const double error =
              largest_difference(u, nodes_of(solver).of([&](auto x, auto y, auto z) {
                const double r = std::sqrt(x * x + y * y + z * z);
                return dim == 2 ? std::log(r) : 1. / r;
              }));
          EXPECT_LT(error, dim == 2 ? 2e-4 : 3e-3);
          if (refinements == 2)
          {
            EXPECT_GT(std::log2(before / error), 3.4) << "dim " << dim;
          }
          before = error;
        }
      }
  }

  // f by its values gives what the expression gives where it is a polynomial; from the solution there is nothing left to do.
  TEST(MeshSolver, RightHandSidesByValues)
  {
    Problem problem = of_shell(2, 3, 2);
    problem.right_hand_side = "1+x-2*y";
    MeshSolver solver(problem, shell(2), exactly(), alone());
    const Numbers u = solved(solver),
                  f = nodes_of(solver).of([](auto x, auto y, auto) { return 1. + x - 2. * y; });
    Numbers v(u.size(), NAN);
    EXPECT_TRUE(solver.solve(f, v).converged());
    EXPECT_LT(largest_difference(u, v), 1e-10);
    EXPECT_LE(solver.solve(f, v, Start::given).iterations, 1);
    EXPECT_LT(largest_difference(u, v), 1e-10);
  }

  TEST(MeshSolver, MatrixAndCycle)
  {
    Problem problem = of_shell(3, 2, 1);
    problem.cell_coefficient = {"2+x", "1+y^2", "3"};
    problem.mixed_coefficient = {"0.2", "0", "z/4"};
    MeshSolver solver(problem, shell(3), exactly(), alone());
    const Numbers x = random_numbers(solver.size(), 1), y = random_numbers(solver.size(), 2);
    const Numbers ax = product(solver, x), ay = product(solver, y);
    EXPECT_NEAR(dot(y, ax), dot(x, ay), 1e-11 * std::abs(dot(x, ax)));
    Numbers in_place = x;
    solver.multiply(in_place, in_place);
    EXPECT_EQ(in_place, ax);
    Numbers u(x.size(), NAN), z(x.size(), NAN), w(x.size(), NAN);
    EXPECT_TRUE(solver.solve_system(ax, u).converged());
    EXPECT_LT(largest_difference(u, x), 1e-9);
    // The cycle is symmetric, and near the inverse.
    solver.precondition(z, x);
    solver.precondition(w, y);
    EXPECT_NEAR(dot(y, z), dot(x, w), 1e-5 * dot(x, z));
    solver.precondition(z, ax);
    for (std::size_t i = 0; i < x.size(); ++i)
      z[i] -= x[i];
    EXPECT_LT(dot(z, product(solver, z)), 0.1 * dot(x, ax));
  }

  TEST(MeshSolver, ProblemsThatNothingHolds)
  {
    MeshOptions mesh = shell(2);
    mesh.conditions = {{"*", {BoundaryKind::neumann, "0"}}};
    MeshSolver solver(of_shell(2, 2, 2), mesh, exactly(), alone());
    const Numbers one(static_cast<std::size_t>(solver.size()), 1.);
    EXPECT_LT(largest_difference(product(solver, one), Numbers(one.size(), 0.)), 1e-11);
    Numbers u = one;
    EXPECT_TRUE(solver.solve(one, u).converged());
    EXPECT_EQ(u, Numbers(one.size(), 0.));
    const Numbers f = nodes_of(solver).of([](auto x, auto, auto) { return 7. + x; });
    EXPECT_TRUE(solver.solve(f, u).converged());
    EXPECT_LT(std::abs(dot(u, one)), 1e-8);
    EXPECT_GT(dot(u, f), 1.);
  }

  /// The mesh of a generator as a program would have it: points that cells share, and faces.
  MeshArrays arrays_of(const NamedMesh &mesh, int degree)
  {
    MeshArrays arrays;
    arrays.degree = degree;
    const int dim = mesh.blocks.dim;
    std::map<std::array<std::int64_t, 3>, std::int64_t> known;
    const std::vector<double> line = lobatto_nodes(degree);
    const auto number_of = [&](const std::array<double, 3> &point) {
      std::array<std::int64_t, 3> key{};
      for (std::size_t d = 0; d < 3; ++d)
        key[d] = std::llround(point[d] * 1e9);
      const auto [entry, is_new] = known.emplace(key, std::ssize(arrays.points));
      if (is_new)
        arrays.points.push_back(point);
      return entry->second;
    };
    for (std::int64_t b = 0; b < mesh.blocks.n_blocks(); ++b)
    {
      for (const auto &point : mesh.geometry.points(b, {line, line, line}))
        arrays.cells.push_back(number_of(point));
      arrays.material.push_back(static_cast<int>(b % 3));
      for (int side = 0; side < 2 * dim; ++side)
      {
        const BlockSide &other = mesh.blocks.sides[static_cast<std::size_t>(b)][side];
        if (other.neighbour >= 0 || other.boundary == 0)
          continue;
        std::array<std::vector<double>, 3> ends;
        ends.fill({0., 1.});
        ends[side / 2] = {static_cast<double>(side % 2)};
        std::array<std::int64_t, 4> face{};
        std::size_t v = 0;
        for (const auto &corner : mesh.geometry.points(b, ends))
          face[v++] = number_of(corner);
        arrays.faces.push_back(face);
        arrays.boundary.push_back(other.boundary);
      }
    }
    arrays.boundary_names = {{0, "inside"}, {1, "outside"}};
    return arrays;
  }

  TEST(MeshSolver, AMeshFromArrays)
  {
    for (const int dim : {2, 3})
    {
      const Problem problem = of_shell(dim, 2, 1);
      const MeshOptions generated = shell(dim);
      MeshOptions mesh = generated;
      mesh.type = MeshType::arrays;
      mesh.arrays = arrays_of(generate_mesh(dim, mesh.generator, mesh.generator_arguments, 8), 8);
      mesh.conditions[0].first = "inside";
      mesh.conditions[1].first = "outside";
      MeshSolver expected(problem, generated, exactly(), alone()),
          solver(problem, mesh, exactly(), alone());
      EXPECT_LT(largest_difference(solved(solver), solved(expected)), 1e-10) << "dim " << dim;
      EXPECT_EQ(solver.boundaries(), (std::vector<std::string>{"inside", "outside"}));
      for (const RefinedCell &cell : solver.cells())
        ASSERT_EQ(cell.material, cell.coarse % 3);
    }
  }

  TEST(MeshSolver, ANameThatIsAnotherNumber)
  {
    MeshOptions mesh = shell(2);
    mesh.type = MeshType::arrays;
    mesh.arrays = arrays_of(generate_mesh(2, mesh.generator, mesh.generator_arguments, 2), 2);
    mesh.arrays.boundary_names = {{0, "1"}, {1, "outside"}};
    mesh.conditions = {{"*", {}}};
    const MeshSolver solver(of_shell(2, 1, 0), mesh, {}, alone());
    EXPECT_EQ(solver.boundary_size("outside"), 10);
    expect_refused([&] { solver.boundary_size("1"); }, {"'1' is the name or the number of 2"});
  }

  // Cubic cells by nodes at both kinds of places have one shape.
  TEST(MeshSolver, NodesAtEqualDistances)
  {
    Problem problem = of_shell(2, 3, 0);
    MeshOptions mesh;
    mesh.type = MeshType::arrays;
    mesh.arrays.degree = 3;
    std::vector<Numbers> x;
    for (const CellNodePlaces places : {CellNodePlaces::gauss_lobatto, CellNodePlaces::equidistant})
    {
      mesh.arrays.places = places;
      const Numbers line = places == CellNodePlaces::equidistant ? Numbers{0., 1. / 3., 2. / 3., 1.}
                                                                 : lobatto_nodes(3);
      mesh.arrays.points.clear();
      mesh.arrays.cells.clear();
      for (const double t : line)
        for (const double s : line)
        {
          mesh.arrays.cells.push_back(std::ssize(mesh.arrays.points));
          mesh.arrays.points.push_back({s + 0.2 * t * t * t, t - 0.1 * s * s * s * t, 7.});
        }
      const MeshSolver solver(problem, mesh, {}, alone());
      x.push_back(nodes_of(solver).x);
    }
    EXPECT_LT(largest_difference(x[0], x[1]), 1e-13);
  }

  TEST(MeshSolver, NodesOnBoundaries)
  {
    const Problem problem = of_shell(3, 2, 1);
    MeshOptions mesh = shell(3);
    mesh.conditions = {
        {"0", {BoundaryKind::dirichlet, "x+2*z"}}, {"1", {BoundaryKind::neumann, "y"}}};
    MeshSolver expected(problem, mesh, exactly(), alone());
    mesh.conditions = {{"*", {BoundaryKind::dirichlet, "0"}}};
    mesh.conditions.push_back({"1", {BoundaryKind::neumann, "0"}});
    MeshSolver solver(problem, mesh, exactly(), alone());
    const Numbers zero = solved(solver);
    for (const auto &[name, radius] : {std::pair{"0", 0.5}, std::pair{"1", 1.}})
    {
      ASSERT_EQ(solver.boundary_size(name), 6 * 4 * 9);
      Coordinates at(solver.boundary_size(name));
      solver.boundary_coordinates(name, at.x, at.y, at.z);
      for (const double r2 : at.of([](auto x, auto y, auto z) { return x * x + y * y + z * z; }))
        ASSERT_NEAR(r2, radius * radius, 2e-2);
      solver.set_boundary_values(
          name, at.of([&](auto x, auto y, auto z) { return radius < 1. ? x + 2. * z : y; }));
    }
    const Numbers u = solved(expected);
    EXPECT_GT(largest_difference(zero, u), 0.1);
    EXPECT_LT(largest_difference(solved(solver), u), 1e-10);
  }

  /// Scalar, diagonal and full K, and the same as numbers.
  const std::array<std::string, 6> k_texts{"2+x*y", "1+x^2", "3-z", "0.3*x", "0.2", "0.1*y"};
  std::array<double, 6> k_numbers(double x, double y, double z)
  {
    return {2. + x * y, 1. + x * x, 3. - z, 0.3 * x, 0.2, 0.1 * y};
  }

  void set_coefficients(Problem &problem, int components)
  {
    const int dim = problem.dim;
    for (int c = 0; c < std::min(components, dim); ++c)
      problem.cell_coefficient[c] = k_texts[c];
    for (int c = dim; c < components; ++c)
      problem.mixed_coefficient[c - dim] = k_texts[3 + c - dim];
  }
  Numbers values_of_coefficients(const MeshSolver &solver, int dim, int components)
  {
    Numbers k;
    const Coordinates at = points_of(solver);
    for (int c = 0; c < components; ++c)
      for (const double value : at.of([&](auto x, auto y, auto z) {
             return k_numbers(x, y, z)[c < dim ? c : 3 + c - dim];
           }))
        k.push_back(value);
    return k;
  }

  TEST(MeshSolver, CoefficientsByValuesAtPoints)
  {
    for (const auto &[dim, components] : {std::pair{2, 1}, {2, 2}, {2, 3}, {3, 1}, {3, 3}, {3, 6}})
    {
      SCOPED_TRACE(std::to_string(components) + " of dim " + std::to_string(dim));
      Problem problem = of_shell(dim, dim == 2 ? 3 : 2, 1);
      MeshSolver solver(problem, shell(dim), exactly(), alone());
      set_coefficients(problem, components);
      MeshSolver expected(problem, shell(dim), exactly(), alone());
      const Numbers u = random_numbers(solver.size(), 3), before = product(solver, u);
      solver.set_coefficient_values(values_of_coefficients(solver, dim, components));
      const Numbers y = product(solver, u);
      EXPECT_GT(largest_difference(y, before), 1e-2);
      EXPECT_LT(
          largest_difference(y, product(expected, u)), 1e-8); // points of sides lie 1e-9 inside
      EXPECT_LT(largest_difference(solved(solver), solved(expected)), 1e-9);
    }
  }

  // Coordinates are polynomials of the cells.
  TEST(MeshSolver, ValuesAtPoints)
  {
    for (const int dim : {2, 3})
    {
      const MeshSolver solver(of_shell(dim, 2, 1), shell(dim), {}, alone());
      const Coordinates nodes = nodes_of(solver), points = points_of(solver);
      Numbers values(points.x.size(), NAN);
      solver.values_at_points(values, nodes.x);
      EXPECT_LT(largest_difference(values, points.x), 1e-8);
      solver.values_at_points(values, nodes.y);
      EXPECT_LT(largest_difference(values, points.y), 1e-8);
    }
  }

  TEST(MeshSolver, OtherCoefficientsAndBoundaries)
  {
    double factor = 1., value = 1.;
    Problem problem = of_shell(2, 2, 2);
    problem.cell_coefficient[0] = "k";
    problem.functions["k"] = [&](std::size_t n, const double *x, const double *, const double *,
                                 double *k) {
      for (std::size_t q = 0; q < n; ++q)
        k[q] = factor * (2. + x[q]);
    };
    problem.functions["g"] = [&](std::size_t n, const double *, const double *, const double *,
                                 double *g) { std::fill_n(g, n, value); };
    MeshOptions mesh = shell(2);
    mesh.conditions = {
        {"0", {BoundaryKind::dirichlet, "g"}}, {"1", {BoundaryKind::robin, "0", "2"}}};
    MeshSolver solver(problem, mesh, exactly(), alone());
    const Numbers first = solved(solver), x = random_numbers(solver.size(), 4), f(first.size(), 0.);
    const Numbers before = product(solver, x);
    factor = -1.;
    EXPECT_THROW(solver.update_coefficients(), ArgumentError);
    EXPECT_EQ(product(solver, x), before);
    factor = 2.;
    solver.update_coefficients();
    MeshSolver other(problem, mesh, exactly(), alone());
    EXPECT_EQ(product(solver, x), product(other, x));
    const Numbers second = solved(other);
    EXPECT_EQ(solved(solver), second);
    EXPECT_GT(largest_difference(first, second), 1e-2);
    // By values at the nodes those of boundaries are remembered.
    Numbers u(first.size()), twice(first.size());
    solver.solve(f, u);
    EXPECT_LT(largest_difference(u, second), 1e-10);
    value = 2.;
    solver.solve(f, u);
    EXPECT_LT(largest_difference(u, second), 1e-10);
    solver.update_boundaries();
    solver.solve(f, u);
    for (std::size_t i = 0; i < u.size(); ++i)
      twice[i] = 2. * second[i];
    EXPECT_LT(largest_difference(u, twice), 1e-10);
  }

  // Cells are where coarse cells and parts say.
  TEST(MeshSolver, CellsOfAMappedBox)
  {
    Problem problem = of_shell(3, 1, 1);
    problem.coarse_cells = {2, 1, 3};
    problem.boundary_value.fill("x");
    MeshOptions mesh;
    mesh.type = MeshType::mapped;
    mesh.map = {"x", "y", "z"};
    MeshSolver solver(problem, mesh, exactly(), alone());
    const Coordinates at = nodes_of(solver);
    const std::vector<RefinedCell> cells = solver.cells();
    ASSERT_EQ(std::ssize(cells) * 8, solver.size());
    for (std::size_t c = 0; c < cells.size(); ++c)
    {
      const std::int64_t cx = cells[c].coarse % 2 * 2 + cells[c].part[0],
                         cz = cells[c].coarse / 2 * 2 + cells[c].part[2];
      EXPECT_NEAR(at.x[8 * c] + at.x[8 * c + 1], (2. * cx + 1.) / 4., 1e-12);
      EXPECT_NEAR(at.z[8 * c] + at.z[8 * c + 4], (2. * cz + 1.) / 6., 1e-12);
    }
    EXPECT_LT(largest_difference(solved(solver), at.x), 1e-10);
    EXPECT_EQ(solver.boundaries().size(), 6u);
  }

  using Place = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
  std::map<Place, Numbers> by_cell(const MeshSolver &solver, const Numbers &u)
  {
    std::map<Place, Numbers> result;
    const std::vector<RefinedCell> cells = solver.cells();
    const auto per_cell = std::ssize(u) / std::ssize(cells);
    auto at = u.begin();
    for (const RefinedCell &cell : cells)
    {
      result[{cell.coarse, cell.part[0], cell.part[1]}] = {at, at + per_cell};
      at += per_cell;
    }
    return result;
  }

  // Divided or whole, processes together have what one has.
  TEST(MeshSolver, SeveralProcesses)
  {
    int n_ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    for (const int refinements : {2, 5})
    {
      const Problem problem = of_shell(2, 2, refinements);
      MeshSolver one(problem, shell(2), exactly(), alone()),
          all(problem, shell(2), exactly(), everybody());
      EXPECT_EQ(all.is_whole(), n_ranks > 1 && refinements == 2);
      std::int64_t size = all.size();
      MPI_Allreduce(MPI_IN_PLACE, &size, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
      EXPECT_EQ(size, one.size() * (all.is_whole() ? n_ranks : 1));
      for (const bool by_values : {false, true})
      {
        if (by_values)
          for (MeshSolver *solver : {&one, &all})
            solver->set_coefficient_values(values_of_coefficients(*solver, 2, 3));
        const auto expected = by_cell(one, solved(one));
        for (const auto &[place, numbers] : by_cell(all, solved(all)))
          for (std::size_t i = 0; i < numbers.size(); ++i)
            ASSERT_NEAR(numbers[i], expected.at(place)[i], 1e-9) << by_values;
      }
      if (n_ranks == 1)
        return;
      // What one process cannot use all refuse.
      int rank = 0;
      MPI_Comm_rank(MPI_COMM_WORLD, &rank);
      Numbers u(static_cast<std::size_t>(all.size()) - (rank == 1 ? 1 : 0));
      EXPECT_THROW(all.solve(u), ArgumentError);
    }
  }

  // What decides which messages they exchange must be the same.
  TEST(MeshSolver, ProcessesThatDiffer)
  {
    int rank = 0, n_ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    const auto refuse = [&](const auto &change, const std::string &part) {
      Problem problem = of_shell(3, 1, 0);
      MeshOptions mesh = shell(3);
      mesh.type = MeshType::arrays;
      mesh.arrays = arrays_of(generate_mesh(3, mesh.generator, mesh.generator_arguments, 2), 2);
      mesh.conditions[0].first = "inside";
      mesh.conditions[1].first = "outside";
      SolverOptions options;
      if (rank == 1)
        change(problem, mesh, options);
      if (n_ranks > 1)
        expect_refused([&] { MeshSolver(problem, mesh, options, everybody()); },
            {part, "differ", "the same on all"});
    };
    using P = Problem;
    using M = MeshOptions;
    using O = SolverOptions;
    refuse([](P &p, M &, O &) { p.degree = 2; }, "problem.degree");
    refuse([](P &, M &, O &o) { o.multigrid.relaxation = Relaxation::lines; },
        "options.multigrid.relaxation");
    refuse([](P &, M &, O &o) { o.multigrid.cycle_operator = CycleOperator::cell_mean; },
        "options.multigrid.cycle_operator");
    refuse([](P &, M &, O &o) { o.multigrid.precision_fallback = false; },
        "options.multigrid.precision_fallback");
    refuse(
        [](P &p, M &, O &) { p.boundary[5] = BoundaryKind::neumann; }, "problem.boundary of top");
    refuse([](P &, M &m, O &) { m.averages = FaceAverage::harmonic; }, "the mesh");
    refuse([](P &, M &m, O &) { m.arrays.material[0] = 5; }, "the mesh");
    refuse([](P &, M &m,
               O &) { m.arrays.points[static_cast<std::size_t>(m.arrays.cells[13])][0] += 1e-3; },
        "the mesh");
    refuse([](P &, M &m, O &) { m.conditions[1].second.kind = BoundaryKind::neumann; }, "the mesh");
  }

  /// The values 1 and `jump` of K in squares of 4 x 4 cells.
  Numbers in_a_checkerboard(const MeshSolver &solver, double jump)
  {
    Numbers k;
    const std::vector<RefinedCell> cells = solver.cells();
    for (const RefinedCell &cell : cells)
      k.insert(k.end(), static_cast<std::size_t>(solver.points_size()) / cells.size(),
          (cell.part[0] / 4 + cell.part[1] / 4) % 2 == 0 ? jump : 1.);
    return k;
  }

  // Other levels than those with which the values were given: whole ones on the finest cells, where the finest one itself is divided.
  TEST(MeshSolver, SeveralProcessesOnVertices)
  {
    const Problem problem = of_shell(2, 2, 5);
    SolverOptions options = exactly(1e-10);
    options.multigrid.precision = Precision::double_precision;
    for (const Coarsening coarsening : {Coarsening::vertices, Coarsening::automatic})
    {
      options.multigrid.coarsening = coarsening;
      MeshSolver one(problem, shell(2), options, alone()),
          all(problem, shell(2), options, everybody());
      EXPECT_FALSE(all.is_whole());
      for (const double jump : {1., 1e4})
      {
        for (MeshSolver *solver : {&one, &all})
          solver->set_coefficient_values(in_a_checkerboard(*solver, jump));
        const auto of_one = by_cell(one, solved(one));
        for (const auto &[place, numbers] : by_cell(all, solved(all)))
          for (std::size_t i = 0; i < numbers.size(); ++i)
            ASSERT_NEAR(numbers[i], of_one.at(place)[i], 1e-7) << jump;
      }
    }
  }

  TEST(MeshSolver, WrongProblems)
  {
    const auto refuse = [](const auto &change, const std::vector<std::string> &parts) {
      Problem problem = of_shell(2, 2, 1);
      MeshOptions mesh = shell(2);
      SolverOptions options;
      change(problem, mesh, options);
      expect_refused([&] { MeshSolver(problem, mesh, options, alone()); }, parts);
    };
    using P = Problem;
    using M = MeshOptions;
    using O = SolverOptions;
    refuse([](P &p, M &, O &) { p.degree = 9; }, {"problem.degree = 9", "1 to 8"});
    refuse([](P &, M &m, O &) { m.type = MeshType::box; }, {"mesh.type = box", "Solver has boxes"});
    refuse([](P &, M &m, O &) { m.generator = "hyper_shel"; }, {"mesh.generator: ", "hyper_shel"});
    refuse(
        [](P &, M &m, O &) {
          m.type = MeshType::file;
          m.file = "none.msh";
        },
        {"mesh.file: none.msh", "no such file"});
    refuse([](P &, M &m, O &) { m.conditions[0].first = "inlet"; },
        {"mesh.conditions: the mesh has no boundary 'inlet'", "allowed: 0, 1"});
    refuse([](P &, M &m, O &) { m.conditions.pop_back(); }, {"mesh.conditions", "'1'"});
    refuse([](P &, M &m, O &) { m.conditions[0].second.value = "sin("; },
        {"mesh.conditions = 'sin('"});
    refuse([](P &p, M &, O &) { p.right_hand_side = "q"; }, {"problem.right_hand_side = 'q'"});
    refuse([](P &p, M &, O &) { p.cell_coefficient[0] = "-x"; },
        {"problem.coefficient: K is not positive definite at ("});
    refuse(
        [](P &p, M &, O &) { p.cell_coefficient[0] = "1/(x-x)"; }, {"problem.coefficient", "at ("});
    refuse([](P &p, M &, O &) { p.cell_coefficient[0] = "1 + foo"; },
        {"problem.coefficient = '1 + foo'", "foo"});
    refuse(
        [](P &p, M &, O &) { p.reaction = "0-1"; }, {"problem.reaction: the reaction is -1 at ("});
    refuse([](P &, M &m, O &) { m.conditions[1].second.robin_coefficient = "0-2"; },
        {"mesh.conditions of '1': r of a robin boundary is -2 at ("});
    refuse([](P &, M &m, O &) { m.averages = static_cast<FaceAverage>(7); }, {"mesh.averages = 7"});
    refuse([](P &, M &, O &o) { o.multigrid.coarsening = Coarsening::vertices_and_lines; },
        {"options.multigrid.coarsening = vertices_and_lines on curved cells",
            "allowed: auto, cells, vertices"});
    refuse([](P &, M &, O &o) { o.multigrid.replicated_dofs = 7; },
        {"options.multigrid.replicated_dofs = 7 on curved cells"});
    refuse([](P &p, M &, O &) { p.mixed_coefficient[0] = "1"; },
        {"problem.mixed_coefficient without a diagonal"});
    refuse([](P &, M &, O &o) { o.solver = OuterSolver::direct; },
        {"options.solver = direct", "fgmres, cg"});
    refuse([](P &, M &, O &o) { o.multigrid.smoother = Smoother::patch; }, {"smoother = patch"});
    refuse(
        [](P &p, M &m, O &) {
          m.type = MeshType::mapped;
          m.map = {"x", "y+3*x*y*(1-y)*(0.5-x)*9", ""};
          p.coarse_cells = {2, 2, 1};
        },
        {"mesh.map: ", "is folded at ("});
    Execution execution = alone();
    execution.backend = "mma";
    expect_refused([&] { MeshSolver(of_shell(2, 1, 0), shell(2), {}, execution); },
        {"execution.backend = 'mma'", "allowed: auto, cpu, cuda"});
    EXPECT_THROW(MeshSolver(of_shell(3, 8, 8), shell(3), {}, alone()), MemoryError);
    expect_refused([&] { MeshSolver(of_shell(3, 8, 20), shell(3), {}, alone()); },
        {"problem.refinements and degree give", "unknowns; allowed: up to 1e+15"});
  }

  TEST(MeshSolver, WrongArrays)
  {
    MeshOptions square;
    square.type = MeshType::arrays;
    square.arrays.points = {{0., 0., 0.}, {1., 0., 0.}, {0., 1., 0.}, {1., 1., 0.}};
    square.arrays.cells = {0, 1, 2, 3};
    const auto refuse = [&](const auto &change, const std::vector<std::string> &parts) {
      MeshOptions mesh = square;
      change(mesh.arrays);
      expect_refused([&] { MeshSolver(of_shell(2, 2, 1), mesh, {}, alone()); }, parts);
    };
    using A = MeshArrays;
    EXPECT_NO_THROW(MeshSolver(of_shell(2, 2, 1), square, {}, alone()));
    refuse([](A &a) { a.cells = {0, 1, 3, 2}; }, {"mesh.arrays: ", "inverted", "(0.5, 0.5)"});
    refuse([](A &a) { a.cells.pop_back(); }, {"mesh.arrays.cells has 3 entries; allowed: 4 for"});
    refuse([](A &a) { a.cells[2] = 4; }, {"mesh.arrays.cells has the number 4; allowed: 0 to 3"});
    refuse([](A &a) { a.degree = 0; }, {"mesh.arrays.degree = 0"});
    refuse([](A &a) { a.material = {1, 2}; }, {"mesh.arrays.material has 2 entries; allowed: 1"});
    refuse([](A &a) { a.faces = {{0, 1}}; }, {"mesh.arrays.boundary has 0 entries; allowed: 1"});
    refuse(
        [](A &a) {
          a.faces = {{0, 3}};
          a.boundary = {1};
        },
        {"mesh.arrays: ", "a face of no cell"});
    refuse([](A &a) { a.points[3][0] = NAN; }, {"mesh.arrays.points", "not finite"});
    // A node in the middle of an edge that lies beyond the other side.
    refuse(
        [](A &a) {
          a.degree = 2;
          for (const double y : {0., 0.5, 1.})
            for (const double x : {0., 0.5, 1.})
              a.points.push_back({x, x == 0.5 && y == 0. ? 1.5 : y, 0.});
          a.cells = {4, 5, 6, 7, 8, 9, 10, 11, 12};
        },
        {"mesh.arrays: ", "("});
  }

  TEST(MeshSolver, WrongVectors)
  {
    MeshSolver solver(of_shell(2, 2, 1), shell(2), {}, alone());
    Numbers right(static_cast<std::size_t>(solver.size()), 1.), wrong(right.size() + 1, 1.);
    const Numbers before = product(solver, right);
    expect_refused(
        [&] { solver.solve(wrong); }, {"u has 181 numbers; allowed: 180, MeshSolver::size()"});
    expect_refused([&] { solver.multiply(right, wrong); }, {"x has"});
    expect_refused([&] { solver.precondition(wrong, right); }, {"z has"});
    expect_refused([&] { solver.coordinates(right, wrong, {}); }, {"y has"});
    expect_refused([&] { solver.boundary_size("inlet"); }, {"no boundary 'inlet'; allowed: 0, 1"});
    expect_refused(
        [&] { solver.set_boundary_values("0", right); }, {"MeshSolver::boundary_size()"});
    expect_refused([&] { solver.set_coefficient_values(right); }, {"k has 180 numbers; allowed: "});
    Numbers k(static_cast<std::size_t>(solver.points_size()), 1.);
    k[7] = NAN;
    expect_refused([&] { solver.set_coefficient_values(k); },
        {"k holds numbers that are not finite: number 7 is nan"});
    k[7] = -1.;
    expect_refused([&] { solver.set_coefficient_values(k); },
        {"set_coefficient_values: K is not positive definite at ("});
    EXPECT_EQ(product(solver, right), before);
    right[3] = NAN;
    expect_refused([&] { solver.solve_system(right, wrong); }, {"u has"});
    Numbers u(right.size());
    expect_refused([&] { solver.solve_system(right, u); }, {"b holds numbers that are not finite"});
    expect_refused([&] { solver.solve(right, u); }, {"f holds"});
    MeshSolver other = std::move(solver);
    expect_refused([&] { solver.solve(u); }, {"moved"}); // NOLINT(bugprone-use-after-move)
    EXPECT_TRUE(other.solve(u).converged());
  }
} // namespace
} // namespace tensormg
