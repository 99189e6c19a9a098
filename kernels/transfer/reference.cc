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
    const auto weight = [&](std::int64_t cell, int a, int i) {
      const double sign = cell % 2 == 1 && (a + i) % 2 == 1 ? -1. : 1.;
      return sign * basis.prolongation[a * n + i];
    };
    for (std::int64_t cz = 0; cz < fine.cells[2]; ++cz)
      for (std::int64_t cy = 0; cy < fine.cells[1]; ++cy)
        for (std::int64_t cx = 0; cx < fine.cells[0]; ++cx)
          for (int k = 0; k < nz; ++k)
            for (int j = 0; j < n; ++j)
              for (int i = 0; i < n; ++i)
                for (int c = 0; c < nz; ++c)
                  for (int b = 0; b < n; ++b)
                    for (int a = 0; a < n; ++a)
                      f(fine.index(cx, cy, cz, i, j, k),
                          coarse.index(cx / 2, cy / 2, cz / children_z, a, b, c),
                          weight(cx, i, a) * weight(cy, j, b) *
                              (fine.dim == 3 ? weight(cz, k, c) : 1.));
  }
} // namespace

template <typename Number>
void prolongate_reference(const Prolongate<Number> &p)
{
  std::vector<double> sum(p.fine.size(), 0.);
  for_each_pair(p.fine, p.coarse, *p.basis, [&](std::int64_t at, std::int64_t from, double w) {
    sum[at] += w * (load(p.src[from]) + (p.src_rest != nullptr ? load(p.src_rest[from]) : 0.));
  });
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
  std::vector<double> sum(r.coarse.size(), 0.);
  for_each_pair(r.fine, r.coarse, *r.basis,
      [&](std::int64_t from, std::int64_t at, double w) { sum[at] += w * load(r.src[from]); });
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
