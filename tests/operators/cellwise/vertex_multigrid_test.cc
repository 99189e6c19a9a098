// Black-box multigrid on vertices: how much one cycle reduces errors, whatever the coefficients; that it is symmetric; the matrix of the
// vertices against the one of the elements.
#include <array>
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "operators/cellwise/cell_coefficients.h"
#include "operators/cellwise/vertex_space.h"
#include "operators/constant/laplace_operator.h"
#include "operators/vectors/vector_space.h"

namespace tensormg
{
namespace
{
  Problem box(int dim, std::array<std::int64_t, 3> cells)
  {
    Problem problem;
    problem.dim = dim;
    problem.degree = 2;
    problem.coarse_cells = cells;
    problem.refinements = 0;
    problem.cell_coefficient[0] = "k";
    problem.functions["k"] = [](std::size_t n, const double *, const double *, const double *,
                                 double *values) { std::fill_n(values, n, 1.); };
    return problem;
  }
  /// log-uniform from 1 to `contrast`, by the cell that has a point.
  Function random_cells(const Problem &problem, double contrast)
  {
    return [=](std::size_t n, const double *x, const double *y, const double *z, double *values) {
      for (std::size_t q = 0; q < n; ++q)
      {
        std::uint64_t h = 1;
        for (const auto &[d, at] : {std::pair{0, x[q]}, {1, y[q]}, {2, z[q]}})
          if (d < problem.dim)
            h = (h ^ static_cast<std::uint64_t>((at - problem.lower[d]) / problem.cell_size(d))) *
                0x9E3779B97F4A7C15u;
        values[q] = std::pow(contrast, static_cast<double>(h >> 40) * 0x1p-24);
      }
    };
  }

  struct Vertices
  {
    CellBasis basis;
    Grid grid;
    VertexSpace space;
    CellNumbersOf<double> numbers;

    explicit Vertices(const Problem &problem)
      : basis(make_cell_basis(problem.degree))
      , grid([&] {
        Grid made = make_grid(problem, MPI_COMM_SELF);
        add_cell_coefficients(made, basis);
        return made;
      }())
      , space(grid.finest(), basis, problem)
      , numbers(grid.finest(), basis)
    {}
    VertexMatrix matrix() const { return space.matrix(numbers); }
    std::size_t size() const
    {
      return static_cast<std::size_t>(space.grid().size() + space.n_splits());
    }

    template <typename Use>
    void for_vertices(const Use &use) const
    {
      const VertexGrid &v = space.grid();
      for (std::int64_t z = 0; z < v.count[2]; ++z)
        for (std::int64_t y = 0; y < v.count[1]; ++y)
          for (std::int64_t x = 0; x < v.count[0]; ++x)
            use(std::array<std::int64_t, 3>{x, y, z}, v.place(x, y, z));
    }
    /// y = A x
    std::vector<double> product(const VertexMatrix &matrix, const std::vector<double> &x) const
    {
      const VertexGrid &v = space.grid();
      std::vector<double> y(x.size(), 0.);
      for_vertices([&](const auto &vertex, std::int64_t at) {
        for (int o = v.is_3d() ? 0 : 9; o < (v.is_3d() ? 27 : 18); ++o)
        {
          std::array<std::int64_t, 3> other{
              vertex[0] + o % 3 - 1, vertex[1] + o / 3 % 3 - 1, vertex[2] + o / 9 - 1};
          bool inside = true;
          for (int d = 0; d < 3; ++d)
            if (v.periodic[d])
              other[d] = (other[d] + v.count[d]) % v.count[d];
            else
              inside = inside && other[d] >= 0 && other[d] < v.count[d];
          if (inside)
            y[at] += matrix.entries[o][at] * x[v.place(other[0], other[1], other[2])];
          else
            EXPECT_EQ(matrix.entries[o][at], 0.);
        }
      });
      for (const auto &[row, column, value] : matrix.further)
        y[row] += value * x[column];
      return y;
    }
    std::vector<double> random(unsigned seed) const
    {
      std::mt19937 generator(seed);
      std::uniform_real_distribution<double> distribution(-1., 1.);
      std::vector<double> x(size(), 0.);
      for_vertices([&](const auto &, std::int64_t at) { x[at] = distribution(generator); });
      for (std::size_t at = size() - static_cast<std::size_t>(space.n_splits()); at < size(); ++at)
        x[at] = distribution(generator);
      return x;
    }
    double dot(const std::vector<double> &x, const std::vector<double> &y) const
    {
      double sum = 0.;
      for_vertices([&](const auto &, std::int64_t at) { sum += x[at] * y[at]; });
      return sum;
    }
  };

  /// By which factor a cycle reduces the energy norm of an error, the mean of the last ones before rounding counts.
  double contraction(const Problem &problem)
  {
    const Vertices vertices(problem);
    const VertexMatrix matrix = vertices.matrix();
    VertexMultigrid multigrid(vertices.matrix(), problem.is_singular());
    std::vector<double> error = vertices.random(1), correction(error.size());
    constexpr int cycles = 6, last = 4;
    double before = 0.;
    for (int i = 0; i < cycles; ++i)
    {
      const std::vector<double> residual = vertices.product(matrix, error);
      if (i == cycles - last)
        before = std::sqrt(vertices.dot(error, residual));
      multigrid.cycle(correction, residual);
      vertices.for_vertices([&](const auto &, std::int64_t at) { error[at] -= correction[at]; });
    }
    const double after = std::sqrt(vertices.dot(error, vertices.product(matrix, error)));
    return std::pow(after / before, 1. / last);
  }

  TEST(VertexMultigrid, ReducesErrorsWhateverTheCoefficients)
  {
    for (const auto &[dim, cells] :
        {std::pair{2, std::array<std::int64_t, 3>{32, 32, 1}}, {2, {37, 21, 1}}, {3, {16, 12, 9}}})
      for (const double contrast : {1., 1e2, 1e6})
        for (const int sides : {0, 1, 2})
        {
          SCOPED_TRACE(testing::Message() << dim << "D " << contrast << " sides " << sides);
          Problem problem = box(dim, cells);
          problem.functions["k"] = random_cells(problem, contrast);
          if (sides == 1)
            problem.boundary.fill(BoundaryKind::neumann);
          if (sides == 2)
            problem.boundary[0] = problem.boundary[1] = BoundaryKind::periodic;
          EXPECT_LT(contraction(problem), contrast == 1. ? 0.15 : 0.6);
        }
  }

  TEST(VertexMultigrid, ReducesErrorsOnStretchedCells)
  {
    for (const double length : {30., 1000.})
    {
      Problem problem = box(2, {32, 32, 1});
      problem.upper[0] = length;
      EXPECT_LT(contraction(problem), 0.2);
    }
  }

  TEST(VertexMultigrid, IsSymmetric)
  {
    Problem problem = box(3, {9, 10, 8});
    problem.functions["k"] = random_cells(problem, 1e4);
    const Vertices vertices(problem);
    VertexMultigrid multigrid(vertices.matrix(), false);
    // Of vertices without unknown nothing is asked.
    std::vector<double> a = vertices.random(1), b = vertices.random(2), of_a(a.size()),
                        of_b(a.size());
    const VertexMatrix matrix = vertices.matrix();
    vertices.for_vertices([&](const auto &v, std::int64_t at) {
      for (int d = 0; d < 3; ++d)
        if (v[d] == 0 || v[d] == vertices.space.grid().count[d] - 1)
          a[at] = b[at] = 0.;
    });
    multigrid.cycle(of_a, a);
    multigrid.cycle(of_b, b);
    EXPECT_NEAR(
        vertices.dot(of_a, b), vertices.dot(of_b, a), 1e-12 * std::abs(vertices.dot(of_a, a)));
    EXPECT_GT(vertices.dot(of_a, a), 0.);
  }

  /// P'BPx by the elements.
  void expect_matrix_of_elements(const Vertices &vertices)
  {
    const LevelGrid &level = vertices.grid.finest();
    std::vector<double> x = vertices.random(1);
    Vector<double> u(level.block), b(level.block);
    vertices.space.add_prolonged(u, x);
    LaplaceOperator<double> op(level, vertices.basis, laplace::Backend::cpu);
    op.vmult(b, u);
    std::vector<double> found;
    vertices.space.restrict_to(found, b);
    const VertexMatrix matrix = vertices.matrix();
    // Vertices without unknown are not in u.
    vertices.for_vertices([&](const auto &, std::int64_t at) {
      double off = 0.;
      for (int o = level.block.dim == 3 ? 0 : 9; o < (level.block.dim == 3 ? 27 : 18); ++o)
        off += o == VertexMatrix::centre ? 0. : std::abs(matrix.entries[o][at]);
      if (off == 0.)
        x[at] = 0.;
    });
    const std::vector<double> expected = vertices.product(matrix, x);
    double largest = 0.;
    vertices.for_vertices([&](const auto &, std::int64_t at) {
      largest = std::max(largest, std::abs(expected[at]));
    });
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t at = 0; at < found.size(); ++at)
      EXPECT_NEAR(found[at], expected[at], 1e-12 * largest);
  }

  TEST(VertexSpace, HasTheMatrixOfTheElements)
  {
    for (const int dim : {2, 3})
      for (const BoundaryKind kind :
          {BoundaryKind::neumann, BoundaryKind::periodic, BoundaryKind::robin})
      {
        Problem problem = box(dim, {5, 4, dim == 3 ? 3 : 1});
        problem.upper = {1., 2., 0.5};
        problem.functions["k"] = random_cells(problem, 1e3);
        problem.reaction = "2";
        problem.boundary[3] = kind;
        if (kind == BoundaryKind::periodic)
          problem.boundary[2] = kind;
        if (kind == BoundaryKind::robin)
          problem.boundary[0] = problem.boundary[5] = kind;
        problem.robin_coefficient.fill("k");
        expect_matrix_of_elements(Vertices(problem));
      }
  }

  // Stiff cells that meet in a corner, inside and across a periodic side; others that share a face or an edge, too.
  TEST(VertexSpace, SplitVerticesHaveTheMatrixOfTheElements)
  {
    Problem problem = box(3, {6, 5, 7});
    problem.boundary[2] = problem.boundary[3] = BoundaryKind::periodic;
    problem.boundary[5] = BoundaryKind::neumann;
    problem.reaction = "3";
    problem.functions["k"] = [](std::size_t n, const double *x, const double *y, const double *z,
                                 double *values) {
      constexpr std::array<std::array<int, 3>, 10> stiff{{{1, 1, 1}, {2, 2, 2}, {1, 3, 2},
          {4, 0, 3}, {5, 4, 4}, {3, 1, 5}, {3, 2, 5}, {4, 3, 4}, {0, 2, 6}, {1, 1, 6}}};
      for (std::size_t q = 0; q < n; ++q)
      {
        const std::array cell{int(6. * x[q]), int(5. * y[q]), int(7. * z[q])};
        values[q] = std::find(stiff.begin(), stiff.end(), cell) != stiff.end()
            ? 1e3
            : 1. + 0.1 * cell[0] + 0.2 * cell[1];
      }
    };
    Vertices vertices(problem);
    EXPECT_EQ(vertices.space.n_splits(), 0);
    expect_matrix_of_elements(vertices);
    vertices.space.split(vertices.numbers);
    EXPECT_EQ(vertices.space.n_splits(), 3);
    expect_matrix_of_elements(vertices);
  }
} // namespace
} // namespace tensormg
