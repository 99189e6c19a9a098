// Linear elements on vertices in device memory against those of the host: transfer from and to elements, and solutions.
#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "operators/cellwise/cell_coefficients.h"
#include "operators/cellwise/cholesky.h"
#include "operators/cellwise/vertex_correction.h"
#include "tests/support/guarded.h"
#include "tests/support/random_vector.h"

namespace tensormg
{
namespace
{
  Problem problem(int dim, const std::string &coefficient)
  {
    Problem result;
    result.dim = dim;
    result.degree = dim == 3 ? 2 : 3;
    result.coarse_cells = {5, 4, dim == 3 ? 3 : 1};
    result.refinements = 1;
    result.cell_coefficient[0] = coefficient;
    result.coefficient_in_cell = InCell::mean;
    result.boundary.fill(BoundaryKind::neumann);
    result.boundary[1] = BoundaryKind::dirichlet;
    result.boundary[2] = result.boundary[3] = BoundaryKind::periodic;
    return result;
  }
  const char *const smooth = "1 + 0.5*sin(3*x)*cos(2*y)";
  /// Stiff cells that meet in edges or, of 10 x 8 x 6 cells, in a corner.
  const char *const chequered = "sin(31.41592653589793*x)*sin(25.13274122871834*y) > 0 ? 1e4 : 1";
  const char *const corner = "(x-0.5)*(y-0.5) > 0 && (x-0.5)*(z-0.5) > 0 ? 1e4 : 1";

  class VerticesOnDevice : public testing::TestWithParam<int>
  {
  protected:
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
    }
  };

  struct Setting
  {
    CellBasis basis;
    Grid grid;
    explicit Setting(const Problem &problem)
      : basis(make_cell_basis(problem.degree))
      , grid(make_grid(problem, MPI_COMM_SELF))
    {
      add_cell_coefficients(grid, basis);
    }
    const LevelGrid &level() const { return grid.finest(); }
    CellNumbersOf<double> numbers() const { return {level(), basis}; }
  };

  double largest_difference(const std::vector<double> &a, const std::vector<double> &b)
  {
    double result = 0.;
    for (std::size_t i = 0; i < a.size(); ++i)
      result = std::max(result, std::abs(a[i] - b[i]));
    return result;
  }

  template <typename T>
  DeviceArray<T> on_device(const std::vector<T> &from)
  {
    DeviceArray<T> result(std::ssize(from), Unset());
    result.copy_from_host(from.data());
    return result;
  }

  /// Numbers of a vector of VertexSpace in the order of vertices::Layout.
  std::vector<double> in_order(const VertexSpace &space, const std::vector<double> &from)
  {
    std::vector<double> result;
    space.grid().for_each(
        [&](const auto &v) { result.push_back(from[space.grid().place(v[0], v[1], v[2])]); });
    for (std::int64_t s = 0; s < space.n_splits(); ++s)
      result.push_back(from[static_cast<std::size_t>(space.grid().size() + s)]);
    return result;
  }

  void expect_transfer(const char *coefficient, int dim, bool splits)
  {
    const Setting setting(problem(dim, coefficient));
    const Block &block = setting.level().block;
    VertexSpace space(setting.level(), setting.basis, setting.grid.problem);
    if (splits)
      space.split(setting.numbers());
    EXPECT_EQ(space.n_splits() > 0, splits);
    vertices::Layout layout = space.layout();
    const auto of_vertex = on_device(space.splits()), octants = on_device(space.octants());
    layout.splits = splits ? of_vertex.data() : nullptr;
    layout.octants = splits ? octants.data() : nullptr;
    const std::int64_t size = layout.vertices() + space.n_splits();

    const auto r = test::random_vector<double>(block, 1);
    std::vector<double> expected, found(static_cast<std::size_t>(size));
    space.restrict_to(expected, r);
    test::Guarded<double> device_r(r), sums(layout.sums()), b(size);
    vertices::restrict_to(layout, device_r.data(), sums.data(), b.data(), nullptr);
    EXPECT_TRUE(b.read(found.data(), nullptr));
    EXPECT_LT(largest_difference(found, in_order(space, expected)), 1e-13);

    Vector<double> x(block), device_x(block);
    space.add_prolonged(x, expected);
    test::Guarded<double> y(device_x);
    vertices::add_prolonged(layout, b.data(), y.data(), nullptr);
    EXPECT_TRUE(y.read(device_x.data(), nullptr));
    EXPECT_LT(test::relative_difference(device_x, x), 1e-13);
    EXPECT_TRUE(test::padding_is_zero(device_x));
  }

  TEST_P(VerticesOnDevice, TransferIsThatOfTheHost)
  {
    expect_transfer(smooth, GetParam(), false);
    if (GetParam() == 3)
      expect_transfer(corner, 3, true);
  }

  /// x'Ax
  double energy(const SparseRows &a, const std::vector<double> &x)
  {
    double sum = 0.;
    for (std::size_t i = 0; i < x.size(); ++i)
      for (std::int64_t e = a.begin[i]; e < a.begin[i + 1]; ++e)
        sum += x[i] * a.values[static_cast<std::size_t>(e)] *
            x[static_cast<std::size_t>(a.columns[static_cast<std::size_t>(e)])];
    return sum;
  }

  /// The solution by a dense matrix; of a singular one with a multiple of constants.
  std::vector<double> exact_solution(const SparseRows &a, std::vector<double> b, bool is_singular)
  {
    const std::size_t size = b.size();
    std::vector<double> dense(size * size, is_singular ? 1. : 0.);
    for (std::size_t i = 0; i < size; ++i)
      for (std::int64_t e = a.begin[i]; e < a.begin[i + 1]; ++e)
        dense[i * size + static_cast<std::size_t>(a.columns[static_cast<std::size_t>(e)])] +=
            a.values[static_cast<std::size_t>(e)];
    Cholesky(std::move(dense), "the matrix of vertices").solve(b);
    return b;
  }

  void expect_accuracy(const VertexHierarchy &hierarchy, bool is_singular)
  {
    DeviceVertexMultigrid device(hierarchy, is_singular, nullptr);
    EXPECT_GT(device.n_iterations(), 0);
    EXPECT_LT(device.n_iterations(), most_vertex_iterations);
    const SparseRows &a = hierarchy.levels.front().matrix;
    std::vector<double> b, x(static_cast<std::size_t>(a.rows()));
    double mean = 0.;
    for (std::int64_t i = 0; i < a.rows(); ++i)
    {
      b.push_back(1. + std::cos(0.3 * static_cast<double>(i * i % 101)));
      mean += b.back() / static_cast<double>(a.rows());
    }
    device::to_device(device.b(), b.data(), b.size() * sizeof(double), nullptr);
    device.solve();
    device::to_host(x.data(), device.x(), x.size() * sizeof(double), nullptr);
    device::synchronize(nullptr);
    if (is_singular)
      for (double &entry : b)
        entry -= mean;
    std::vector<double> error = exact_solution(a, b, is_singular);
    const double of_solution = energy(a, error);
    for (std::size_t i = 0; i < error.size(); ++i)
      error[i] -= x[i];
    EXPECT_LT(std::sqrt(energy(a, error) / of_solution), 3. * vertex_accuracy);
  }

  TEST_P(VerticesOnDevice, ConjugateGradientsReachTheirAccuracy)
  {
    for (const bool is_singular : {false, true})
    {
      SCOPED_TRACE(is_singular);
      Problem of_case = problem(GetParam(), GetParam() == 3 ? corner : chequered);
      if (is_singular)
        of_case.boundary.fill(BoundaryKind::neumann);
      const Setting setting(of_case);
      VertexSpace space(setting.level(), setting.basis, setting.grid.problem);
      expect_accuracy(
          VertexMultigrid(space.matrix(setting.numbers()), is_singular).hierarchy(), is_singular);
      if (!VertexAmg::is_available())
        continue;
      space.split(setting.numbers());
      expect_accuracy(
          VertexAmg(space.matrix(setting.numbers()), is_singular).hierarchy(), is_singular);
    }
  }

  INSTANTIATE_TEST_SUITE_P(Dimensions, VerticesOnDevice, testing::Values(2, 3));
} // namespace
} // namespace tensormg
