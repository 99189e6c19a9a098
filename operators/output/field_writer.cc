#include "operators/output/field_writer.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "operators/data/errors.h"
#include "operators/output/output_file.h"

namespace tensormg
{
namespace
{
  LineRule equidistant_rule(const CellBasis &basis)
  {
    std::vector<double> points(basis.n);
    for (int q = 0; q < basis.n; ++q)
      points[q] = static_cast<double>(q) / (basis.n - 1);
    return point_rule(basis, points);
  }
} // namespace

std::int64_t n_cells(const CellRange &range)
{
  std::int64_t cells = 1;
  for (std::size_t d = 0; d < 3; ++d)
    cells *= std::max(range.end[d] - range.begin[d], std::int64_t(0));
  return cells;
}

FieldWriter::FieldWriter(const Grid &grid, const CellBasis &basis, const Vector<double> &u,
    const CellRange &cells, const FieldOutputOptions &options)
  : grid_(grid.finest())
  , cells_(cells)
  , problem_(grid.problem)
  , rule_(tensor_rule(u.block(), equidistant_rule(basis)))
  , shape_(options.high_order ? lagrange_cell(problem_.dim, problem_.degree)
                              : linear_cells(problem_.dim, problem_.degree))
  , rank_(grid_.replicated ? 0 : grid.rank)
  , all_in_double_(options.in_double)
  , converged_(options.converged)
  , u_(u)
{
  if (!problem_.exact_solution.empty())
  {
    exact_ = std::make_unique<ScalarFunction>(scalar_function(problem_, problem_.exact_solution));
    shift_ = mean_difference(problem_, grid_, basis, u);
  }
  fields_ = make_fields(options);
}

int FieldWriter::points_per_cell() const
{
  return rule_[0].n_points() * rule_[1].n_points() * rule_[2].n_points();
}

/// Calls use(value, component) for the points of one cell after the other, at each for all components.
template <typename Use>
void FieldWriter::for_each_value(const Field &field, const Use &use)
{
  const int n_points = points_per_cell();
  std::array<std::vector<double>, 3> values;
  for_each_tile(cells_, rule_, [&](const Tile &tile) {
    for (int component = 0; component < field.components; ++component)
    {
      values[component].resize(static_cast<std::size_t>(n_points * tile.count));
      field.values(tile, component, values[component]);
    }
    for (std::int64_t c = 0; c < tile.count; ++c)
      for (int q = 0; q < n_points; ++q)
        for (int component = 0; component < field.components; ++component)
          use(values[component][static_cast<std::size_t>(q * tile.count + c)], component);
  });
}

void FieldWriter::measure()
{
  for (Field &field : fields_)
    for_each_value(field, [&](double value, int component) {
      if (std::isfinite(value))
        field.extent[component].add(value);
    });
}

void FieldWriter::choose_numbers(MPI_Comm communicator)
{
  for (Field &field : fields_)
    field.choose_numbers(all_in_double_, communicator);
}

std::vector<std::string> FieldWriter::fields_in_double() const
{
  std::vector<std::string> names;
  for (const Field &field : fields_)
    if (field.in_double && !all_in_double_)
      names.push_back(field.name);
  return names;
}

void FieldWriter::write_piece(OutputFile &file)
{
  VtuPiece piece;
  piece.n_cells = n_cells(cells_);
  piece.points_per_cell = points_per_cell();
  piece.shape = shape_;
  piece.converged = converged_;
  piece.points = [this](const auto &use) { visit_points(use); };
  for (const Field &field : fields_)
    piece.fields.push_back(&field);
  piece.values = [this](
                     std::size_t field, const auto &use) { for_each_value(fields_[field], use); };
  file.fill([&](std::ostream &out) { write_vtu_piece(out, piece); });
}

void FieldWriter::write_record(
    const std::string &path, const std::vector<std::string> &pieces) const
{
  std::vector<const VtuField *> fields;
  for (const Field &field : fields_)
    fields.push_back(&field);
  OutputFile(path).write(
      [&](std::ostream &out) { write_vtu_record(out, fields, {}, pieces, converged_); });
}

/// The derivatives of u in the cell; for the flux times -K.
FieldWriter::Field::Values FieldWriter::gradient_values(bool is_flux)
{
  const double factor = is_flux && grid_.cells == nullptr ? -problem_.coefficient : 1.;
  return [this, factor, of_cells = is_flux ? grid_.cells : nullptr](
             const Tile &tile, int component, std::vector<double> &values) {
    if (component >= problem_.dim)
    {
      std::fill(values.begin(), values.end(), 0.);
      return;
    }
    evaluator_.evaluate(u_, rule_, tile, component, values);
    for (double &value : values)
      value = factor * (value / grid_.mean_cell_size(component));
    multiply_cells(tile, inverse_size_factor(grid_, component), values);
    for (std::size_t q = 0; of_cells != nullptr && q < values.size(); ++q)
      values[q] *= -of_cells->of_direction(component)(
          tile.cx + static_cast<std::int64_t>(q) % tile.count, tile.cy, tile.cz);
  };
}

std::vector<FieldWriter::Field> FieldWriter::make_fields(const FieldOutputOptions &options)
{
  const auto exact_values = [this](const Tile &tile, int, std::vector<double> &values) {
    points_.set(grid_, rule_, tile);
    points_.evaluate(*exact_, values);
  };
  const auto errors = [this, exact_values](
                          const Tile &tile, int component, std::vector<double> &values) {
    evaluator_.evaluate(u_, rule_, tile, -1, values);
    exact_values(tile, component, other_);
    for (std::size_t q = 0; q < values.size(); ++q)
      values[q] -= other_[q] + shift_;
  };
  std::vector<Field> fields;
  fields.emplace_back(
      options.field.text(), [this](const Tile &tile, int, std::vector<double> &values) {
        evaluator_.evaluate(u_, rule_, tile, -1, values);
      });
  if (exact_)
  {
    fields.emplace_back("exact", exact_values);
    fields.emplace_back("error", errors);
  }
  fields.emplace_back("rank", [this](const Tile &, int, std::vector<double> &values) {
    std::fill(values.begin(), values.end(), rank_);
  });
  if (options.gradient)
    fields.emplace_back("grad " + options.field.name, gradient_values(false), 3);
  if (options.flux)
    fields.emplace_back("flux " + options.field.name, gradient_values(true), 3);
  return fields;
}

void FieldWriter::visit_points(const std::function<void(double)> &use)
{
  for_each_tile(cells_, rule_, [&](const Tile &tile) {
    points_.set(grid_, rule_, tile);
    const auto &[x, y, z] = points_.coordinates;
    const auto count = static_cast<std::size_t>(tile.count);
    for (std::size_t c = 0; c < count; ++c)
      for (const double at_z : z)
        for (const double at_y : y)
          for (std::size_t i = c; i < x.size(); i += count)
            for (const double coordinate : {x[i], at_y, problem_.dim == 3 ? at_z : 0.})
              use(coordinate);
  });
}
} // namespace tensormg
