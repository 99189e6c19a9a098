#include "kernels/laplace/cellwise/cellwise.h"
#include "kernels/laplace/reference/entries.h"

namespace tensormg::laplace
{
namespace
{
  /// Of a line at one of its ends; D with half the derivative.
  struct Trace
  {
    double v = 0., d = 0.;
  };

  /// Entries of the result, one by one.
  template <typename Number>
  class CellwiseReference
  {
  public:
    explicit CellwiseReference(const CellwiseArguments<Number> &arguments)
      : a(arguments)
    {}

    double result(const Entry &e, Form form) const
    {
      const double u = to_double(a.src[index(a.block, e)]), m = a.cells.reaction[place(e, 0, 0)];
      double sum = m * u, diagonal = m;
      for (int d = 0; d < a.block.dim; ++d)
      {
        const int i = e.mode[d];
        const double c = a.cells.c[d][place(e, d, 0)], v = a.basis->v[i];
        sum += c * a.basis->lambda[i] * u + face(e, d, 0) + face(e, d, 1);
        diagonal += c * a.basis->lambda[i] + a.cells.jump[d][place(e, d, 0)] * v * v;
      }
      if (form == Form::apply)
        return sum;
      const double residual = to_double(a.b[index(a.block, e)]) - sum;
      if (form == Form::residual)
        return residual;
      const double momentum = a.theta * (u - (a.old ? to_double(a.old[index(a.block, e)]) : 0.));
      return u + momentum + a.alpha * residual / diagonal;
    }

  private:
    /// Of the cell `step` cells further in direction d.
    std::int64_t place(const Entry &e, int d, std::int64_t step) const
    {
      const auto &cells = a.cells;
      return e.cell[0] + e.cell[1] * cells.row + e.cell[2] * cells.plane + step * cells.stride(d);
    }

    double face(const Entry &e, int d, int end) const
    {
      const double parity = e.mode[d] % 2 == 0 || end == 1 ? 1. : -1., s = end == 1 ? 1. : -1.;
      const double c = a.cells.c[d][place(e, d, 0)],
                   other_c = a.cells.c[d][place(e, d, end == 1 ? 1 : -1)];
      const double tau = a.basis->penalty * (c + other_c) / 2.;
      const Trace own = trace(e, d, end), other = behind(e, d, end, own);
      const double p = (tau - a.basis->penalty * c) * own.v - tau * other.v - s * other_c * other.d;
      return parity * (a.basis->v[e.mode[d]] * p + a.basis->h[e.mode[d]] * c * other.v);
    }

    /// Of the line of the entry along d.
    Trace trace(Entry e, int d, int end) const
    {
      Trace result;
      for (int m = 0; m < a.block.n; ++m)
      {
        e.mode[d] = m;
        const double u = to_double(a.src[index(a.block, e)]),
                     sign = m % 2 == 0 || end == 1 ? 1. : -1.;
        result.v += sign * a.basis->v[m] * u;
        result.d += (end == 1 ? sign : -sign) * a.basis->h[m] * u;
      }
      return result;
    }

    /// Of the neighbour's line at the face.
    Trace behind(const Entry &e, int d, int end, const Trace &own) const
    {
      const int s = 2 * d + end;
      Entry other = e;
      other.cell[d] += end == 1 ? 1 : -1;
      const bool inside = other.cell[d] >= 0 && other.cell[d] < a.block.cells[d];
      if (!inside && is_closed(a.sides[s]))
      {
        const double sign = value_reflection<double>(a.sides[s]);
        const double kappa =
            a.sides[s] == Side::neumann ? a.cells.jump[d][place(e, d, end == 1 ? 1 : -1)] : 0.;
        return {sign * own.v, -sign * own.d + (end == 1 ? -kappa : kappa) * own.v};
      }
      if (!inside && a.sides[s] == Side::ghost)
      {
        const std::int64_t at = ghost_index(a.block, e, s);
        return {a.ghost[s][at], a.ghost[s][ghost_size(a.block, s) / 2 + at]};
      }
      if (!inside) // Side::wrap
        other.cell[d] = end == 1 ? 0 : a.block.cells[d] - 1;
      return trace(other, d, 1 - end);
    }

    const CellwiseArguments<Number> &a;
  };
} // namespace

template <typename Number>
void apply_cellwise_reference(const CellwiseArguments<Number> &a, Form form)
{
  const CellwiseReference<Number> reference(a);
  set_entries(a, [&](const Entry &e) { return reference.result(e, form); });
}

template void apply_cellwise_reference(const CellwiseArguments<double> &, Form);
template void apply_cellwise_reference(const CellwiseArguments<float> &, Form);
template void apply_cellwise_reference(const CellwiseArguments<Half> &, Form);
template void apply_cellwise_reference(const CellwiseArguments<WideFloat> &, Form);
} // namespace tensormg::laplace
