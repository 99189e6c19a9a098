#include "operators/pointwise/block_right_hand_side.h"

#include <array>
#include <cmath>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include "kernels/vector/vector.h"
#include "operators/division/failure.h"
#include "operators/mesh/sums_over_ranks.h"
#include "operators/pointwise/block_function.h"
#include "operators/pointwise/cell_quadrature.h"
#include "tensormg/report.h"

namespace tensormg
{
namespace
{
  using Level = BlockLevels::Level;

  /// The sides of a cell that are closed.
  template <typename Use>
  void for_closed_sides(
      const BlockProblem &problem, const Level &level, const CellPlace &place, const Use &use)
  {
    for (int side = 0; side < 2 * problem.blocks.dim; ++side)
    {
      const BlockSide &other = problem.blocks.sides[static_cast<std::size_t>(place.block)][side];
      const std::int64_t end = side % 2 == 1 ? level.shape.per_direction - 1 : 0;
      if (place.cell[side / 2] == end && other.neighbour < 0)
        use(side, other.boundary);
    }
  }

  /// The value of the condition on a boundary.
  class BoundaryValue
  {
  public:
    BoundaryValue(const BlockProblem &problem, int number, const BoundaryCondition &condition)
      : function_(
            problem.problem, problem.value_key(number), condition.value, problem.blocks.material)
    {
      if (const auto found = problem.on_boundary.find(number); found != problem.on_boundary.end())
        modes_ = found->second;
    }

    /// At the points of a side, whatever they are.
    std::vector<double> any_values(const CellQuadrature &quadrature, const CellPlace &place,
        int side, const std::vector<std::array<double, 3>> &points) const
    {
      return modes_ ? quadrature.values(modes_(place.block, place.cell, side), side)
                    : function_.any_values(place.block, points);
    }
    /// Throws where a value of a function is not finite.
    std::vector<double> values(const CellQuadrature &quadrature, const CellPlace &place, int side,
        const std::vector<std::array<double, 3>> &points) const
    {
      return modes_ ? any_values(quadrature, place, side, points)
                    : function_.values(place.block, points);
    }

  private:
    BlockFunction function_;
    ModesOnSide modes_; ///< empty: it is the function
  };

  class Assembly
  {
  public:
    Assembly(const BlockProblem &problem, const BlockLevels &levels)
      : problem_(problem)
      , level_(levels.levels().back())
      , communicator_(levels.communicator())
      , of_data_(problem.geometry, level_.shape, levels.basis(), levels.basis().n + 1)
      , of_operator_(problem.geometry, level_.shape, levels.basis(), levels.basis().n)
      , f_(problem.problem, "problem.right_hand_side", problem.problem.right_hand_side,
            problem.blocks.material)
    {
      for (const auto &[number, condition] : problem.conditions)
        values_.emplace(number, BoundaryValue(problem, number, condition));
      result_.b = Vector<double>(level_.grid.block);
    }

    BlockRightHandSide run()
    {
      act_alike(communicator_, [&] {
        for_each_cell(problem_.geometry, level_.shape, [&](const CellPlace &place) {
          const CellPoints points = of_data_.points(place);
          add_integral(points, f_.values(place.block, points.x), place, -1);
          add_sides(place);
        });
      });
      std::array<double, 2> sums{result_.balance.integral, result_.balance.magnitude};
      sum_in_order(sums, communicator_);
      result_.balance = {sums[0], sums[1]};
      return std::move(result_);
    }
    Vector<double> run_on_sides()
    {
      act_alike(communicator_, [&] {
        for_each_cell(
            problem_.geometry, level_.shape, [&](const CellPlace &place) { add_sides(place); });
      });
      return std::move(result_.b);
    }

  private:
    void add_sides(const CellPlace &place)
    {
      for_closed_sides(problem_, level_, place, [&](int side, int boundary) {
        const BoundaryValue &value = values_.at(boundary);
        if (problem_.side(boundary) == Side::dirichlet)
          return add_dirichlet(value, place, side);
        const CellPoints points = of_data_.points(place, side);
        add_integral(points, value.values(of_data_, place, side, points.x), place, side);
      });
    }

    /// Of a function over the cell or a side.
    void add_integral(
        const CellPoints &points, std::vector<double> values, const CellPlace &place, int side)
    {
      for (std::size_t q = 0; q < values.size(); ++q)
      {
        const double element = side < 0 ? points.det[q] : points.surface(q, side / 2);
        values[q] *= of_data_.weight(q, side) * element;
        result_.balance.integral += values[q];
        result_.balance.magnitude += std::abs(values[q]);
        values[q] /= level_.scale;
      }
      add_to_cell(of_data_.tested(values, side), level_.shape, place, result_.b);
    }

    void add_dirichlet(const BoundaryValue &g, const CellPlace &place, int side)
    {
      const Block &block = level_.grid.block;
      const std::int64_t row = place.cell[2] * block.cells[1] + place.cell[1],
                         cx = level_.shape.stacked(place.block, place.cell[0]);
      const double sign = side % 2 == 1 ? 1. : -1.;
      const auto [a, b] = tangential(side / 2);
      const std::vector<double> values =
          g.values(of_operator_, place, side, of_operator_.points(place, side).x);
      // With the penalty as the last number.
      const auto add = [&](int number, int derivative, double factor) {
        std::vector<double> weighted(values.size());
        for (std::size_t q = 0; q < values.size(); ++q)
          weighted[q] = factor * values[q] *
              level_.metric.face(row, side, static_cast<std::int64_t>(q), number, cx);
        add_to_cell(
            of_operator_.tested(weighted, side, derivative), level_.shape, place, result_.b);
      };
      add(block.dim, -1, 2.);
      add(0, side / 2, -sign);
      add(1, a, -sign);
      if (block.dim == 3)
        add(2, b, -sign);
    }

    const BlockProblem &problem_;
    const Level &level_;
    MPI_Comm communicator_;
    CellQuadrature of_data_, of_operator_;
    BlockFunction f_;
    std::map<int, BoundaryValue> values_;
    BlockRightHandSide result_;
  };
} // namespace

BlockRightHandSide assemble_block_right_hand_side(
    const BlockProblem &problem, const BlockLevels &levels)
{
  return Assembly(problem, levels).run();
}

Vector<double> assemble_sides(const BlockProblem &problem, const BlockLevels &levels)
{
  return Assembly(problem, levels).run_on_sides();
}

namespace
{
  /// Calls use(place, points, quadrature) for all cells of the finest level, with one point more than the operator has.
  template <typename Use>
  void for_cell_points(const BlockProblem &problem, const BlockLevels &levels, const Use &use)
  {
    const Level &level = levels.levels().back();
    const CellQuadrature quadrature(
        problem.geometry, level.shape, levels.basis(), levels.basis().n + 1);
    for_each_cell(problem.geometry, level.shape,
        [&](const CellPlace &place) { use(place, quadrature.points(place), quadrature); });
  }

  Vector<double> coefficients_of_one(const BlockLevels &levels)
  {
    const Block &block = levels.levels().back().grid.block;
    Vector<double> one(block);
    vector_kernels::add_constant(block, levels.basis(), 1., one.data());
    return one;
  }
} // namespace

namespace
{
  /// That of the own cells with a geometry of one more degree and with more points.
  Balance finer_balance(const BlockProblem &problem, const BlockLevels &levels)
  {
    const Problem &p = problem.problem;
    BlockLevel shape = levels.levels().back().shape;
    ++shape.mapping_degree;
    const CellQuadrature quadrature(problem.geometry, shape, levels.basis(), levels.basis().n + 2);
    const BlockFunction f(p, "problem.right_hand_side", p.right_hand_side, problem.blocks.material);
    std::map<int, BoundaryValue> fluxes;
    for (const auto &[number, condition] : problem.conditions)
      fluxes.emplace(number, BoundaryValue(problem, number, condition));
    Balance result;
    const auto add = [&](const CellPoints &points, const std::vector<double> &values, int side) {
      for (std::size_t q = 0; q < values.size(); ++q)
      {
        const double element = side < 0 ? points.det[q] : points.surface(q, side / 2);
        const double value = values[q] * quadrature.weight(q, side) * element;
        result.integral += value;
        result.magnitude += std::abs(value);
      }
    };
    for_each_cell(problem.geometry, shape, [&](const CellPlace &place) {
      const CellPoints inside = quadrature.points(place);
      add(inside, f.any_values(place.block, inside.x), -1);
      for_closed_sides(problem, levels.levels().back(), place, [&](int side, int boundary) {
        const CellPoints points = quadrature.points(place, side);
        add(points, fluxes.at(boundary).any_values(quadrature, place, side, points.x), side);
      });
    });
    return result;
  }

  /// What the polynomials of cells and the quadrature explain of a defect; nothing where cells of that degree fold.
  double explained_defect(const BlockProblem &problem, const BlockLevels &levels, double defect)
  {
    std::array<double, 2> sums{NAN, NAN};
    try
    {
      const Balance own = finer_balance(problem, levels);
      sums = {own.integral, own.magnitude};
    }
    catch (const MeshError &) // the others wait
    {}
    sum_in_order(sums, levels.communicator());
    const double finer = Balance{sums[0], sums[1]}.defect();
    return std::isfinite(finer) && std::isfinite(sums[0]) ? 4. * std::abs(finer - defect) : 0.;
  }
} // namespace

void make_compatible(
    const BlockProblem &problem, const BlockLevels &levels, BlockRightHandSide &right_hand_side)
{
  if (!levels.is_singular())
    return;
  const double defect = right_hand_side.balance.defect();
  if (!(std::abs(defect) <= compatibility_tolerance) &&
      !(std::abs(defect) <= compatibility_tolerance + explained_defect(problem, levels, defect)))
    throw std::invalid_argument(
        "no boundary is dirichlet or robin and there is no reaction, and the integrals of the right-hand side and of the fluxes do "
        "not balance: their sum is " +
        number_text(right_hand_side.balance.integral) + ", " + number_text(std::abs(defect)) +
        " of that of their magnitudes; allowed: at most " + number_text(compatibility_tolerance));
  subtract_mean_of_integrals(problem, levels, right_hand_side.b);
}

void add_integrals(const BlockProblem &problem, const BlockLevels &levels, const Vector<double> &f,
    Vector<double> &b)
{
  const Level &level = levels.levels().back();
  for_cell_points(problem, levels,
      [&](const CellPlace &place, const CellPoints &points, const CellQuadrature &quadrature) {
        std::vector<double> values = quadrature.values(modes_of_cell(f, level.shape, place));
        for (std::size_t q = 0; q < values.size(); ++q)
          values[q] *= quadrature.weight(q) * points.det[q] / level.scale;
        add_to_cell(quadrature.tested(values), level.shape, place, b);
      });
}

void subtract_mean_of_integrals(
    const BlockProblem &problem, const BlockLevels &levels, Vector<double> &b)
{
  const Level &level = levels.levels().back();
  const Vector<double> one = coefficients_of_one(levels);
  double sum = 0., volume = 0.;
  for (std::int64_t at = 0; at < b.size(); ++at)
    sum += one[at] * b[at];
  Vector<double> of_one(level.grid.block); // int phi_i
  for_cell_points(problem, levels,
      [&](const CellPlace &place, const CellPoints &points, const CellQuadrature &quadrature) {
        std::vector<double> weighted = points.det;
        for (std::size_t q = 0; q < weighted.size(); ++q)
        {
          weighted[q] *= quadrature.weight(q);
          volume += weighted[q];
        }
        add_to_cell(quadrature.tested(weighted), level.shape, place, of_one);
      });
  std::array<double, 2> sums{sum, volume};
  sum_in_order(sums, levels.communicator());
  for (std::int64_t at = 0; at < b.size(); ++at)
    b[at] -= sums[0] / sums[1] * of_one[at];
}

namespace
{
  double dot(const std::vector<double> &a, const std::vector<double> &b)
  {
    double sum = 0.;
    for (std::size_t i = 0; i < a.size(); ++i)
      sum += a[i] * b[i];
    return sum;
  }

  /// By conjugate gradients: the modes are orthonormal on the reference cell, and the condition number is that of det J.
  template <typename Mass>
  std::vector<double> solve_mass(const Mass &times_mass, const std::vector<double> &b)
  {
    std::vector<double> x(b.size(), 0.), r = b, p = b;
    double old = dot(r, r);
    const double enough = 1e-30 * old;
    for (std::size_t step = 0; step < 2 * b.size() && old > enough; ++step)
    {
      const std::vector<double> product = times_mass(p);
      const double alpha = old / dot(p, product);
      for (std::size_t i = 0; i < x.size(); ++i)
      {
        x[i] += alpha * p[i];
        r[i] -= alpha * product[i];
      }
      const double now = dot(r, r);
      for (std::size_t i = 0; i < p.size(); ++i)
        p[i] = r[i] + now / old * p[i];
      old = now;
    }
    return x;
  }
} // namespace

Vector<double> project(const BlockProblem &problem, const BlockLevels &levels,
    const std::string &key, const std::string &expression)
{
  const Level &level = levels.levels().back();
  const BlockFunction function(problem.problem, key, expression, problem.blocks.material);
  Vector<double> result(level.grid.block);
  const auto project_cell = [&](const CellPlace &place, const CellPoints &points,
                                const CellQuadrature &quadrature) {
    std::vector<double> weighted = function.values(place.block, points.x);
    for (std::size_t q = 0; q < weighted.size(); ++q)
      weighted[q] *= quadrature.weight(q) * points.det[q];
    const std::vector<double> b = quadrature.tested(weighted);
    const auto times_mass = [&](const std::vector<double> &u) {
      std::vector<double> values = quadrature.values(u);
      for (std::size_t q = 0; q < values.size(); ++q)
        values[q] *= quadrature.weight(q) * points.det[q];
      return quadrature.tested(values);
    };
    add_to_cell(solve_mass(times_mass, b), level.shape, place, result);
  };
  act_alike(levels.communicator(), [&] { for_cell_points(problem, levels, project_cell); });
  return result;
}

VolumeAndIntegral integrate(
    const BlockProblem &problem, const BlockLevels &levels, const Vector<double> &u)
{
  VolumeAndIntegral result;
  for_cell_points(problem, levels,
      [&](const CellPlace &place, const CellPoints &points, const CellQuadrature &quadrature) {
        const std::vector<double> values =
            quadrature.values(modes_of_cell(u, levels.levels().back().shape, place));
        for (std::size_t q = 0; q < values.size(); ++q)
        {
          const double weight = quadrature.weight(q) * points.det[q];
          result.volume += weight;
          result.integral += weight * values[q];
        }
      });
  std::array<double, 2> sums{result.volume, result.integral};
  sum_in_order(sums, levels.communicator());
  return {sums[0], sums[1]};
}

void subtract_mean(const BlockProblem &problem, const BlockLevels &levels, Vector<double> &u)
{
  const VolumeAndIntegral sums = integrate(problem, levels, u);
  const Vector<double> one = coefficients_of_one(levels);
  for (std::int64_t at = 0; at < u.size(); ++at)
    u[at] -= sums.integral / sums.volume * one[at];
}
} // namespace tensormg
