#include "kernels/laplace/reference/reference.h"

#include <algorithm>

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

  double to_double(double x) { return x; }
  double to_double(float x) { return x; }
  double to_double(Half x) { return static_cast<float>(x); }
  double to_double(WideFloat x) { return x.value; }
  void assign(double &to, double x) { to = x; }
  void assign(float &to, double x) { to = static_cast<float>(x); }
  void assign(Half &to, double x) { to = Half(static_cast<float>(x)); }
  void assign(WideFloat &to, double x) { to = WideFloat(x); }
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

template <typename Number>
void apply_reference(const Arguments<Number> &a, Form form)
{
  const Block &block = a.block;
  const CellBasis &basis = *a.basis;
  const int n = block.n, nz = block.nz();
  const Ends ends(basis);
  const DenseBlocks blocks = make_dense_blocks(basis);
  const std::int64_t nx = block.cells[0];
  const std::int64_t y_end = std::min(a.range.y_end, block.cells[1]);
  const std::int64_t z_end = std::min(a.range.z_end, block.cells[2]);

  for (std::int64_t cz = a.range.z_begin; cz < z_end; ++cz)
    for (std::int64_t cy = a.range.y_begin; cy < y_end; ++cy)
      for (std::int64_t cx = 0; cx < nx; ++cx)
        for (int k = 0; k < nz; ++k)
          for (int j = 0; j < n; ++j)
            for (int i = 0; i < n; ++i)
            {
              const std::array<std::int64_t, 3> cell{cx, cy, cz};
              const std::array<int, 3> mode{i, j, k};
              // u at `cell + step in direction d`, mode m along d.
              const auto value = [&](int d, std::int64_t step, int m) {
                std::array<std::int64_t, 3> c = cell;
                std::array<int, 3> o = mode;
                c[d] += step;
                if (d == 0)
                  c[d] = (c[d] + nx) % nx; // only reached beyond the ends for Side::wrap
                o[d] = m;
                return to_double(a.src[block.index(c[0], c[1], c[2], o[0], o[1], o[2])]);
              };
              double sum = 0., diagonal = 0.;
              for (int d = 0; d < block.dim; ++d)
              {
                double line = 0.;
                const auto add = [&](const std::vector<double> &matrix, std::int64_t step) {
                  for (int m = 0; m < n; ++m)
                    line += matrix[mode[d] * n + m] * value(d, step, m);
                };
                const auto side = [&](int s, const std::vector<double> &neighbour,
                                      const std::vector<double> &dirichlet,
                                      const std::vector<double> &neumann) {
                  const std::int64_t step = s % 2 == 0 ? -1 : 1;
                  const bool inside = s % 2 == 0 ? cell[d] > 0 : cell[d] + 1 < block.cells[d];
                  if (inside || a.sides[s] == Side::wrap)
                    add(neighbour, step);
                  else if (a.sides[s] == Side::dirichlet)
                    add(dirichlet, 0);
                  else if (a.sides[s] == Side::neumann)
                    add(neumann, 0);
                  else
                  {
                    const std::int64_t z = cz * nz + k, x = i * block.pitch + cx;
                    const std::int64_t at = (d == 1 ? z : cy * n + j) * block.row() + x;
                    const std::int64_t size = ghost_size(block, s) / 2;
                    const double v = a.ghost[s][at], half_d = a.ghost[s][size + at];
                    const int m = mode[d];
                    line += s % 2 == 0 ? ends.vl[m] * half_d - 0.5 * ends.dl[m] * v -
                            basis.penalty * ends.vl[m] * v
                                       : -ends.vr[m] * half_d + 0.5 * ends.dr[m] * v -
                            basis.penalty * ends.vr[m] * v;
                  }
                };
                add(blocks.own, 0);
                side(2 * d, blocks.left, blocks.dirichlet_left, blocks.neumann_left);
                side(2 * d + 1, blocks.right, blocks.dirichlet_right, blocks.neumann_right);
                sum += a.factor[d] * line;
                diagonal += a.factor[d] * basis.lambda[mode[d]];
              }
              const std::int64_t at = block.index(cx, cy, cz, i, j, k);
              double result = sum;
              if (form != Form::apply)
                result = to_double(a.b[at]) - sum;
              if (form == Form::chebyshev)
              {
                const double u = to_double(a.src[at]);
                const double momentum = a.theta * (u - (a.old ? to_double(a.old[at]) : 0.));
                result = u + momentum + a.alpha * result / diagonal;
              }
              assign(a.dst[at], result);
            }
  for (std::int64_t cz = a.range.z_begin; cz < z_end; ++cz)
    for (int k = 0; k < nz; ++k)
      for (std::int64_t cy = a.range.y_begin; cy < y_end; ++cy)
        for (int ij = 0; ij < n * n; ++ij)
          for (std::int64_t cx = nx; cx < block.pitch; ++cx)
            assign(a.dst[block.index(cx, cy, cz, ij % n, ij / n, k)], 0.);
}

template void apply_reference(const Arguments<double> &, Form);
template void apply_reference(const Arguments<float> &, Form);
template void apply_reference(const Arguments<Half> &, Form);
template void apply_reference(const Arguments<WideFloat> &, Form);
} // namespace tensormg::laplace
