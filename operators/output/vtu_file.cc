#include "operators/output/vtu_file.h"

#include <algorithm>
#include <cmath>

#include "operators/output/vtu_array.h"

namespace tensormg
{
namespace
{
  /// The begin of an array in a piece, open for further attributes.
  std::string array_head(const std::string &type, const std::string &name = "")
  {
    return R"(<DataArray format="binary" type=")" + type + '"' +
        (name.empty() ? "" : " Name=\"" + name + '"');
  }

  void write_points(std::ostream &out, const VtuPiece &piece)
  {
    out << array_head("Float64") << R"( NumberOfComponents="3">)";
    VtuArray array;
    piece.points([&](double coordinate) { array.add(coordinate); });
    array.write(out);
    out << "</DataArray>\n";
  }

  void write_cells(std::ostream &out, const VtuPiece &piece)
  {
    VtuArray points, offsets, types;
    const VtuShape &shape = piece.shape;
    std::int32_t offset = 0;
    for (std::int64_t c = 0; c < piece.n_cells; ++c)
    {
      for (const int point : shape.points)
        points.add(static_cast<std::int32_t>(c * piece.points_per_cell + point));
      for (int part = 0; part < shape.count(); ++part)
      {
        offsets.add(offset += shape.points_per_cell);
        types.add(shape.type);
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

  void write_values(std::ostream &out, const VtuPiece &piece, std::size_t number)
  {
    const VtuField &field = *piece.fields[number];
    out << "<DataArray format=\"binary\" " << field.attributes() << '>';
    VtuArray array;
    piece.values(number, [&](double value, int) {
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

  void write_cell_fields(std::ostream &out, const VtuPiece &piece)
  {
    if (piece.cell_fields.empty())
      return;
    out << "<CellData>\n";
    for (const VtuCellField &field : piece.cell_fields)
    {
      out << array_head("Float32", escaped(field.name)) << '>';
      VtuArray array;
      for (const double value : field.values)
        for (int part = 0; part < piece.shape.count(); ++part)
          array.add(static_cast<float>(value));
      array.write(out);
      out << "</DataArray>\n";
    }
    out << "</CellData>\n";
  }
} // namespace

std::string vtu_head(const std::string &type)
{
  // This version is read by every ParaView, and by newer ones with the order of points that goes with it.
  return std::string("<?xml version=\"1.0\"?>\n<!-- ") + field_file_mark +
      " -->\n<VTKFile type=\"" + type +
      "\" version=\"0.1\" byte_order=\"LittleEndian\" header_type=\"UInt64\" "
      "compressor=\"vtkZLibDataCompressor\">\n<" +
      type;
}

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

std::string VtuField::attributes() const
{
  return std::string("type=\"") + number_type() + "\" Name=\"" + escaped(name) + '"' +
      (components > 1 ? " NumberOfComponents=\"" + std::to_string(components) + '"' : "");
}

void VtuField::choose_numbers(bool always, MPI_Comm communicator)
{
  for (FieldExtent &of_component : extent)
  {
    std::array<double, 2> bounds{-of_component.lowest, of_component.highest};
    MPI_Allreduce(MPI_IN_PLACE, bounds.data(), 2, MPI_DOUBLE, MPI_MAX, communicator);
    of_component = {-bounds[0], bounds[1]};
  }
  in_double = always;
  for (int component = 0; component < components; ++component)
    in_double = in_double || !extent[static_cast<std::size_t>(component)].fits_single();
}

std::string vtu_field_data(bool converged)
{
  return std::string("<FieldData>\n<DataArray type=\"Int32\" Name=\"converged\" "
                     "NumberOfTuples=\"1\" format=\"ascii\">") +
      (converged ? '1' : '0') + "</DataArray>\n</FieldData>\n";
}

std::string vtu_data_begin(const std::string &element, const std::string &shown)
{
  return '<' + element + " Scalars=\"" + escaped(shown) + "\">\n";
}

void write_vtu_piece(std::ostream &out, const VtuPiece &piece)
{
  out << vtu_head("UnstructuredGrid") << ">\n"
      << vtu_field_data(piece.converged) << "<Piece NumberOfPoints=\""
      << piece.n_cells * piece.points_per_cell << "\" NumberOfCells=\""
      << piece.n_cells * piece.shape.count() << "\">\n<Points>\n";
  write_points(out, piece);
  out << "</Points>\n<Cells>\n";
  write_cells(out, piece);
  out << "</Cells>\n" << vtu_data_begin("PointData", piece.fields.front()->name);
  for (std::size_t field = 0; field < piece.fields.size(); ++field)
    write_values(out, piece, field);
  out << "</PointData>\n";
  write_cell_fields(out, piece);
  out << "</Piece>\n</UnstructuredGrid>\n</VTKFile>\n";
}

void write_vtu_record(std::ostream &out, const std::vector<const VtuField *> &fields,
    const std::vector<std::string> &cell_fields, const std::vector<std::string> &pieces,
    bool converged)
{
  out << vtu_head("PUnstructuredGrid") << " GhostLevel=\"0\">\n"
      << vtu_field_data(converged) << vtu_data_begin("PPointData", fields.front()->name);
  for (const VtuField *field : fields)
    out << "<PDataArray " << field->attributes() << " format=\"binary\"/>\n";
  out << "</PPointData>\n";
  if (!cell_fields.empty())
  {
    out << "<PCellData>\n";
    for (const std::string &name : cell_fields)
      out << R"(<PDataArray type="Float32" Name=")" << escaped(name) << "\"/>\n";
    out << "</PCellData>\n";
  }
  out << "<PPoints>\n<PDataArray type=\"Float64\" "
         "NumberOfComponents=\"3\"/>\n</PPoints>\n";
  for (const std::string &piece : pieces)
    out << "<Piece Source=\"" << escaped(piece.substr(piece.find_last_of('/') + 1)) << "\"/>\n";
  out << "</PUnstructuredGrid>\n</VTKFile>\n";
}
} // namespace tensormg
