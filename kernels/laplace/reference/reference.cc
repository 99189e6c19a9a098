#include "kernels/laplace/reference/reference.h"

#include "kernels/laplace/reference/entries.h"

namespace tensormg::laplace
{
namespace
{
  /// Values and full outward-independent derivatives of the modes at both ends of [0, 1].
  struct Ends
  {
    std::vector<double> vl, vr, dl, dr;

    explicit Ends(const CellBasis &basis)
    {
      for (int i = 0; i < basis.n; ++i)
      {
        const double parity = i % 2 == 0 ? 1. : -1.;
        vr.push_back(basis.v[i]);
        dr.push_back(2. * basis.h[i]);
        vl.push_back(parity * basis.v[i]);
        dl.push_back(-parity * 2. * basis.h[i]);
      }
    }
  };

} // namespace

DenseBlocks make_dense_blocks(const CellBasis &basis)
{
  const int n = basis.n;
  const double sigma = basis.penalty;
  const Ends e(basis);
  DenseBlocks blocks;
  const std::vector<double> zero(n * n, 0.);
  blocks.own = blocks.right = blocks.left = zero;
  blocks.dirichlet_left = blocks.dirichlet_right = zero;
  blocks.neumann_left = blocks.neumann_right = zero;
  for (int i = 0; i < n; ++i)
  {
    blocks.own[i * n + i] = basis.lambda[i];
    for (int j = 0; j < n; ++j)
    {
      const int at = i * n + j;
      // Interior face, u+ = right neighbour: -{u'}[v] - {v'}[u] + sigma [u][v].
      blocks.right[at] =
          -0.5 * e.vr[i] * e.dl[j] + 0.5 * e.dr[i] * e.vl[j] - sigma * e.vr[i] * e.vl[j];
      blocks.left[at] =
          0.5 * e.vl[i] * e.dr[j] - 0.5 * e.dl[i] * e.vr[j] - sigma * e.vl[i] * e.vr[j];
      // L0 holds half of the consistency terms and one penalty for each end. A Dirichlet end has the
      // full terms and twice the penalty, a Neumann end has none of them.
      const double consistency_right = e.vr[i] * e.dr[j] + e.dr[i] * e.vr[j];
      const double consistency_left = e.vl[i] * e.dl[j] + e.dl[i] * e.vl[j];
      blocks.dirichlet_right[at] = -0.5 * consistency_right + sigma * e.vr[i] * e.vr[j];
      blocks.dirichlet_left[at] = 0.5 * consistency_left + sigma * e.vl[i] * e.vl[j];
      blocks.neumann_right[at] = 0.5 * consistency_right - sigma * e.vr[i] * e.vr[j];
      blocks.neumann_left[at] = -0.5 * consistency_left - sigma * e.vl[i] * e.vl[j];
    }
  }
  return blocks;
}

namespace
{
  /// Entries of the result, one by one.
  template <typename Number>
  class Reference
  {
  public:
    explicit Reference(const Arguments<Number> &arguments)
      : a(arguments)
      , ends(*a.basis)
      , blocks(make_dense_blocks(*a.basis))
    {}

    double result(const Entry &e, Form form) const
    {
      double sum = 0., diagonal = 0.;
      for (int d = 0; d < a.block.dim; ++d)
      {
        sum +=
            a.factor[d] * (of_neighbour(blocks.own, e, d, 0) + side(e, 2 * d) + side(e, 2 * d + 1));
        diagonal += a.factor[d] * a.basis->lambda[e.mode[d]];
      }
      if (form == Form::apply)
        return sum;
      const std::int64_t at = index(a.block, e);
      const double residual = to_double(a.b[at]) - sum;
      if (form == Form::residual)
        return residual;
      const double u = to_double(a.src[at]);
      const double momentum = a.theta * (u - (a.old ? to_double(a.old[at]) : 0.));
      return u + momentum + a.alpha * residual / diagonal;
    }

  private:
    /// The row of e.mode[d] of a matrix times the line along d of the cell `step` cells further.
    double of_neighbour(
        const std::vector<double> &matrix, const Entry &e, int d, std::int64_t step) const
    {
      Entry other = e;
      other.cell[d] += step;
      if (d == 0) // only reached beyond the ends for Side::wrap
        other.cell[d] = (other.cell[d] + a.block.cells[0]) % a.block.cells[0];
      double sum = 0.;
      for (int m = 0; m < a.block.n; ++m)
      {
        other.mode[d] = m;
        sum += matrix[e.mode[d] * a.block.n + m] * to_double(a.src[index(a.block, other)]);
      }
      return sum;
    }

    double side(const Entry &e, int s) const
    {
      const int d = s / 2;
      const bool upper = s % 2 == 1;
      const bool inside = upper ? e.cell[d] + 1 < a.block.cells[d] : e.cell[d] > 0;
      if (inside || a.sides[s] == Side::wrap)
        return of_neighbour(upper ? blocks.right : blocks.left, e, d, upper ? 1 : -1);
      return a.sides[s] == Side::ghost ? of_ghost(e, s) : of_closed_side(e, s);
    }

    /// What lies behind it follows from the cell's own line.
    double of_closed_side(const Entry &e, int s) const
    {
      const bool upper = s % 2 == 1;
      const std::vector<double> &matrix = reflects_odd(a.sides[s])
          ? (upper ? blocks.dirichlet_right : blocks.dirichlet_left)
          : (upper ? blocks.neumann_right : blocks.neumann_left);
      return of_neighbour(matrix, e, s / 2, 0);
    }

    /// Of a cell outside there are the traces.
    double of_ghost(const Entry &e, int s) const
    {
      const int m = e.mode[s / 2];
      const std::int64_t at = ghost_index(a.block, e, s);
      const double v = a.ghost[s][at], half_d = a.ghost[s][ghost_size(a.block, s) / 2 + at];
      const double penalty = a.basis->penalty * v;
      return s % 2 == 0 ? ends.vl[m] * half_d - 0.5 * ends.dl[m] * v - penalty * ends.vl[m]
                        : -ends.vr[m] * half_d + 0.5 * ends.dr[m] * v - penalty * ends.vr[m];
    }

    const Arguments<Number> &a;
    const Ends ends;
    const DenseBlocks blocks;
  };
} // namespace

template <typename Number>
void apply_reference(const Arguments<Number> &a, Form form)
{
  const Reference<Number> reference(a);
  set_entries(a, [&](const Entry &e) { return reference.result(e, form); });
}

template void apply_reference(const Arguments<double> &, Form);
template void apply_reference(const Arguments<float> &, Form);
template void apply_reference(const Arguments<Half> &, Form);
template void apply_reference(const Arguments<WideFloat> &, Form);
} // namespace tensormg::laplace
