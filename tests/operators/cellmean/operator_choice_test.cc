// Which operator the cycle has, and solves with both.
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "operators/block_multigrid/block_family.h"
#include "operators/block_solver/block_solver.h"
#include "operators/cellmean/cell_means.h"
#include "operators/cellmean/operator_choice.h"
#include "tests/operators/pointwise/setting.h"

extern "C" void dsyev_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda,
    double *w, double *work, const int *lwork, int *info);

namespace tensormg
{
namespace
{
  using test::Point;
  using test::Setting;

  BlockLevels::Options options_of(const Setting &s, int refinements)
  {
    return {.degree = s.degree,
        .mapping_degree = s.level.mapping_degree,
        .refinements = refinements,
        .side = s.kind};
  }
  template <typename Move>
  Setting mapped(
      int dim, std::array<std::int64_t, 3> cells, int degree, int mapping_degree, const Move &move)
  {
    const BlockMesh mesh = make_block_mesh(box_cells(dim, cells, {0., 0., 0.}, {1., 1., 1.}));
    const BlockGeometry geometry = BlockGeometry(mesh).moved([move](std::vector<Point> &points) {
      for (Point &x : points)
        x = move(x);
    });
    return {mesh, geometry, {1, mapping_degree}, degree,
        DiffusionTensor::constant({1., 1., 1., 0., 0., 0.})};
  }
  Setting sheared()
  {
    Setting s = mapped(3, {2, 1, 1}, 3, 1, [](const Point &x) {
      return Point{x[0] + 0.3 * x[1], 1.1 * x[1] - 0.1 * x[2], 0.9 * x[2] + 0.2 * x[0]};
    });
    s.k = DiffusionTensor::constant({2., 1.5, 3., 0.5, -0.25, 0.75});
    s.kind = [](int boundary) { return boundary == 0 ? Side::neumann : Side::dirichlet; };
    return s;
  }

  std::vector<double> eigenvalues_of(const BlockLevels &levels, std::size_t l)
  {
    PointwiseOperator<double> op(
        levels, l, nullptr, std::make_unique<CellMeanKernel<double>>(levels.levels()[l]));
    Vector<double> unit = op.make_vector(), column = op.make_vector();
    std::vector<std::int64_t> places;
    test::for_each_dof(unit.block(), [&](std::int64_t at) { places.push_back(at); });
    std::vector<double> matrix;
    for (const std::int64_t at : places)
    {
      unit[at] = 1.;
      op.vmult(column, unit);
      unit[at] = 0.;
      for (const std::int64_t to : places)
        matrix.push_back(column[to]);
    }
    const auto n = static_cast<int>(places.size()), length = 4 * n;
    std::vector<double> values(places.size()), work(4 * places.size());
    int info = 0;
    dsyev_("N", "U", &n, matrix.data(), &n, values.data(), work.data(), &length, &info);
    EXPECT_EQ(info, 0);
    return values;
  }

  // Cells whose metric varies by more than 40, most of it shear.
  TEST(OperatorChoice, CellMeansArePositiveOnShearedCells)
  {
    for (const double epsilon : {0.3, 0.05})
      for (const int degree : {1, 2})
      {
        const Setting s = mapped(3, {4, 2, 2}, degree, 1, [&](const Point &x) {
          const double way = x[0] <= 0.25 ? 0. : x[0] >= 0.75 ? 1. : 2. * x[0] - 0.5;
          const auto moved = [&](double y) {
            const double left = y < 0.5 ? epsilon * y : 1. - (2. - epsilon) * (1. - y),
                         right = y <= 0.5 ? (2. - epsilon) * y : 1. + epsilon * (y - 1.);
            return left + (right - left) * way;
          };
          return Point{x[0], moved(x[1]), moved(x[2])};
        });
        const BlockLevels levels(s.blocks, s.geometry, s.data(), options_of(s, 0));
        EXPECT_GT(metric_variation(levels.levels().back()).within, 4.);
        EXPECT_GT(eigenvalues_of(levels, levels.levels().size() - 1).front(), 0.)
            << epsilon << ' ' << degree;
      }
  }

  TEST(OperatorChoice, AffineCellsHaveTheOperatorOfTheSystem)
  {
    const Setting s = sheared();
    const BlockLevels levels(s.blocks, s.geometry, s.data(), options_of(s, 1));
    const BlockFamily<> family(levels);
    EXPECT_TRUE(family.cycle_operator().is_cell_mean && family.cycle_operator().is_exact);
    PointwiseOperator<double> at_points(levels, 1);
    const auto op = family.make_operator<double>(1);
    const Vector<double> x = family.make_start_vector(1);
    Vector<double> y(x.block()), z(x.block());
    op->vmult(y, x);
    at_points.vmult(z, x);
    const VectorSpace space = family.make_space(1);
    space.axpby(-1., z, 1., y);
    EXPECT_LT(space.norm(y), 1e-13 * space.norm(z));
  }

  SolveReport solved(const BlockLevels &levels, CycleOperator which, Vector<double> &x)
  {
    SolverOptions options;
    options.tolerance = 1e-11;
    options.multigrid.cycle_operator = which;
    const Vector<double> b = pseudo_random_vector(levels.levels().back().grid);
    x = Vector<double>(b.block());
    return make_block_solver(levels, options, x, b)->solve(x, b, Start::zero);
  }

  TEST(OperatorChoice, SolutionsAreThoseOfTheSystem)
  {
    const Setting curved = mapped(2, {1, 1, 1}, 3, 3, [](const Point &x) {
      return Point{x[0] + 0.1 * std::sin(3. * x[1]), x[1] + 0.1 * std::sin(2. * x[0]), 0.};
    });
    for (const Setting &s : {sheared(), curved})
    {
      const BlockLevels levels(s.blocks, s.geometry, s.data(), options_of(s, 2));
      Vector<double> x, y;
      const SolveReport at_points = solved(levels, CycleOperator::true_metric, x),
                        with_means = solved(levels, CycleOperator::cell_mean, y);
      EXPECT_TRUE(at_points.converged() && with_means.converged());
      EXPECT_LE(with_means.iterations, at_points.iterations + 2);
      const VectorSpace space(x.block(), MPI_COMM_SELF);
      space.axpby(-1., x, 1., y);
      EXPECT_LT(space.norm(y), 1e-9 * space.norm(x));
    }
  }

  // Of a ring, whose cells become straight with every refinement.
  TEST(OperatorChoice, GoesByTheVariationInCells)
  {
    Setting s = test::generated(2, "hyper_shell", "0,0 : 0.1 : 1 : 4 : true", 3, 1);
    s.k = DiffusionTensor::constant({1., 1., 1., 0., 0., 0.});
    std::vector<bool> are_means;
    for (const int refinements : {0, 5})
    {
      const BlockLevels levels(s.blocks, s.geometry, s.data(), options_of(s, refinements));
      const OperatorChoice choice = choose_operator(levels, CycleOperator::automatic, {});
      EXPECT_FALSE(choice.is_exact);
      EXPECT_NE(choice.reason.find("varies in a cell by up to "), std::string::npos);
      are_means.push_back(choice.is_cell_mean);
      EXPECT_FALSE(choose_operator(levels, CycleOperator::true_metric, {}).is_cell_mean);
      EXPECT_TRUE(choose_operator(levels, CycleOperator::cell_mean, {}).is_cell_mean);
      RelaxationChoice lines;
      lines.lines = true;
      EXPECT_FALSE(choose_operator(levels, CycleOperator::automatic, lines).is_cell_mean);
    }
    PointwiseData harmonic = s.data();
    harmonic.averages = FaceAverage::harmonic;
    const BlockLevels levels(s.blocks, s.geometry, harmonic, options_of(s, 5));
    EXPECT_FALSE(choose_operator(levels, CycleOperator::automatic, {}).is_cell_mean);
    EXPECT_FALSE(are_means.front());
    EXPECT_TRUE(are_means.back());
  }
} // namespace
} // namespace tensormg
