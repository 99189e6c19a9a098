#include "operators/output/block_output.h"

#include <cmath>
#include <memory>
#include <sstream>
#include <utility>
#include <vector>

#include "operators/analysis/cell_shape.h"
#include "operators/mesh/sums_over_ranks.h"
#include "operators/output/pieces.h"
#include "operators/output/vtu_file.h"
#include "operators/output/vtu_shape.h"
#include "operators/pointwise/block_function.h"
#include "operators/pointwise/cell_quadrature.h"

namespace tensormg
{
namespace
{
  double n_cells(const BlockProblem &problem)
  {
    return static_cast<double>(problem.blocks.n_blocks()) *
        std::exp2(problem.problem.refinements * problem.blocks.dim);
  }

  LineRule equidistant(const CellBasis &basis)
  {
    std::vector<double> points;
    for (int q = 0; q < basis.n; ++q)
      points.push_back(static_cast<double>(q) / (basis.n - 1));
    return point_rule(basis, points);
  }

  class BlockWriter
  {
  public:
    BlockWriter(const BlockProblem &problem, const BlockLevels &levels, const Vector<double> &u,
        const FieldOutputOptions &options)
      : problem_(problem)
      , level_(levels.levels().back())
      , u_(u)
      , options_(options)
      , quadrature_(problem.geometry, level_.shape, levels.basis(), equidistant(levels.basis()))
      , k_(pointwise_data(problem).k)
    {
      const Problem &p = problem.problem;
      if (!p.exact_solution.empty())
      {
        exact_ = std::make_unique<BlockFunction>(
            p, "problem.exact_solution", p.exact_solution, problem.blocks.material);
        if (levels.is_singular())
          shift_ = mean_difference(levels);
      }
      make_fields();
      MPI_Comm_rank(levels.communicator(), &rank_);
    }

    // For write_in_pieces().
    void measure()
    {
      for (std::size_t field = 0; field < fields_.size(); ++field)
        for_each_value(field, [&](double value, int component) {
          if (std::isfinite(value))
            fields_[field].extent[static_cast<std::size_t>(component)].add(value);
        });
    }
    void choose_numbers(MPI_Comm communicator)
    {
      for (VtuField &field : fields_)
        field.choose_numbers(options_.in_double, communicator);
    }
    void write_record(const std::string &path, const std::vector<std::string> &pieces) const
    {
      std::vector<const VtuField *> fields;
      for (const VtuField &field : fields_)
        fields.push_back(&field);
      std::vector<std::string> names;
      for (const VtuCellField &field : no_cell_fields())
        names.push_back(field.name);
      OutputFile(path).write([&](std::ostream &out) {
        write_vtu_record(out, fields, names, pieces, options_.converged);
      });
    }
    void write_piece(OutputFile &file)
    {
      const int dim = problem_.problem.dim, degree = problem_.problem.degree;
      VtuPiece piece;
      piece.n_cells = level_.grid.block.n_cells();
      piece.points_per_cell = level_.grid.block.dofs_per_cell();
      piece.shape = options_.high_order ? lagrange_cell(dim, degree) : linear_cells(dim, degree);
      piece.converged = options_.converged;
      piece.points = [this](const auto &use) {
        for_each_cell(problem_.geometry, level_.shape, [&](const CellPlace &place) {
          for (const std::array<double, 3> &x : quadrature_.points(place).x)
            for (const double coordinate : x)
              use(coordinate);
        });
      };
      for (const VtuField &field : fields_)
        piece.fields.push_back(&field);
      piece.values = [this](std::size_t field, const auto &use) { for_each_value(field, use); };
      piece.cell_fields = cell_fields();
      file.fill([&](std::ostream &out) { write_vtu_piece(out, piece); });
    }

    std::vector<std::string> fields_in_double() const
    {
      std::vector<std::string> names;
      for (const VtuField &field : fields_)
        if (field.in_double && !options_.in_double)
          names.push_back(field.name);
      return names;
    }

  private:
    using Values = std::vector<std::array<double, 3>>;

    /// Zero where the exact solution is not finite somewhere.
    double mean_difference(const BlockLevels &levels) const
    {
      const CellQuadrature gauss(
          problem_.geometry, level_.shape, levels.basis(), levels.basis().n + 1);
      double volume = 0., difference = 0.;
      for_each_cell(problem_.geometry, level_.shape, [&](const CellPlace &place) {
        const CellPoints points = gauss.points(place);
        const std::vector<double> of_u = gauss.values(modes_of_cell(u_, level_.shape, place)),
                                  exact = exact_->any_values(place.block, points.x);
        for (std::size_t q = 0; q < points.size(); ++q)
        {
          const double weight = gauss.weight(q) * points.det[q];
          volume += weight;
          difference += weight * (of_u[q] - exact[q]);
        }
      });
      std::array<double, 2> sums{volume, difference};
      sum_in_order(sums, levels.communicator());
      return std::isfinite(sums[1]) ? sums[1] / sums[0] : 0.;
    }

    void make_fields()
    {
      const auto add = [&](const std::string &name, int components, auto values) {
        VtuField &field = fields_.emplace_back();
        field.name = name;
        field.components = components;
        values_.push_back(values);
      };
      add(options_.field.text(), 1, [this](const CellPlace &p) { return solution(p, 1., 0.); });
      if (exact_)
      {
        add("exact", 1, [this](const CellPlace &p) { return solution(p, 0., 1.); });
        add("error", 1, [this](const CellPlace &p) {
          Values values = solution(p, 1., -1.);
          for (auto &value : values)
            value[0] -= shift_;
          return values;
        });
      }
      if (options_.gradient)
        add("grad " + options_.field.name, 3, [this](const CellPlace &p) { return gradient(p); });
      if (options_.flux)
        add("flux " + options_.field.name, 3, [this](const CellPlace &p) { return flux(p); });
    }

    /// a u + b times the exact solution
    Values solution(const CellPlace &place, double a, double b) const
    {
      const std::vector<double> of_u = quadrature_.values(modes_of_cell(u_, level_.shape, place));
      std::vector<double> exact(of_u.size(), 0.);
      if (b != 0.)
        exact = exact_->any_values(place.block, quadrature_.points(place).x);
      Values values;
      for (std::size_t q = 0; q < of_u.size(); ++q)
        values.push_back({(a != 0. ? a * of_u[q] : 0.) + (b != 0. ? b * exact[q] : 0.)});
      return values;
    }

    Values gradient(const CellPlace &place) const
    {
      const CellPoints points = quadrature_.points(place);
      const std::vector<double> modes = modes_of_cell(u_, level_.shape, place);
      Values values(points.size(), std::array<double, 3>{});
      for (int a = 0; a < problem_.problem.dim; ++a)
      {
        const std::vector<double> derivative = quadrature_.values(modes, -1, a);
        for (std::size_t q = 0; q < points.size(); ++q)
          for (int i = 0; i < problem_.problem.dim; ++i)
            values[q][i] += points.inverse_j[q][a][i] * derivative[q];
      }
      return values;
    }

    Values flux(const CellPlace &place) const
    {
      Values values = gradient(place);
      const std::vector<SymmetricTensor> k =
          k_(place.block, moved_inwards(quadrature_.points(place).x, problem_.blocks.dim));
      for (std::size_t q = 0; q < values.size(); ++q)
      {
        const auto [x, y, z] = values[q];
        const SymmetricTensor &t = k[q];
        values[q] = {-(t[0] * x + t[3] * y + t[4] * z), -(t[3] * x + t[1] * y + t[5] * z),
            -(t[4] * x + t[5] * y + t[2] * z)};
      }
      return values;
    }

    template <typename Use>
    void for_each_value(std::size_t field, const Use &use) const
    {
      for_each_cell(problem_.geometry, level_.shape, [&](const CellPlace &place) {
        for (const auto &value : values_[field](place))
          for (int component = 0; component < fields_[field].components; ++component)
            use(value[static_cast<std::size_t>(component)], component);
      });
    }

    static std::vector<VtuCellField> no_cell_fields()
    {
      return {{"material", {}}, {"block", {}}, {"quality", {}}, {"kappa", {}},
          {"smallest angle", {}}, {"largest angle", {}}, {"aspect ratio", {}}, {"rank", {}}};
    }

    std::vector<VtuCellField> cell_fields() const
    {
      std::vector<VtuCellField> fields = no_cell_fields();
      const Block &block = level_.grid.block;
      const CellShapes shapes(problem_.geometry, level_.shape);
      for_each_cell(problem_.geometry, level_.shape, [&](const CellPlace &place) {
        const auto &[x, y, z] = place.cell;
        const std::int64_t cell =
            level_.shape.stacked(place.block, x) + block.cells[0] * (y + block.cells[1] * z);
        const auto &quality = level_.metric.of_cells()[static_cast<std::size_t>(cell)];
        fields[0].values.push_back(problem_.blocks.material[static_cast<std::size_t>(place.block)]);
        fields[1].values.push_back(static_cast<double>(place.block));
        fields[2].values.push_back(quality.quality);
        fields[3].values.push_back(quality.kappa);
        const CellShape shape = shapes.of(place);
        fields[4].values.push_back(shape.smallest_angle);
        fields[5].values.push_back(shape.largest_angle);
        fields[6].values.push_back(shape.aspect_ratio);
        fields[7].values.push_back(rank_);
      });
      return fields;
    }

    const BlockProblem &problem_;
    const BlockLevels::Level &level_;
    const Vector<double> &u_;
    FieldOutputOptions options_;
    CellQuadrature quadrature_;
    DiffusionTensor k_;
    std::unique_ptr<BlockFunction> exact_;
    double shift_ = 0.;
    int rank_ = 0;
    std::vector<VtuField> fields_;
    std::vector<std::function<Values(const CellPlace &)>> values_;
  };
} // namespace

std::optional<std::string> refuse_output(
    const BlockProblem &problem, const FieldOutputOptions &options)
{
  const double cells = n_cells(problem);
  const double points = cells * std::pow(problem.problem.degree + 1, problem.blocks.dim);
  std::ostringstream reason;
  reason << "a file with " << cells << " cells of degree " << problem.problem.degree
         << " is not written: ";
  if (cells > static_cast<double>(options.max_cells))
    reason << "the limit is " << options.max_cells << " cells; raise it, or refine less";
  else if (points > 0.5 * std::numeric_limits<std::int32_t>::max())
    reason << "it has too many points for one file";
  else
    return std::nullopt;
  return reason.str();
}

FieldOutput write_field_output(const BlockProblem &problem, const BlockLevels &levels,
    const Vector<double> &u, const std::string &base, MPI_Comm communicator,
    const FieldOutputOptions &options)
{
  if (const std::optional<std::string> reason = refuse_output(problem, options))
    throw std::invalid_argument(*reason);
  BlockWriter writer(problem, levels, u, options);
  int n_ranks = 1;
  MPI_Comm_size(levels.communicator(), &n_ranks);
  return write_in_pieces(writer, communicator, n_ranks, base);
}
} // namespace tensormg
