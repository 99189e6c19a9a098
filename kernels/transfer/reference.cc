#include <vector>

#include "kernels/transfer/transfer.h"

namespace tensormg::transfer
{
namespace
{
  template <typename Number>
  double load(Number x)
  {
    return static_cast<Compute<Number>>(x);
  }
  template <typename Number>
  Number rounded(double x)
  {
    return Number(static_cast<Compute<Number>>(x));
  }

  /// Calls f(fine position, coarse position, weight) for every pair of a child's and a parent's mode.
  template <typename Function>
  void for_each_pair(const Block &fine, const Block &coarse, const CellBasis &basis, Function &&f)
  {
    const int n = fine.n, nz = fine.nz();
    const std::int64_t children_z = fine.dim == 3 ? 2 : 1;
    std::vector<double>
        weights[2]; // of the lower and the upper child: [child's mode][parent's mode]
    for (int child = 0; child < 2; ++child)
      for (int a = 0; a < n; ++a)
        for (int i = 0; i < n; ++i)
          weights[child].push_back(
              (child == 1 && (a + i) % 2 == 1 ? -1. : 1.) * basis.prolongation[a * n + i]);
    const auto row = [&](std::int64_t cell, int mode) { return &weights[cell % 2][mode * n]; };
    const double one = 1.;
    for (std::int64_t cz = 0; cz < fine.cells[2]; ++cz)
      for (std::int64_t cy = 0; cy < fine.cells[1]; ++cy)
        for (std::int64_t cx = 0; cx < fine.cells[0]; ++cx)
          for (int k = 0; k < nz; ++k)
            for (int j = 0; j < n; ++j)
              for (int i = 0; i < n; ++i)
              {
                const double *in_x = row(cx, i), *in_y = row(cy, j);
                const double *in_z = fine.dim == 3 ? row(cz, k) : &one;
                const std::int64_t at = fine.index(cx, cy, cz, i, j, k);
                for (int c = 0; c < nz; ++c)
                  for (int b = 0; b < n; ++b)
                    for (int a = 0; a < n; ++a)
                      f(at, coarse.index(cx / 2, cy / 2, cz / children_z, a, b, c),
                          in_x[a] * in_y[b] * in_z[c]);
              }
  }
} // namespace

template <typename Number>
void prolongate_reference(const Prolongate<Number> &p)
{
  std::vector<double> sum(p.fine.size(), 0.);
  std::vector<double> src(p.coarse.size());
  for (std::int64_t at = 0; at < p.coarse.size(); ++at)
    src[at] = load(p.src[at]) + (p.src_rest != nullptr ? load(p.src_rest[at]) : 0.);
  for_each_pair(p.fine, p.coarse, *p.basis,
      [&](std::int64_t at, std::int64_t from, double w) { sum[at] += w * src[from]; });
  for (std::int64_t at = 0; at < p.fine.size(); ++at)
  {
    const double value = (p.add ? load(p.dst[at]) : 0.) + (p.add_rest ? load(p.dst_rest[at]) : 0.) +
        p.factor * sum[at];
    p.dst[at] = rounded<Number>(value);
    if (p.dst_rest != nullptr)
      p.dst_rest[at] = rounded<Number>(value - load(p.dst[at]));
  }
}

template <typename Number>
void restrict_reference(const Restrict<Number> &r)
{
  std::vector<double> sum(r.coarse.size(), 0.), src(r.fine.size());
  for (std::int64_t at = 0; at < r.fine.size(); ++at)
    src[at] = load(r.src[at]);
  for_each_pair(r.fine, r.coarse, *r.basis,
      [&](std::int64_t from, std::int64_t at, double w) { sum[at] += w * src[from]; });
  const double factor = r.factor / (r.fine.dim == 3 ? 8. : 4.);
  for (std::int64_t at = 0; at < r.coarse.size(); ++at)
    r.dst[at] = rounded<Number>(factor * sum[at]);
}

template void prolongate_reference(const Prolongate<double> &);
template void prolongate_reference(const Prolongate<float> &);
template void prolongate_reference(const Prolongate<Half> &);
template void restrict_reference(const Restrict<double> &);
template void restrict_reference(const Restrict<float> &);
template void restrict_reference(const Restrict<Half> &);
} // namespace tensormg::transfer
