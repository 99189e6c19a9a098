// The right-hand side against its assembly with deal.II's finite elements; solvability of singular
// problems.
// ranks: 1 3
#include "operators/data/right_hand_side.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <deal.II/base/function_parser.h>
#include <deal.II/base/quadrature_lib.h>
#include <deal.II/fe/fe_dgq.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/tria.h>

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "operators/data/errors.h"
#include "tests/support/sanitized.h"

namespace
{
using namespace tensormg;

/// (H^2/a) / |cell| * F(phi_ijk) for all modes, F assembled in the nodal basis: a mode is the sum
/// of its values at the nodes times the nodal basis functions.
template <int dim>
class Oracle
{
public:
  Oracle(const Problem &problem, const LevelGrid &grid, const CellBasis &basis)
    : problem_(problem)
    , grid_(grid)
    , basis_(basis)
    , f_(parser(problem.right_hand_side))
  {
    for (int side = 0; side < 2 * dim; ++side)
      g_.push_back(parser(problem.boundary_value[side]));
  }

  /// Largest difference to the local part of b, relative to the largest coefficient.
  double difference(const Vector<double> &b)
  {
    dealii::Triangulation<dim> mesh;
    std::vector<unsigned int> cells(dim);
    dealii::Point<dim> lower, upper;
    for (int d = 0; d < dim; ++d)
    {
      cells[d] = grid_.global_cells[d];
      lower[d] = problem_.lower[d];
      upper[d] = problem_.upper[d];
    }
    dealii::GridGenerator::subdivided_hyper_rectangle(mesh, cells, lower, upper, true);
    const dealii::FE_DGQ<dim> fe(problem_.degree);
    const dealii::QGauss<dim> quadrature(problem_.degree + 2);
    const dealii::QGauss<dim - 1> face_quadrature(problem_.degree + 2);
    dealii::FEValues<dim> values(fe, quadrature,
        dealii::update_values | dealii::update_quadrature_points | dealii::update_JxW_values);
    dealii::FEFaceValues<dim> face_values(fe, face_quadrature,
        dealii::update_values | dealii::update_gradients | dealii::update_quadrature_points |
            dealii::update_JxW_values | dealii::update_normal_vectors);
    double error = 0., largest = 0.;
    for (const auto &cell : mesh.active_cell_iterators())
    {
      std::vector<double> functional(fe.n_dofs_per_cell());
      values.reinit(cell);
      for (const unsigned int q : values.quadrature_point_indices())
        for (const unsigned int i : values.dof_indices())
          functional[i] +=
              f_->value(values.quadrature_point(q)) * values.shape_value(i, q) * values.JxW(q);
      for (const unsigned int face : cell->face_indices())
        if (cell->at_boundary(face))
        {
          face_values.reinit(cell, face);
          add_face(face_values, face, functional);
        }
      compare(cell->center(), fe, functional, b, error, largest);
    }
    EXPECT_GT(largest, 0.);
    return error / largest;
  }

private:
  std::shared_ptr<dealii::FunctionParser<dim>> parser(const std::string &expression) const
  {
    auto result = std::make_shared<dealii::FunctionParser<dim>>();
    result->initialize(dim == 2 ? "x,y" : "x,y,z", expression, problem_.constants);
    return result;
  }

  void add_face(const dealii::FEFaceValues<dim> &values, unsigned int side,
      std::vector<double> &functional) const
  {
    const double h = grid_.mean_cell_size(side / 2);
    const double penalty = 2. * problem_.degree * (problem_.degree + 1.) / h;
    for (const unsigned int q : values.quadrature_point_indices())
      for (const unsigned int i : values.dof_indices())
      {
        const double g = g_[side]->value(values.quadrature_point(q)) * values.JxW(q);
        if (problem_.boundary[side] == BoundaryKind::dirichlet)
          functional[i] += problem_.coefficient * g *
              (penalty * values.shape_value(i, q) -
                  values.shape_grad(i, q) * values.normal_vector(q));
        else if (problem_.boundary[side] == BoundaryKind::neumann)
          functional[i] += g * values.shape_value(i, q);
      }
  }

  void compare(const dealii::Point<dim> &center, const dealii::FE_DGQ<dim> &fe,
      const std::vector<double> &functional, const Vector<double> &b, double &error,
      double &largest) const
  {
    const int n = basis_.n;
    std::array<std::int64_t, 3> c{};
    double volume = 1.;
    bool local = true;
    for (int d = 0; d < dim; ++d)
    {
      volume *= grid_.mean_cell_size(d);
      c[d] = std::llround(grid_.axis[d].place(center[d]) - 0.5) - grid_.offset[d];
      local = local && c[d] >= 0 && c[d] < grid_.block.cells[d];
    }
    const double scale = std::pow(grid_.reference_length(), 2) / (problem_.coefficient * volume);
    std::array<std::vector<double>, 3> modes;
    for (auto &m : modes)
      m.assign(n, 1.);
    std::vector<double> expected(grid_.block.dofs_per_cell());
    for (unsigned int node = 0; node < functional.size(); ++node)
    {
      for (int d = 0; d < dim; ++d)
        evaluate_modes(basis_, fe.unit_support_point(node)[d], modes[d]);
      for (int k = 0, m = 0; k < grid_.block.nz(); ++k)
        for (int j = 0; j < n; ++j)
          for (int i = 0; i < n; ++i, ++m)
            expected[m] += scale * functional[node] * modes[0][i] * modes[1][j] * modes[2][k];
    }
    for (int k = 0, m = 0; k < grid_.block.nz(); ++k)
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i, ++m)
        {
          largest = std::max(largest, std::abs(expected[m]));
          if (local)
            error = std::max(
                error, std::abs(expected[m] - b[grid_.block.index(c[0], c[1], c[2], i, j, k)]));
        }
  }

  const Problem &problem_;
  const LevelGrid &grid_;
  const CellBasis &basis_;
  std::shared_ptr<dealii::FunctionParser<dim>> f_;
  std::vector<std::shared_ptr<dealii::FunctionParser<dim>>> g_;
};

bool padding_is_zero(const Vector<double> &b)
{
  const Block &block = b.block();
  for (std::int64_t row = 0; row < block.planes() * block.rows_per_plane() * block.n; ++row)
    for (std::int64_t cx = block.cells[0]; cx < block.pitch; ++cx)
      if (b[row * block.pitch + cx] != 0.)
        return false;
  return true;
}

/// Anisotropic, few cells, more than one rank can share.
Problem small_problem(int dim, int degree)
{
  Problem problem;
  problem.dim = dim;
  problem.degree = degree;
  problem.lower = {-0.3, 0.1, -1.};
  problem.upper = {1.2, 0.9, 0.5};
  problem.coarse_cells = {2, 3, dim == 3 ? 3 : 1};
  problem.refinements = 1;
  problem.coefficient = 2.5;
  problem.constants = {{"pi", 3.14159265358979323846}, {"c", 0.7}};
  return problem;
}

class AgainstDealii : public testing::TestWithParam<std::tuple<int, int, int>>
{};

TEST_P(AgainstDealii, Agrees)
{
  const auto [dim, degree, kinds] = GetParam();
  const std::string z = dim == 3 ? "z" : "c";
  Problem problem = small_problem(dim, degree);
  problem.right_hand_side = "1 + exp(x)*sin(y+2*" + z + ") + if(x<0.45, " + z + ", y)";
  for (int side = 0; side < 2 * dim; ++side)
  {
    problem.boundary[side] = static_cast<BoundaryKind>((side + kinds) % 2);
    if (kinds == 2)
      problem.boundary[side] = BoundaryKind::dirichlet;
    if (kinds == 3)
      problem.boundary[side] = side / 2 == 1 ? BoundaryKind::periodic : BoundaryKind::neumann;
    // On every side some other function, on some a constant.
    problem.boundary_value[side] = side % 3 == 1
        ? "c*" + std::to_string(side)
        : "cos(x+" + std::to_string(side) + "*y-" + z + ")";
  }
  if (kinds == 4)
  {
    problem.right_hand_side = "-c*3";
    problem.boundary_value = {"1", "0", "c", "0", "2", "0"};
  }
  const CellBasis basis = make_cell_basis(degree);
  const Grid grids = make_grid(problem, MPI_COMM_WORLD);
  const LevelGrid &grid = grids.finest();

  Vector<double> b(grid.block);
  std::fill_n(b.data(), b.size(), std::numeric_limits<double>::quiet_NaN());
  assemble_right_hand_side(problem, grid, basis, b);
  EXPECT_TRUE(padding_is_zero(b));
  const double difference = dim == 2 ? Oracle<2>(problem, grid, basis).difference(b)
                                     : Oracle<3>(problem, grid, basis).difference(b);
  EXPECT_LT(difference, 1e-12);
}

INSTANTIATE_TEST_SUITE_P(RightHandSide, AgainstDealii,
    testing::Combine(testing::Values(2, 3), testing::Range(1, test::is_sanitized ? 4 : 5),
        testing::Values(0, 1, 2, 3, 4)));

TEST(RightHandSide, ManyCellsPerRow)
{
  // Several tiles per row, the last one short.
  Problem problem = small_problem(2, 8);
  problem.coarse_cells = {113, 2, 1};
  problem.right_hand_side = "sin(40*x)*y";
  const CellBasis basis = make_cell_basis(problem.degree);
  const Grid grids = make_grid(problem, MPI_COMM_WORLD);
  Vector<double> b;
  assemble_right_hand_side(problem, grids.finest(), basis, b);
  EXPECT_EQ(b.block(), grids.finest().block);
  EXPECT_TRUE(padding_is_zero(b));
  EXPECT_LT(Oracle<2>(problem, grids.finest(), basis).difference(b), 1e-12);
}

std::string message_of(const std::function<void()> &action)
{
  try
  {
    action();
  }
  catch (const std::invalid_argument &error)
  {
    return error.what();
  }
  return "";
}

TEST(RightHandSide, Errors)
{
  Problem problem = small_problem(3, 2);
  const CellBasis basis = make_cell_basis(problem.degree);
  const Grid grids = make_grid(problem, MPI_COMM_SELF);
  Vector<double> b;
  const auto assemble = [&] { assemble_right_hand_side(problem, grids.finest(), basis, b); };
  problem.boundary_value[3] = "x+q";
  EXPECT_NE(message_of(assemble).find("boundary.back_value = 'x+q' cannot"), std::string::npos);
  problem.boundary_value[3] = "0";
  problem.right_hand_side = "sqrt(x-0.1)"; // x starts at -0.3
  EXPECT_EQ(
      message_of(assemble).find("problem.right_hand_side = 'sqrt(x-0.1)' is not a number at (-0."),
      0)
      << message_of(assemble);
  problem.right_hand_side = "1/0";
  EXPECT_NE(message_of(assemble).find("is infinite at"), std::string::npos) << message_of(assemble);
  problem.right_hand_side = "0";
  problem.boundary_value[0] = "1/0";
  EXPECT_EQ(message_of(assemble).find("boundary.left_value = '1/0' is infinite"), 0)
      << message_of(assemble);
}

TEST(RightHandSide, Compatibility)
{
  Problem problem = small_problem(3, 2);
  problem.boundary = {BoundaryKind::neumann, BoundaryKind::neumann, BoundaryKind::periodic,
      BoundaryKind::periodic, BoundaryKind::neumann, BoundaryKind::neumann};
  const CellBasis basis = make_cell_basis(problem.degree);
  const Grid grids = make_grid(problem, MPI_COMM_WORLD);
  const LevelGrid &grid = grids.finest();
  const auto defect = [&] { return incompatibility(problem, grid, basis, 4); };
  const auto check = [&] { check_compatible(problem, grid, basis); };

  problem.right_hand_side = "1";
  EXPECT_NEAR(defect(), 1., 1e-14);
  EXPECT_NE(message_of(check).find("no solution"), std::string::npos);
  EXPECT_NE(message_of(check).find("1e-06"), std::string::npos) << message_of(check);

  // u = x^2/2: f = -a, fluxes -a x at the left and a x at the right end, x = -0.3 and 1.2.
  problem.right_hand_side = "-2.5";
  problem.boundary_value = {"2.5*0.3", "2.5*x", "7", "7", "0", "0"};
  EXPECT_NEAR(defect(), 0., 1e-14);
  EXPECT_EQ(message_of(check), "");
  problem.boundary_value[0] = "2.5*0.2999";
  EXPECT_NE(message_of(check), "");
  problem.boundary[0] = BoundaryKind::dirichlet; // no longer singular
  EXPECT_EQ(message_of(check), "");
  problem.boundary[0] = BoundaryKind::neumann;

  // Balanced, but quadrature on this mesh does not see it to 1e-6.
  problem.boundary_value = {"0", "0", "0", "0", "0", "0"};
  problem.right_hand_side = "if(x<0.45+0.3*sin(2*pi*(y-0.1)/0.8), 1, -1)";
  EXPECT_EQ(message_of(check), "") << defect();

  problem.right_hand_side = "0";
  EXPECT_EQ(defect(), 0.);
  EXPECT_EQ(message_of(check), "");
}

TEST(RightHandSide, SubtractMean)
{
  for (const int dim : {2, 3})
  {
    Problem problem = small_problem(dim, 3);
    problem.right_hand_side = "exp(x)*y";
    const CellBasis basis = make_cell_basis(problem.degree);
    const Grid grids = make_grid(problem, MPI_COMM_WORLD);
    const LevelGrid &grid = grids.finest();
    Vector<double> b = project(problem, grid, basis, "exp(x)*y");
    const double mean = (std::exp(1.2) - std::exp(-0.3)) / 1.5 * 0.5;
    EXPECT_NEAR(mean_value(grid, basis, b), mean, 1e-10);
    EXPECT_NEAR(subtract_mean(grid, basis, b), mean, 1e-10);
    EXPECT_NEAR(mean_value(grid, basis, b), 0., 1e-15);
    EXPECT_TRUE(padding_is_zero(b));
    problem.exact_solution = "exp(x)*y-" + std::to_string(mean);
    EXPECT_LT(compute_errors(problem, grid, basis, b).l2, 1e-4);
  }
}
} // namespace
