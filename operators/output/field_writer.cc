#include "operators/output/field_writer.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "operators/data/errors.h"
#include "operators/output/output_file.h"
#include "operators/output/vtu_array.h"

namespace tensormg
{
namespace
{
  std::string file_head(const std::string &type)
  {
    // This version is read by every ParaView, and by newer ones with the order of points that goes with it.
    return std::string("<?xml version=\"1.0\"?>\n<!-- ") + field_file_mark +
        " -->\n<VTKFile type=\"" + type +
        "\" version=\"0.1\" byte_order=\"LittleEndian\" header_type=\"UInt64\" "
        "compressor=\"vtkZLibDataCompressor\">\n<" +
        type;
  }

  /// The begin of an array in a piece, open for further attributes.
  std::string array_head(const std::string &type, const std::string &name = "")
  {
    return R"(<DataArray format="binary" type=")" + type + '"' +
        (name.empty() ? "" : " Name=\"" + name + '"');
  }

  LineRule equidistant_rule(const CellBasis &basis)
  {
    std::vector<double> points(basis.n);
    for (int q = 0; q < basis.n; ++q)
      points[q] = static_cast<double>(q) / (basis.n - 1);
    return point_rule(basis, points);
  }
} // namespace

std::string escaped(const std::string &text)
{
  std::string result;
  for (const char c : text)
    switch (c)
    {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  return result;
}

std::int64_t n_cells(const CellRange &range)
{
  std::int64_t cells = 1;
  for (std::size_t d = 0; d < 3; ++d)
    cells *= std::max(range.end[d] - range.begin[d], std::int64_t(0));
  return cells;
}

void FieldExtent::add(double value)
{
  lowest = std::min(lowest, value);
  highest = std::max(highest, value);
}

bool FieldExtent::fits_single() const
{
  constexpr double least = 0x1p24 * std::numeric_limits<float>::min();
  constexpr double resolved = 0x1p-10, rounding = 1e-13;
  const double largest = std::max(std::abs(lowest), std::abs(highest));
  if (lowest > highest || largest == 0.)
    return true;
  const double variation = highest / largest - lowest / largest;
  return largest >= least && largest <= std::numeric_limits<float>::max() &&
      !(variation > rounding && variation < resolved);
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

std::string FieldWriter::Field::attributes() const
{
  return std::string("type=\"") + number_type() + "\" Name=\"" + escaped(name) + '"' +
      (components > 1 ? " NumberOfComponents=\"" + std::to_string(components) + '"' : "");
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
  {
    field.in_double = all_in_double_;
    for (int component = 0; component < field.components; ++component)
    {
      FieldExtent &extent = field.extent[component];
      std::array<double, 2> bounds{-extent.lowest, extent.highest};
      MPI_Allreduce(MPI_IN_PLACE, bounds.data(), 2, MPI_DOUBLE, MPI_MAX, communicator);
      extent = {-bounds[0], bounds[1]};
      field.in_double = field.in_double || !extent.fits_single();
    }
  }
}

std::vector<std::string> FieldWriter::fields_in_double() const
{
  std::vector<std::string> names;
  for (const Field &field : fields_)
    if (field.in_double && !all_in_double_)
      names.push_back(field.name);
  return names;
}

/// Not of a point or a cell, but of the whole file.
std::string FieldWriter::field_data() const
{
  return std::string("<FieldData>\n<DataArray type=\"Int32\" Name=\"converged\" "
                     "NumberOfTuples=\"1\" format=\"ascii\">") +
      (converged_ ? '1' : '0') + "</DataArray>\n</FieldData>\n";
}

/// The begin of the values at points, of which the solution is shown first.
std::string FieldWriter::data_begin(const std::string &element) const
{
  return '<' + element + " Scalars=\"" + escaped(fields_.front().name) + "\">\n";
}

void FieldWriter::write_piece(OutputFile &file)
{
  file.fill([&](std::ostream &out) {
    const std::int64_t cells = n_cells(cells_);
    out << file_head("UnstructuredGrid") << ">\n"
        << field_data() << "<Piece NumberOfPoints=\"" << cells * points_per_cell()
        << "\" NumberOfCells=\"" << cells * shape_.count() << "\">\n<Points>\n";
    write_points(out);
    out << "</Points>\n<Cells>\n";
    write_cells(out);
    out << "</Cells>\n" << data_begin("PointData");
    for (Field &field : fields_)
      write_values(out, field);
    out << "</PointData>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>\n";
  });
}

void FieldWriter::write_record(
    const std::string &path, const std::vector<std::string> &pieces) const
{
  OutputFile(path).write([&](std::ostream &out) {
    out << file_head("PUnstructuredGrid") << " GhostLevel=\"0\">\n"
        << field_data() << data_begin("PPointData");
    for (const Field &field : fields_)
      out << "<PDataArray " << field.attributes() << " format=\"binary\"/>\n";
    out << "</PPointData>\n<PPoints>\n<PDataArray type=\"Float64\" "
           "NumberOfComponents=\"3\"/>\n</PPoints>\n";
    for (const std::string &piece : pieces)
      out << "<Piece Source=\"" << escaped(piece.substr(piece.find_last_of('/') + 1)) << "\"/>\n";
    out << "</PUnstructuredGrid>\n</VTKFile>\n";
  });
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
  fields.push_back(
      {options.field.text(), [this](const Tile &tile, int, std::vector<double> &values) {
         evaluator_.evaluate(u_, rule_, tile, -1, values);
       }});
  if (exact_)
  {
    fields.push_back({"exact", exact_values});
    fields.push_back({"error", errors});
  }
  fields.push_back({"rank", [this](const Tile &, int, std::vector<double> &values) {
                      std::fill(values.begin(), values.end(), rank_);
                    }});
  if (options.gradient)
    fields.push_back({"grad " + options.field.name, gradient_values(false), 3});
  if (options.flux)
    fields.push_back({"flux " + options.field.name, gradient_values(true), 3});
  return fields;
}

void FieldWriter::write_points(std::ostream &out)
{
  out << array_head("Float64") << R"( NumberOfComponents="3">)";
  VtuArray array;
  for_each_tile(cells_, rule_, [&](const Tile &tile) {
    points_.set(grid_, rule_, tile);
    const auto &[x, y, z] = points_.coordinates;
    const auto count = static_cast<std::size_t>(tile.count);
    for (std::size_t c = 0; c < count; ++c)
      for (const double at_z : z)
        for (const double at_y : y)
          for (std::size_t i = c; i < x.size(); i += count)
            for (const double coordinate : {x[i], at_y, problem_.dim == 3 ? at_z : 0.})
              array.add(coordinate);
  });
  array.write(out);
  out << "</DataArray>\n";
}

void FieldWriter::write_cells(std::ostream &out) const
{
  VtuArray points, offsets, types;
  const std::int64_t cells = n_cells(cells_);
  std::int32_t offset = 0;
  for (std::int64_t c = 0; c < cells; ++c)
  {
    for (const int point : shape_.points)
      points.add(static_cast<std::int32_t>(c * points_per_cell() + point));
    for (int part = 0; part < shape_.count(); ++part)
    {
      offsets.add(offset += shape_.points_per_cell);
      types.add(shape_.type);
    }
  }
  const auto write = [&](const char *type, const char *name, VtuArray &array) {
    out << array_head(type, name) << '>';
    array.write(out);
    out << "</DataArray>\n";
  };
  write("Int32", "connectivity", points);
  write("Int32", "offsets", offsets);
  write("UInt8", "types", types);
}

void FieldWriter::write_values(std::ostream &out, const Field &field)
{
  out << "<DataArray format=\"binary\" " << field.attributes() << '>';
  VtuArray array;
  for_each_value(field, [&](double value, int) {
    // Where an exact solution has no value, ParaView shows that it has none.
    if (!std::isfinite(value))
      value = std::numeric_limits<double>::quiet_NaN();
    if (field.in_double)
      array.add(value);
    else
      array.add(static_cast<float>(value));
  });
  array.write(out);
  out << "</DataArray>\n";
}
} // namespace tensormg
