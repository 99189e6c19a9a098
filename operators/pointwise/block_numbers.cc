#include "operators/pointwise/block_numbers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "operators/mesh/sums_over_ranks.h"
#include "operators/pointwise/block_function.h"
#include "operators/pointwise/cell_quadrature.h"

namespace tensormg
{
namespace
{
  using Level = BlockLevels::Level;

  std::vector<BlockFunction> gradient_functions(const BlockProblem &problem)
  {
    const Problem &p = problem.problem;
    std::vector<BlockFunction> result;
    for (int d = 0; d < p.dim && !p.exact_gradient[0].empty(); ++d)
    {
      if (p.exact_gradient[d].empty())
        throw std::invalid_argument("only a part of the exact gradient is given");
      result.emplace_back(
          p, "problem.exact_gradient", p.exact_gradient[d], problem.blocks.material);
    }
    return result;
  }

  class ErrorIntegrals
  {
  public:
    ErrorIntegrals(const BlockProblem &problem, const BlockLevels &levels, const Vector<double> &u)
      : problem_(problem)
      , level_(levels.levels().back())
      , u_(u)
      , quadrature_(problem.geometry, level_.shape, levels.basis(), levels.basis().n + 2)
      , exact_(problem.problem, "problem.exact_solution", problem.problem.exact_solution,
            problem.blocks.material)
      , gradient_(gradient_functions(problem))
    {
      if (levels.is_singular())
        for_each_cell(
            problem.geometry, level_.shape, [&](const CellPlace &place) { add_means(place); });
      std::array<double, 2> means{volume_, difference_};
      sum_in_order(means, levels.communicator());
      volume_ = means[0];
      difference_ = means[1];
    }

    Errors run()
    {
      for_each_cell(problem_.geometry, level_.shape, [&](const CellPlace &place) { add(place); });
      std::array<double, 2> squares{l2_, h1_};
      sum_in_order(squares, level_.grid.communicator);
      return {std::sqrt(squares[0]), std::sqrt(squares[1]), !gradient_.empty()};
    }

  private:
    void add_means(const CellPlace &place)
    {
      const CellPoints points = quadrature_.points(place);
      const std::vector<double> of_u = quadrature_.values(modes_of_cell(u_, level_.shape, place)),
                                exact = exact_.any_values(place.block, points.x);
      for (std::size_t q = 0; q < points.size(); ++q)
      {
        const double weight = quadrature_.weight(q) * points.det[q];
        volume_ += weight;
        difference_ += weight * (of_u[q] - exact[q]);
      }
    }

    void add(const CellPlace &place)
    {
      const CellPoints points = quadrature_.points(place);
      const std::vector<double> modes = modes_of_cell(u_, level_.shape, place),
                                of_u = quadrature_.values(modes),
                                exact = exact_.any_values(place.block, points.x);
      const double shift = volume_ > 0. ? difference_ / volume_ : 0.;
      for (std::size_t q = 0; q < points.size(); ++q)
      {
        const double error = of_u[q] - exact[q] - shift;
        l2_ += quadrature_.weight(q) * points.det[q] * error * error;
      }
      const int dim = problem_.problem.dim;
      std::array<std::vector<double>, 3> derivatives;
      for (int d = 0; d < dim && !gradient_.empty(); ++d)
        derivatives[d] = quadrature_.values(modes, -1, d);
      for (int i = 0; i < std::ssize(gradient_); ++i)
      {
        const std::vector<double> exact_i = gradient_[i].any_values(place.block, points.x);
        for (std::size_t q = 0; q < points.size(); ++q)
        {
          double of_u_i = 0.;
          for (int a = 0; a < dim; ++a)
            of_u_i += points.inverse_j[q][a][i] * derivatives[a][q];
          const double error = of_u_i - exact_i[q];
          h1_ += quadrature_.weight(q) * points.det[q] * error * error;
        }
      }
    }

    const BlockProblem &problem_;
    const Level &level_;
    const Vector<double> &u_;
    CellQuadrature quadrature_;
    BlockFunction exact_;
    std::vector<BlockFunction> gradient_;
    double volume_ = 0., difference_ = 0., l2_ = 0., h1_ = 0.;
  };
} // namespace

Errors compute_errors(
    const BlockProblem &problem, const BlockLevels &levels, const Vector<double> &u)
{
  if (problem.problem.exact_solution.empty())
    throw std::invalid_argument("there is no exact solution");
  return ErrorIntegrals(problem, levels, u).run();
}

namespace
{
  class Numbers
  {
  public:
    Numbers(const BlockProblem &problem, const BlockLevels &levels, const Vector<double> &u)
      : problem_(problem)
      , level_(levels.levels().back())
      , u_(u)
      , of_data_(problem.geometry, level_.shape, levels.basis(), levels.basis().n + 1)
      , of_operator_(problem.geometry, level_.shape, levels.basis(), levels.basis().n)
      , f_(problem.problem, "problem.right_hand_side", problem.problem.right_hand_side,
            problem.blocks.material)
    {
      for (const auto &[number, condition] : problem.conditions)
        values_.emplace(number,
            BlockFunction(problem.problem, problem.value_key(number), condition.value,
                problem.blocks.material));
    }

    BlockNumbers run()
    {
      for_each_cell(problem_.geometry, level_.shape, [&](const CellPlace &place) {
        const std::vector<double> modes = modes_of_cell(u_, level_.shape, place);
        add_cell(place, modes);
        for (int side = 0; side < 2 * problem_.blocks.dim; ++side)
          add_side(place, modes, side);
      });
      add_ranks();
      result_.l2_norm = std::sqrt(square_);
      return result_;
    }

  private:
    /// What the others have.
    void add_ranks()
    {
      const MPI_Comm communicator = level_.grid.communicator;
      for (const int material : problem_.blocks.material)
        result_.materials[material]; // all ranks have all of them
      for (const auto &entry : problem_.conditions)
      {
        result_.areas[entry.first];
        result_.fluxes[entry.first];
        result_.flux_scales[entry.first];
      }
      std::vector<double *> places{&result_.volume, &result_.integral, &square_, &result_.source,
          &result_.reaction, &result_.magnitude};
      for (auto &[number, material] : result_.materials)
        places.insert(places.end(), {&material.volume, &material.integral});
      for (auto *map : {&result_.areas, &result_.fluxes, &result_.flux_scales})
        for (auto &[number, value] : *map)
          places.push_back(&value);
      std::vector<double> sums;
      for (const double *place : places)
        sums.push_back(*place);
      sum_in_order(sums, communicator);
      for (std::size_t i = 0; i < places.size(); ++i)
        *places[i] = sums[i];
      std::array<double, 2> bounds{-result_.minimum, result_.maximum};
      MPI_Allreduce(MPI_IN_PLACE, bounds.data(), 2, MPI_DOUBLE, MPI_MAX, communicator);
      result_.minimum = -bounds[0];
      result_.maximum = bounds[1];
    }

    void add_cell(const CellPlace &place, const std::vector<double> &modes)
    {
      const CellPoints points = of_data_.points(place);
      const std::vector<double> values = of_data_.values(modes),
                                f = f_.values(place.block, points.x);
      MaterialNumbers &material =
          result_.materials[problem_.blocks.material[static_cast<std::size_t>(place.block)]];
      for (std::size_t q = 0; q < points.size(); ++q)
      {
        const double weight = of_data_.weight(q) * points.det[q];
        result_.volume += weight;
        material.volume += weight;
        result_.integral += weight * values[q];
        material.integral += weight * values[q];
        square_ += weight * values[q] * values[q];
        result_.source += weight * f[q];
        result_.magnitude += weight * std::abs(f[q]);
        result_.minimum = std::min(result_.minimum, values[q]);
        result_.maximum = std::max(result_.maximum, values[q]);
      }
      add_reaction(place, modes);
    }

    void add_reaction(const CellPlace &place, const std::vector<double> &modes)
    {
      if (problem_.problem.reaction.empty())
        return;
      const Block &block = level_.grid.block;
      const std::vector<double> u = of_operator_.values(modes);
      for (std::size_t q = 0; q < u.size(); ++q)
      {
        const double part = level_.scale * u[q] *
            level_.metric.reaction(place.cell[2] * block.cells[1] + place.cell[1],
                static_cast<std::int64_t>(q), level_.shape.stacked(place.block, place.cell[0]));
        result_.reaction += part;
        result_.magnitude += std::abs(part);
      }
    }

    void add_side(const CellPlace &place, const std::vector<double> &modes, int side)
    {
      const BlockSide &other = problem_.blocks.sides[static_cast<std::size_t>(place.block)][side];
      const std::int64_t end = side % 2 == 1 ? level_.shape.per_direction - 1 : 0;
      if (place.cell[side / 2] != end || other.neighbour >= 0)
        return;
      const bool is_dirichlet = problem_.side(other.boundary) == Side::dirichlet;
      const CellPoints points = of_data_.points(place, side);
      const std::vector<double> value = values_.at(other.boundary).values(place.block, points.x);
      double &flux = result_.fluxes[other.boundary];
      for (std::size_t q = 0; q < points.size(); ++q)
      {
        const double element = of_data_.weight(q, side) * points.surface(q, side / 2);
        result_.areas[other.boundary] += element;
        if (is_dirichlet)
          continue;
        flux += element * value[q];
        const double magnitude = element * std::abs(value[q]);
        result_.magnitude += magnitude;
        result_.flux_scales[other.boundary] += magnitude;
      }
      flux += is_dirichlet ? dirichlet_flux(place, modes, side) : -robin_part(place, modes, side);
    }

    double number(const CellPlace &place, int side, std::size_t q, int which) const
    {
      const Block &block = level_.grid.block;
      return level_.scale *
          level_.metric.face(place.cell[2] * block.cells[1] + place.cell[1], side,
              static_cast<std::int64_t>(q), which,
              level_.shape.stacked(place.block, place.cell[0]));
    }

    double dirichlet_flux(const CellPlace &place, const std::vector<double> &modes, int side)
    {
      const int dim = problem_.blocks.dim,
                boundary =
                    problem_.blocks.sides[static_cast<std::size_t>(place.block)][side].boundary;
      const std::vector<double> u = of_operator_.values(modes, side),
                                g = values_.at(boundary).values(
                                    place.block, of_operator_.points(place, side).x);
      const auto [a, b] = tangential(side / 2);
      std::vector<std::vector<double>> derivatives{
          of_operator_.values(modes, side, side / 2), of_operator_.values(modes, side, a)};
      if (dim == 3)
        derivatives.push_back(of_operator_.values(modes, side, b));
      double sum = 0., &scale = result_.flux_scales[boundary];
      for (std::size_t q = 0; q < u.size(); ++q)
      {
        double outward = 0.;
        for (int i = 0; i < dim; ++i)
          outward += number(place, side, q, i) * derivatives[static_cast<std::size_t>(i)][q];
        const double penalty = 2. * number(place, side, q, dim),
                     part = (side % 2 == 1 ? outward : -outward) - penalty * (u[q] - g[q]);
        sum += part;
        scale += penalty * std::abs(u[q]);
        result_.magnitude += std::abs(part);
      }
      return sum;
    }

    /// int r u, which is zero on Neumann sides.
    double robin_part(const CellPlace &place, const std::vector<double> &modes, int side)
    {
      const std::vector<double> u = of_operator_.values(modes, side);
      double sum = 0.,
             &scale =
                 result_.flux_scales
                     [problem_.blocks.sides[static_cast<std::size_t>(place.block)][side].boundary];
      for (std::size_t q = 0; q < u.size(); ++q)
      {
        const double part = number(place, side, q, problem_.blocks.dim) * u[q];
        sum += part;
        scale += std::abs(part);
        result_.magnitude += std::abs(part);
      }
      return sum;
    }

    const BlockProblem &problem_;
    const Level &level_;
    const Vector<double> &u_;
    CellQuadrature of_data_, of_operator_;
    BlockFunction f_;
    std::map<int, BlockFunction> values_;
    BlockNumbers result_;
    double square_ = 0.;
  };
} // namespace

double BlockNumbers::defect() const
{
  double sum = source - reaction;
  for (const auto &[number, flux] : fluxes)
    sum += flux;
  return sum;
}

BlockNumbers solution_numbers(
    const BlockProblem &problem, const BlockLevels &levels, const Vector<double> &u)
{
  return Numbers(problem, levels, u).run();
}
} // namespace tensormg
