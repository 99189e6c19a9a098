#include "operators/data/nodal_field.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <utility>

#include "operators/data/functions.h"

namespace tensormg
{
std::vector<std::int64_t> NodalLayout::shape() const
{
  std::vector<std::int64_t> shape(cells.rend() - dim, cells.rend());
  shape.insert(shape.end(), static_cast<std::size_t>(dim), std::ssize(nodes));
  return shape;
}

NodalField::NodalField(std::shared_ptr<const NpyArray> array, NodalLayout layout)
  : array_(std::move(array))
  , layout_(std::move(layout))
{
  std::vector<std::int64_t> shape = layout_.shape();
  const std::vector<std::int64_t> of_cells(shape.begin(), shape.begin() + layout_.dim);
  const bool is_of_cells = layout_.nodes.size() == 1 && array_->shape() == of_cells;
  if (array_->shape() != shape && !is_of_cells)
  {
    std::string expected;
    for (const std::int64_t n : shape)
      expected += (expected.empty() ? "(" : ", ") + std::to_string(n);
    throw DataFileError(array_->path() + ": has the shape " + array_->shape_text() +
        "; allowed: " + expected + "), as its description says");
  }
  for (int d = 0; d < layout_.dim; ++d)
  {
    axis_[d] = layout_.axis(d);
    rounding_[d] = axis_[d].place_rounding();
  }
  for (std::size_t i = 0; i < layout_.nodes.size(); ++i)
  {
    double product = 1.;
    for (std::size_t j = 0; j < layout_.nodes.size(); ++j)
      product *= j == i ? 1. : layout_.nodes[i] - layout_.nodes[j];
    inverse_factors_[i] = 1. / product;
  }
}

/// False: outside of the box.
bool NodalField::find(int direction, double x, Place &place) const
{
  const auto cells = static_cast<double>(layout_.cells[direction]);
  const double position = axis_[direction].place(x);
  if (!(position >= -rounding_[direction] && position <= cells + rounding_[direction]))
    return false;
  const double nearest = std::round(position);
  const double cell =
      std::abs(position - nearest) <= rounding_[direction] ? nearest : std::floor(position);
  place.cell = static_cast<std::int64_t>(std::clamp(cell, 0., cells - 1.));
  const double t = position - static_cast<double>(place.cell);
  const std::vector<double> &nodes = layout_.nodes;
  for (std::size_t i = 0; i < nodes.size(); ++i)
  {
    double product = inverse_factors_[i];
    for (std::size_t j = 0; j < nodes.size(); ++j)
      product *= j == i ? 1. : t - nodes[j];
    place.weights[i] = product;
  }
  return true;
}

double NodalField::value(const std::array<Place, 3> &place) const
{
  const auto n = static_cast<std::int64_t>(layout_.nodes.size());
  const std::int64_t nz = layout_.dim == 3 ? n : 1;
  const std::int64_t cell =
      (place[2].cell * layout_.cells[1] + place[1].cell) * layout_.cells[0] + place[0].cell;
  std::int64_t entry = cell * n * n * nz;
  double sum = 0.;
  for (std::int64_t k = 0; k < nz; ++k)
  {
    double plane = 0.;
    for (std::int64_t j = 0; j < n; ++j)
    {
      double line = 0.;
      for (std::int64_t i = 0; i < n; ++i, ++entry)
        line += place[0].weights[i] * (*array_)[entry];
      plane += place[1].weights[j] * line;
    }
    sum += place[2].weights[k] * plane;
  }
  return sum;
}

void NodalField::values(const std::string &name, std::size_t n, const double *x, const double *y,
    const double *z, double *values) const
{
  const std::array<const double *, 3> points{x, y, z};
  std::array<Place, 3> place;
  place[2].weights[0] = 1.; // in 2D
  std::array<double, 3> last;
  last.fill(std::numeric_limits<double>::quiet_NaN());
  for (std::size_t q = 0; q < n; ++q)
  {
    for (int d = 0; d < layout_.dim; ++d)
    {
      const double here = points[d][q];
      if (here == last[d])
        continue;
      if (!find(d, here, place[d]))
      {
        std::ostringstream text;
        text.precision(10);
        text << "has no value where "
             << "xyz"[d] << " = " << here << ": its file " << array_->path() << " has the box "
             << box_text();
        throw ExpressionError(name, text.str());
      }
      last[d] = here;
    }
    values[q] = value(place);
  }
}

/// "(0, 1) x (0, 2)"
std::string NodalField::box_text() const
{
  std::ostringstream text;
  text.precision(10);
  for (int d = 0; d < layout_.dim; ++d)
    text << (d > 0 ? " x (" : "(") << layout_.lower[d] << ", " << layout_.upper[d] << ')';
  return text.str();
}

Function field_function(std::shared_ptr<const NodalField> field, const std::string &name)
{
  return [field = std::move(field), name](std::size_t n, const double *x, const double *y,
             const double *z, double *values) { field->values(name, n, x, y, z, values); };
}
} // namespace tensormg
