#include "operators/constant/line_pencil.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace tensormg
{
LinePencil line_pencil(const LevelGrid &level, const Problem &problem, int d)
{
  const CellData &data = *level.cells;
  const Separation &separation = data.separation.value();
  const double factor = level.direction_factors()[d] * separation.k[d] / data.reference;
  LinePencil result;
  for (std::int64_t cell = 0; cell < level.global_cells[d]; ++cell)
  {
    const double size = level.axis[d].relative_size(cell), k = separation.factor[d][cell];
    result.c.push_back(factor * k / size);
    result.mass.push_back(k * size);
  }
  result.kappa = {separation.kappa[2 * d], separation.kappa[2 * d + 1]};
  result.lower = problem.boundary[2 * d];
  result.upper = problem.boundary[2 * d + 1];
  return result;
}

double pencil_reaction(const LevelGrid &level)
{
  const double length = level.reference_length();
  return length * length * level.cells->separation.value().reaction / level.cells->reference;
}

namespace
{
  /// Rows of a face: adds what cell `row` takes from its own line and from that behind its end.
  class LineFaces
  {
  public:
    LineFaces(const CellBasis &basis, const LinePencil &pencil, std::vector<double> &matrix)
      : basis_(basis)
      , pencil_(pencil)
      , cells_(static_cast<std::int64_t>(pencil.c.size()))
      , matrix_(matrix)
    {}

    void add(std::int64_t cell, int end)
    {
      const std::int64_t other = cell + (end == 1 ? 1 : -1);
      const bool inside = other >= 0 && other < cells_;
      const BoundaryKind kind = end == 1 ? pencil_.upper : pencil_.lower;
      if (inside || kind == BoundaryKind::periodic)
        return add(cell, end, (other + cells_) % cells_, true, 0., 0., 0.);
      const double sign = kind == BoundaryKind::dirichlet ? -1. : 1.;
      const double kappa = kind == BoundaryKind::robin ? pencil_.kappa[end] : 0.;
      add(cell, end, cell, false, sign, -sign, end == 1 ? -kappa : kappa);
    }

  private:
    /// Trace of mode m at an end: value, and half the derivative.
    double value(int m, int end) const { return (m % 2 == 0 || end == 1 ? 1. : -1.) * basis_.v[m]; }
    double slope(int m, int end) const { return (m % 2 == 1 || end == 1 ? 1. : -1.) * basis_.h[m]; }

    /// The trace behind the end is (value, slope) of the other cell's line, or (a V, b D + e V) of the own one.
    void add(std::int64_t cell, int end, std::int64_t other, bool is_inside, double a, double b,
        double e)
    {
      const int n = basis_.n;
      const double c = pencil_.c[cell], other_c = pencil_.c[other], sigma = basis_.penalty;
      const double tau = sigma * (c + other_c) / 2., s = end == 1 ? 1. : -1.;
      const std::int64_t size = cells_ * n;
      for (int i = 0; i < n; ++i)
      {
        const double parity = i % 2 == 0 || end == 1 ? 1. : -1.;
        double *const row = matrix_.data() + (cell * n + i) * size;
        for (int m = 0; m < n; ++m)
        {
          const double own = value(m, end);
          const double v = is_inside ? value(m, 1 - end) : a * own;
          const double d = is_inside ? slope(m, 1 - end) : b * slope(m, end) + e * own;
          const double of_other = -tau * v - s * other_c * d;
          row[cell * n + m] += parity * basis_.v[i] * (tau - sigma * c) * own;
          row[other * n + m] += parity * (basis_.v[i] * of_other + basis_.h[i] * c * v);
        }
      }
    }

    const CellBasis &basis_;
    const LinePencil &pencil_;
    std::int64_t cells_;
    std::vector<double> &matrix_;
  };
} // namespace

std::vector<double> line_operator(const CellBasis &basis, const LinePencil &pencil)
{
  const auto cells = static_cast<std::int64_t>(pencil.c.size()), size = cells * basis.n;
  std::vector<double> matrix(static_cast<std::size_t>(size * size), 0.);
  LineFaces faces(basis, pencil, matrix);
  for (std::int64_t c = 0; c < cells; ++c)
  {
    for (int i = 0; i < basis.n; ++i)
      matrix[(c * basis.n + i) * (size + 1)] += pencil.c[c] * basis.lambda[i];
    faces.add(c, 0);
    faces.add(c, 1);
  }
  return matrix;
}

LineSpectrum spectrum(const CellBasis &basis, const LinePencil &pencil)
{
  LineSpectrum result{line_operator(basis, pencil), {}};
  const std::size_t size = pencil.c.size() * basis.n;
  std::vector<double> scale(size); // M^(-1/2)
  for (std::size_t i = 0; i < size; ++i)
    scale[i] = 1. / std::sqrt(pencil.mass[i / basis.n]);
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = 0; j < size; ++j)
      result.vectors[i * size + j] *= scale[i] * scale[j];
  const bool is_singular = is_free(pencil.lower) && is_free(pencil.upper) &&
      pencil.kappa[0] == 0. && pencil.kappa[1] == 0.;
  result.values = diagonalise(result.vectors, is_singular);
  // Only constants have the eigenvalue zero; what rounding leaves of others is not below it.
  const double least = std::numeric_limits<double>::epsilon() * result.values.back();
  for (std::size_t e = is_singular ? 1 : 0; e < size; ++e)
    result.values[e] = std::max(result.values[e], least);
  for (std::size_t e = 0; e < size; ++e)
    for (std::size_t i = 0; i < size; ++i)
      result.vectors[e * size + i] *= scale[i];
  return result;
}
} // namespace tensormg
