// The operator on curved cells against what deal.II integrates on the same cells: both dimensions, tensors, every pair of orientations,
// each kind of closed side; and what the operator must have by itself.
#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include <deal.II/base/quadrature_lib.h>
#include <deal.II/dofs/dof_handler.h>
#include <deal.II/fe/fe_dgq.h>
#include <deal.II/fe/fe_tools.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/fe/mapping_q_cache.h>
#include <deal.II/grid/tria.h>
#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "kernels/laplace/pointwise/pointwise.h"
#include "operators/blocks/generated_mesh.h"
#include "operators/constant/line_operator.h"
#include "operators/pointwise/diagonal.h"
#include "operators/pointwise/metric.h"
#include "operators/vectors/vector.h"
#include "tests/operators/pointwise/setting.h"

namespace tensormg
{
namespace
{
  using test::applied;
  using test::dot;
  using test::for_cells;
  using test::generated;
  using test::links_of;
  using test::Numbers;
  using test::Point;
  using test::random_numbers;
  using test::relative_difference;
  using test::Setting;
  using test::tensor;

  /// The same by deal.II, every cell being one of a coarse mesh, with nodes of its own.
  template <int dim>
  class Oracle
  {
  public:
    explicit Oracle(const Setting &setting)
      : s_(setting)
      , mapping_(static_cast<unsigned>(setting.level.mapping_degree))
      , element_(static_cast<unsigned>(setting.degree))
      , rule_(static_cast<unsigned>(setting.degree) + 1)
      , face_rule_(static_cast<unsigned>(setting.degree) + 1)
    {
      make_triangulation();
      const auto order = dealii::FETools::lexicographic_to_hierarchic_numbering<dim>(
          static_cast<unsigned>(s_.level.mapping_degree));
      mapping_.initialize(triangulation_, [&](const auto &cell) {
        const std::vector<Point> &nodes = nodes_[cell->index()];
        std::vector<dealii::Point<dim>> result(nodes.size());
        for (std::size_t i = 0; i < nodes.size(); ++i)
          for (int d = 0; d < dim; ++d)
            result[order[i]][d] = nodes[i][d];
        return result;
      });
    }

    /// From and to coefficients of nodes.
    Numbers apply(const Numbers &u)
    {
      find_kappa();
      Numbers result(u.size(), 0.);
      for (const auto &cell : triangulation_.active_cell_iterators())
      {
        add_cell(cell, u, result);
        for (const unsigned f : cell->face_indices())
          if (cell->at_boundary(f))
            add_boundary(cell, f, u, result);
          else if (cell->index() < cell->neighbor(f)->index())
            add_face(cell, f, u, result);
      }
      return result;
    }

  private:
    using Cell = typename dealii::Triangulation<dim>::active_cell_iterator;
    using FaceValues = dealii::FEFaceValues<dim>;
    const dealii::UpdateFlags cell_flags_ = dealii::update_values | dealii::update_gradients |
        dealii::update_JxW_values | dealii::update_inverse_jacobians |
        dealii::update_quadrature_points;
    const dealii::UpdateFlags face_flags_ =
        cell_flags_ | dealii::update_values | dealii::update_normal_vectors;

    void make_triangulation()
    {
      std::map<std::array<std::int64_t, 3>, unsigned> known;
      std::vector<dealii::Point<dim>> vertices;
      std::vector<dealii::CellData<dim>> cells;
      for_cells(s_, [&](std::int64_t b, const std::array<std::int64_t, 3> &at) {
        nodes_.push_back(cell_nodes(s_.geometry, s_.level, b, at));
        block_.push_back(b);
        const BlockLevel linear{s_.level.per_direction, 1};
        const std::vector<Point> corners = cell_nodes(s_.geometry, linear, b, at);
        cells.emplace_back();
        for (std::size_t v = 0; v < corners.size(); ++v)
        {
          std::array<std::int64_t, 3> key{};
          dealii::Point<dim> point;
          for (int d = 0; d < dim; ++d)
          {
            point[d] = corners[v][d];
            key[d] = std::llround(1e8 * corners[v][d]);
          }
          const auto [entry, is_new] = known.emplace(key, static_cast<unsigned>(vertices.size()));
          if (is_new)
            vertices.push_back(point);
          cells.back().vertices[v] = entry->second;
        }
        for (int side = 0; side < 2 * dim; ++side)
        {
          const std::int64_t end = side % 2 == 1 ? s_.level.per_direction - 1 : 0;
          const BlockSide &other = s_.blocks.sides[b][side];
          boundary_.push_back(at[side / 2] == end && other.neighbour < 0 ? other.boundary : 0);
        }
      });
      triangulation_.create_triangulation(vertices, cells, dealii::SubCellData());
    }

    dealii::Tensor<2, dim> k(const Cell &cell, const dealii::Point<dim> &x) const
    {
      Point point{};
      for (int d = 0; d < dim; ++d)
        point[d] = x[d];
      const SymmetricTensor t = s_.k(block_[cell->index()], {point}).front();
      dealii::Tensor<2, dim> result;
      for (int i = 0; i < dim; ++i)
        for (int j = 0; j < dim; ++j)
          result[i][j] = i == j ? t[i] : dim == 2 || i + j == 1 ? t[3] : t[2 + i + j];
      return result;
    }

    /// As the cell sees it.
    dealii::Tensor<2, dim> k_at_side(const Cell &cell, const dealii::Point<dim> &x) const
    {
      dealii::Point<dim> middle;
      for (const unsigned v : cell->vertex_indices())
        middle += cell->vertex(v) / cell->n_vertices();
      return k(cell, x + inwards * (middle - x));
    }

    dealii::Tensor<2, dim> tensor_at(
        const Cell &cell, const dealii::FEValuesBase<dim> &values, unsigned q) const
    {
      const bool is_side = dynamic_cast<const FaceValues *>(&values) != nullptr;
      return is_side ? k_at_side(cell, values.quadrature_point(q))
                     : k(cell, values.quadrature_point(q));
    }

    /// By a hundred steps of the power method, which the formula of the project does not know.
    double kappa_at(const Cell &cell, const dealii::FEValuesBase<dim> &values, unsigned q) const
    {
      const dealii::Tensor<2, dim> inverse(values.inverse_jacobian(q));
      const dealii::Tensor<2, dim> g =
          inverse * tensor_at(cell, values, q) * dealii::transpose(inverse);
      dealii::Tensor<1, dim> x;
      double value = 1.;
      for (int i = 0; i < dim; ++i)
        x[i] = 1. + 0.3 * i * i - 0.7 * i;
      for (int step = 0; step < 3000; ++step)
      {
        dealii::Tensor<1, dim> y;
        for (int a = 0; a < dim; ++a)
          for (int b = 0; b < dim; ++b)
            y[a] += g[a][b] / std::sqrt(g[a][a] * g[b][b]) * x[b];
        value = y.norm() / x.norm();
        x = y / y.norm();
      }
      return value;
    }

    void find_kappa()
    {
      dealii::FEValues<dim> values(mapping_, element_, rule_, cell_flags_);
      FaceValues face_values(mapping_, element_, face_rule_, face_flags_);
      for (const auto &cell : triangulation_.active_cell_iterators())
      {
        double kappa = 1.;
        values.reinit(cell);
        for (unsigned q = 0; q < rule_.size(); ++q)
          kappa = std::max(kappa, kappa_at(cell, values, q));
        for (const unsigned f : cell->face_indices())
        {
          face_values.reinit(cell, f);
          for (unsigned q = 0; q < face_rule_.size(); ++q)
            kappa = std::max(kappa, kappa_at(cell, face_values, q));
        }
        kappa_.push_back(kappa);
        find_rho(cell, values, face_values);
      }
    }

    /// |det J| (J^-1 K J^-T)_aa
    double metric(
        const Cell &cell, const dealii::FEValuesBase<dim> &values, unsigned q, unsigned a) const
    {
      const dealii::Tensor<2, dim> inverse(values.inverse_jacobian(q));
      return (inverse * tensor_at(cell, values, q) * dealii::transpose(inverse))[a][a] /
          dealii::determinant(inverse);
    }

    /// Points of the cell and of the face are told apart by where they lie on the reference cell.
    void find_rho(const Cell &cell, const dealii::FEValues<dim> &values, FaceValues &face_values)
    {
      const dealii::FE_DGQArbitraryNodes<1> line(
          dealii::QGauss<1>(static_cast<unsigned>(s_.degree) + 1));
      const dealii::QGauss<1> gauss(static_cast<unsigned>(s_.degree) + 1);
      for (const unsigned f : cell->face_indices())
      {
        face_values.reinit(cell, f);
        const unsigned a = f / 2;
        for (unsigned q = 0; q < face_rule_.size(); ++q)
        {
          const dealii::Point<dim> at_face =
              mapping_.transform_real_to_unit_cell(cell, face_values.quadrature_point(q));
          double sum = 0., weights = 0.;
          for (unsigned p = 0; p < rule_.size(); ++p)
          {
            dealii::Point<dim> beside = rule_.point(p);
            beside[a] = at_face[a];
            if (beside.distance(at_face) > 1e-6)
              continue;
            unsigned i = 0;
            while (std::abs(gauss.point(i)[0] - rule_.point(p)[a]) > 1e-10)
              ++i;
            const double r = line.shape_value(i, dealii::Point<1>(f % 2));
            weights += r * r / gauss.weight(i);
            sum += r * r / gauss.weight(i) / metric(cell, values, p, a);
          }
          rho_[{cell->index(), f, q}] =
              std::max(1., metric(cell, face_values, q, a) * sum / weights);
        }
      }
    }

    std::size_t first(const Cell &cell) const
    {
      return static_cast<std::size_t>(cell->index()) * element_.n_dofs_per_cell();
    }

    double number(
        const NumberAtPoints &f, const Cell &cell, int boundary, const dealii::Point<dim> &x) const
    {
      Point point{};
      for (int d = 0; d < dim; ++d)
        point[d] = x[d];
      return f ? f(block_[cell->index()], boundary, {point}).front() : 0.;
    }
    double value_of(const Cell &cell, const dealii::FEValuesBase<dim> &values, unsigned q,
        const Numbers &u) const
    {
      double value = 0.;
      for (unsigned i = 0; i < element_.n_dofs_per_cell(); ++i)
        value += u[first(cell) + i] * values.shape_value(i, q);
      return value;
    }

    void add_cell(const Cell &cell, const Numbers &u, Numbers &result)
    {
      dealii::FEValues<dim> values(mapping_, element_, rule_, cell_flags_);
      values.reinit(cell);
      for (unsigned q = 0; q < rule_.size(); ++q)
      {
        dealii::Tensor<1, dim> gradient;
        for (unsigned i = 0; i < element_.n_dofs_per_cell(); ++i)
          gradient += u[first(cell) + i] * values.shape_grad(i, q);
        const auto flux = k(cell, values.quadrature_point(q)) * gradient * values.JxW(q);
        const double of_value = number(s_.reaction, cell, -1, values.quadrature_point(q)) *
            value_of(cell, values, q, u) * values.JxW(q);
        for (unsigned i = 0; i < element_.n_dofs_per_cell(); ++i)
          result[first(cell) + i] +=
              flux * values.shape_grad(i, q) + of_value * values.shape_value(i, q);
      }
    }

    /// Value, flux along its own normal, and penalty of a cell at a point of its face.
    struct Trace
    {
      double value = 0., flux = 0., penalty = 0.;
    };
    Trace trace(
        const Cell &cell, const FaceValues &values, unsigned f, unsigned q, const Numbers &u) const
    {
      Trace result;
      const auto tensor = k_at_side(cell, values.quadrature_point(q));
      for (unsigned i = 0; i < element_.n_dofs_per_cell(); ++i)
      {
        result.value += u[first(cell) + i] * values.shape_value(i, q);
        result.flux +=
            u[first(cell) + i] * (tensor * values.shape_grad(i, q) * values.normal_vector(q));
      }
      const dealii::Tensor<1, dim> covector =
          dealii::Tensor<2, dim>(values.inverse_jacobian(q))[f / 2];
      const double sigma = rho_.at({cell->index(), f, q}) * s_.degree * (s_.degree + 1.);
      result.penalty = 0.5 * sigma * kappa_[cell->index()] *
          (values.normal_vector(q) * tensor * values.normal_vector(q)) * covector.norm();
      return result;
    }
    void test(const Cell &cell, const FaceValues &values, unsigned q, double of_value,
        double of_flux, Numbers &result) const
    {
      const auto tensor = k_at_side(cell, values.quadrature_point(q));
      for (unsigned i = 0; i < element_.n_dofs_per_cell(); ++i)
        result[first(cell) + i] += values.JxW(q) *
            (of_value * values.shape_value(i, q) +
                of_flux * (tensor * values.shape_grad(i, q) * values.normal_vector(q)));
    }

    void add_face(const Cell &cell, unsigned f, const Numbers &u, Numbers &result)
    {
      FaceValues here(mapping_, element_, face_rule_, face_flags_),
          there(mapping_, element_, face_rule_, face_flags_);
      const unsigned g = cell->neighbor_of_neighbor(f);
      const Cell other = cell->neighbor(f);
      here.reinit(cell, f);
      there.reinit(other, g);
      for (unsigned q = 0; q < face_rule_.size(); ++q)
      {
        ASSERT_LT(here.quadrature_point(q).distance(there.quadrature_point(q)), 1e-10);
        const Trace a = trace(cell, here, f, q, u), b = trace(other, there, g, q, u);
        const bool is_harmonic = s_.averages == FaceAverage::harmonic;
        const double both = a.penalty + b.penalty, weight = is_harmonic ? b.penalty / both : 0.5,
                     jump = a.value - b.value, mean = weight * a.flux - (1. - weight) * b.flux,
                     penalty = is_harmonic ? 4. * a.penalty * b.penalty / both : both;
        test(cell, here, q, penalty * jump - mean, -weight * jump, result);
        test(other, there, q, mean - penalty * jump, (1. - weight) * jump, result);
      }
    }

    /// (du/dn, v) + (u, dv/dn) are taken, and the penalty is that of a jump of 2 u over a face.
    void add_boundary(const Cell &cell, unsigned f, const Numbers &u, Numbers &result)
    {
      const int boundary = boundary_[static_cast<std::size_t>(cell->index()) * 2 * dim + f];
      FaceValues here(mapping_, element_, face_rule_, face_flags_);
      here.reinit(cell, f);
      for (unsigned q = 0; q < face_rule_.size(); ++q)
      {
        if (s_.kind(boundary) == Side::neumann)
        {
          const double r = number(s_.robin, cell, boundary, here.quadrature_point(q));
          test(cell, here, q, r * value_of(cell, here, q, u), 0., result);
          continue;
        }
        const Trace a = trace(cell, here, f, q, u);
        test(cell, here, q, 4. * a.penalty * a.value - a.flux, -a.value, result);
      }
    }

    const Setting &s_;
    dealii::Triangulation<dim> triangulation_;
    dealii::MappingQCache<dim> mapping_;
    dealii::FE_DGQ<dim> element_;
    dealii::QGauss<dim> rule_;
    dealii::QGauss<dim - 1> face_rule_;
    std::vector<std::vector<Point>> nodes_;
    std::vector<std::int64_t> block_;
    std::vector<int> boundary_;
    std::vector<double> kappa_;
    std::map<std::tuple<int, unsigned, unsigned>, double> rho_; ///< by cell, face and point
  };

  /// Modes to values at the nodes of FE_DGQ, or with `transposed` tests with nodes to tests with modes.
  Numbers change_of_basis(const Setting &s, const Numbers &from, bool transposed)
  {
    const int n = s.degree + 1;
    const std::vector<double> v =
        mode_value_matrix(make_cell_basis(s.degree), lobatto_nodes(s.degree));
    Numbers now = from;
    std::size_t stride = 1;
    for (int d = 0; d < s.blocks.dim; ++d, stride *= n)
    {
      Numbers next(now.size(), 0.);
      for (std::size_t at = 0; at < now.size(); ++at)
      {
        const int i = static_cast<int>(at / stride % n);
        for (int q = 0; q < n; ++q)
          next[at + (q - i) * static_cast<std::ptrdiff_t>(stride)] +=
              (transposed ? v[i * n + q] : v[q * n + i]) * now[at];
      }
      now = next;
    }
    return now;
  }

  void compare(const Setting &s)
  {
    const Numbers u = random_numbers(s, 1);
    const Numbers found = applied(s, u), of_nodes = change_of_basis(s, u, false);
    const Numbers expected = change_of_basis(
        s, s.blocks.dim == 2 ? Oracle<2>(s).apply(of_nodes) : Oracle<3>(s).apply(of_nodes), true);
    EXPECT_LT(relative_difference(found, expected), 1e-11);
    const Numbers v = random_numbers(s, 2);
    EXPECT_NEAR(dot(v, found) / dot(u, found), dot(u, applied(s, v)) / dot(u, found), 1e-11);
  }

  /// The rotations of a cube, as the new place of each corner.
  std::vector<std::array<int, 8>> rotations()
  {
    std::vector<std::array<int, 8>> result;
    for (int x = 0; x < 3; ++x)
      for (int y = 0; y < 3; ++y)
        for (int flips = 0; flips < 8 && x != y; ++flips)
        {
          const std::array<int, 3> axis{x, y, 3 - x - y};
          const int parity = ((y - x + 3) % 3 == 1 ? 1 : -1) * (flips % 2 == 0 ? 1 : -1) *
              (flips / 2 % 2 == 0 ? 1 : -1) * (flips / 4 == 0 ? 1 : -1);
          if (parity < 0)
            continue;
          std::array<int, 8> to{};
          for (int v = 0; v < 8; ++v)
            for (int d = 0; d < 3; ++d)
              to[v] |= ((v >> d & 1) ^ (flips >> d & 1)) << axis[d];
          result.push_back(to);
        }
    return result;
  }

  /// Two sheared hexahedra side by side, whose directions are turned.
  Setting two_cubes(const std::array<int, 8> &first, const std::array<int, 8> &second)
  {
    MeshCells mesh;
    for (int z = 0; z < 2; ++z)
      for (int y = 0; y < 2; ++y)
        for (int x = 0; x < 3; ++x)
          mesh.vertices.push_back(
              {x + 0.2 * y * x - 0.1 * z, y + 0.15 * x * z, z + 0.1 * x + 0.2 * y * z});
    for (const int begin : {0, 1})
    {
      auto &cell = mesh.cells.emplace_back();
      for (int v = 0; v < 8; ++v)
      {
        const int corner = (begin == 0 ? first : second)[v];
        cell[v] = begin + corner % 2 + 3 * (corner / 2 % 2) + 6 * (corner / 4);
      }
    }
    const BlockMesh blocks = make_block_mesh(mesh);
    return {blocks, BlockGeometry(blocks), {1, 1}, 1, tensor};
  }

  TEST(PointwiseOracle, EveryPairOfOrientations)
  {
    const auto all = rotations();
    ASSERT_EQ(all.size(), 24U);
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::size_t k = 0; k < 3; ++k)
      {
        SCOPED_TRACE(testing::Message() << i << ' ' << k);
        Setting s = two_cubes(all[i], all[(5 * i + 7 * k) % all.size()]);
        s.level.per_direction = k == 0 ? 2 : 1;
        s.degree = k == 1 ? 2 : 1;
        compare(s);
      }
  }

  TEST(PointwiseOracle, CurvedMeshes)
  {
    compare(generated(3, "hyper_shell", "0,0,0 : 0.5 : 1 : 6 : true", 2, 1));
    compare(generated(3, "hyper_ball", "0,0,0 : 1 : false", 3, 1));
    for (const int degree : {1, 2, 3, 5})
      compare(generated(2, "hyper_ball", "0,0 : 1 : false", degree, 2));
    Setting ring = generated(2, "hyper_shell", "0,0 : 0.5 : 1 : 5 : true", 4, 3);
    ring.kind = [](int boundary) { return boundary == 0 ? Side::neumann : Side::dirichlet; };
    compare(ring);
    compare(test::with_reaction(ring));
    Setting shell = generated(3, "hyper_shell", "0,0,0 : 0.5 : 1 : 6 : true", 2, 2);
    shell.kind = ring.kind;
    compare(test::with_reaction(shell));
    Setting channel = generated(2, "plate_with_a_hole",
        "0.4 : 1 : 0.5 : 0.5 : 0.5 : 0.5 : 0,0 : 0 : 1 : 1 : 2 : false", 2, 2);
    compare(channel);
  }

  TEST(PointwiseOracle, HarmonicAverages)
  {
    const auto all = rotations();
    for (const std::size_t i : {3, 10, 17})
    {
      Setting s = two_cubes(all[i], all[(5 * i + 7) % all.size()]);
      s.degree = 2;
      compare(test::with_jumps(s, 100.));
    }
    compare(test::with_jumps(generated(3, "hyper_shell", "0,0,0 : 0.5 : 1 : 6 : true", 2, 1), 1e3));
    Setting ring = generated(2, "hyper_shell", "0,0 : 0.5 : 1 : 5 : true", 3, 2);
    ring.kind = [](int boundary) { return boundary == 0 ? Side::neumann : Side::dirichlet; };
    compare(test::with_jumps(test::with_reaction(ring), 1e-3));
  }

  /// Constants, where nothing holds them, and symmetry is in compare().
  void expect_constants_in_kernel(Setting s)
  {
    s.kind = [](int) { return Side::neumann; };
    Numbers u = random_numbers(s, 1);
    const double scale = std::abs(dot(u, applied(s, u)) / dot(u, u));
    // The coefficients of the constant are the integrals of the modes.
    const int n = s.degree + 1;
    const CellBasis basis = make_cell_basis(s.degree);
    for (std::size_t at = 0; at < u.size(); ++at)
    {
      u[at] = 1.;
      for (std::size_t rest = at, d = 0; d < 3; ++d, rest /= n)
        u[at] *= basis.legendre[rest % n];
    }
    const Numbers zero = applied(s, u);
    EXPECT_LT(std::sqrt(dot(zero, zero) / dot(u, u)), 1e-11 * scale);
  }

  TEST(PointwiseOperator, ConstantsAreInTheKernel)
  {
    const Setting s = generated(3, "hyper_ball", "0,0,0 : 1 : false", 2, 2);
    expect_constants_in_kernel(s);
    expect_constants_in_kernel(test::with_jumps(s, 1e4));
  }

  /// The map of Kershaw's problem as NekRS has it, on vertices: cells that are sheared up to 1 / epsilon.
  Setting kershaw(double epsilon, int degree)
  {
    const auto right = [&](double t) {
      return t <= 0.5 ? (2. - epsilon) * t : 1. + epsilon * (t - 1.);
    };
    const auto left = [&](double t) { return 1. - right(1. - t); };
    const auto of_layer = [&](int layer, double s, double t) {
      const double l = left(t), r = right(t);
      const std::array<double, 6> part{0., s, 1. - s / 2., (1. - s) / 2., s, 1.};
      return l + (r - l) * part[layer];
    };
    MeshCells mesh;
    for (int z = 0; z <= 2; ++z)
      for (int y = 0; y <= 2; ++y)
        for (int x = 0; x <= 6; ++x)
        {
          const int layer = std::min(x, 5);
          mesh.vertices.push_back(
              {x / 6., of_layer(layer, x - layer, y / 2.), of_layer(layer, x - layer, z / 2.)});
        }
    for (int z = 0; z < 2; ++z)
      for (int y = 0; y < 2; ++y)
        for (int x = 0; x < 6; ++x)
        {
          auto &cell = mesh.cells.emplace_back();
          for (int v = 0; v < 8; ++v)
            cell[v] = x + v % 2 + 7 * (y + v / 2 % 2 + 3 * (z + v / 4));
        }
    const BlockMesh blocks = make_block_mesh(mesh);
    const auto one = [](std::int64_t, const Point &) {
      return SymmetricTensor{1., 1., 1., 0., 0., 0.};
    };
    return {blocks, BlockGeometry(blocks), {1, 1}, degree, one};
  }

  std::vector<double> eigenvalues_of(const Setting &s)
  {
    std::vector<double> matrix;
    Numbers unit(random_numbers(s, 1).size(), 0.);
    for (double &number : unit)
    {
      number = 1.;
      const Numbers column = applied(s, unit);
      matrix.insert(matrix.end(), column.begin(), column.end());
      number = 0.;
    }
    return diagonalise(matrix, false);
  }

  // Without kappa the operator of degree 1 has negative eigenvalues here.
  TEST(PointwiseOperator, IsPositiveOnShearedCells)
  {
    for (const double epsilon : {0.3, 0.05})
      for (const int degree : {1, 2})
      {
        const Setting s = kershaw(epsilon, degree);
        const std::vector<double> values = eigenvalues_of(s);
        EXPECT_GT(values.front(), 0.) << epsilon << ' ' << degree;
        EXPECT_LT(values.front(), values.back());
        if (degree == 1)
        {
          EXPECT_GT(eigenvalues_of(test::with_jumps(s, 1e4)).front(), 0.) << epsilon;
        }
      }
  }

  // Without rho there are negative eigenvalues here.
  TEST(PointwiseOperator, IsPositiveWhereTheCoefficientVaries)
  {
    const BlockMesh blocks = make_block_mesh(box_cells(3, {1, 1, 1}, {0., 0., 0.}, {1., 1., 1.}));
    const auto varying = [](std::int64_t, const Point &x) {
      const double k = std::pow(10., 1.5 * std::sin(6. * x[0]) * std::cos(5. * x[1] + x[2]));
      return SymmetricTensor{k, k, k, 0., 0., 0.};
    };
    for (const int degree : {1, 2, 3, 4})
    {
      const std::vector<double> values =
          eigenvalues_of({blocks, BlockGeometry(blocks), {1, 1}, degree, varying});
      EXPECT_GT(values.front(), 0.) << degree;
    }
  }

  TEST(PointwiseOperator, DiagonalIsThatOfUnitVectors)
  {
    for (Setting s : {generated(2, "hyper_shell", "0,0 : 0.5 : 1 : 5 : true", 3, 2),
             test::with_reaction(generated(2, "hyper_shell", "0,0 : 0.5 : 1 : 5 : true", 2, 2)),
             test::with_reaction(generated(3, "hyper_shell", "0,0,0 : 0.5 : 1 : 6 : true", 2, 1))})
    {
      s.kind = [](int boundary) { return boundary == 0 ? Side::neumann : Side::dirichlet; };
      const CellBasis basis = make_cell_basis(s.degree);
      const Block block = s.level.cells(s.geometry, s.degree);
      const std::vector<laplace::BlockLink> links = links_of(s);
      const PointwiseMetric metric(s.geometry, s.level, basis, s.data(), links);
      const Vector<double> diagonal = pointwise_diagonal(
          block, s.level.per_direction, basis, make_point_tables(basis), links, metric.view());
      Numbers unit(random_numbers(s, 1).size(), 0.);
      test::for_modes(s, [&](std::int64_t in_block, std::size_t at) {
        unit[at] = 1.;
        const double entry = applied(s, unit)[at];
        unit[at] = 0.;
        EXPECT_NEAR(diagonal[in_block], entry, 1e-11 * std::abs(entry));
      });
    }
  }

  TEST(PointwiseMetric, QualityOfCells)
  {
    const auto metric_of = [](const Setting &s) {
      return PointwiseMetric(s.geometry, s.level, make_cell_basis(s.degree), s.data(), links_of(s));
    };
    const BlockMesh box = make_block_mesh(box_cells(3, {2, 1, 1}, {0., 0., 0.}, {1., 2., 3.}));
    const Setting sheared = kershaw(0.05, 1);
    const PointwiseMetric of_box = metric_of({box, BlockGeometry(box), {2, 1}, 2, sheared.k}),
                          of_sheared = metric_of(sheared);
    EXPECT_NEAR(of_box.largest_kappa(), 1., 1e-12);
    EXPECT_NEAR(of_box.least_quality(), 1., 1e-12);
    EXPECT_GT(of_sheared.largest_kappa(), 2.9);
    EXPECT_LT(of_sheared.largest_kappa(), 3.);
    EXPECT_LT(of_sheared.least_quality(), 0.1);
  }

  TEST(PointwiseOperator, FoldedCellsAreRefused)
  {
    Setting s = generated(2, "hyper_ball", "0,0 : 1 : false", 2, 2);
    std::vector<std::vector<Point>> nodes(5);
    for (int b = 0; b < 5; ++b)
      nodes[b] = s.geometry.points(b, {lobatto_nodes(2), lobatto_nodes(2), {}});
    nodes[3][4] = nodes[3][0];
    nodes[3][4][0] += 1e-3;
    const BlockGeometry folded(2, 2, nodes);
    try
    {
      const PointwiseMetric metric(folded, {1, 2}, make_cell_basis(2), tensor, links_of(s));
      FAIL() << "nothing was thrown";
    }
    catch (const MeshError &error)
    {
      EXPECT_NE(std::string(error.what()).find("block 3 is folded at ("), std::string::npos)
          << error.what();
    }
  }
} // namespace
} // namespace tensormg
