#include <vector>

#include "kernels/core/in_double.h"
#include "kernels/transfer/transfer.h"

namespace tensormg::transfer
{
namespace
{
  /// Calls f(fine position, coarse position, weight) for every pair of a child's and a parent's mode.
  template <typename Function>
  void for_each_pair(const Block &fine, const Block &coarse, const CellBasis &basis, Function &&f)
  {
    const int n = fine.n, nz = fine.nz();
    // Of the lower and the upper child, and of a cell that is not divided: [child's mode][parent's mode].
    std::vector<double> weights[3];
    for (int child = 0; child < 3; ++child)
      for (int a = 0; a < n; ++a)
        for (int i = 0; i < n; ++i)
          weights[child].push_back(child == 2
                  ? (a == i ? 1. : 0.)
                  : (child == 1 && (a + i) % 2 == 1 ? -1. : 1.) * basis.prolongation[a * n + i]);
    const std::array<bool, 3> is_halved = halved(fine, coarse);
    const auto row = [&](int d, std::int64_t cell, int mode) {
      return &weights[is_halved[d] ? cell % 2 : 2][mode * n];
    };
    const auto parent = [&](int d, std::int64_t cell) { return is_halved[d] ? cell / 2 : cell; };
    const double one = 1.;
    for (std::int64_t cz = 0; cz < fine.cells[2]; ++cz)
      for (std::int64_t cy = 0; cy < fine.cells[1]; ++cy)
        for (std::int64_t cx = 0; cx < fine.cells[0]; ++cx)
          for (int k = 0; k < nz; ++k)
            for (int j = 0; j < n; ++j)
              for (int i = 0; i < n; ++i)
              {
                const double *in_x = row(0, cx, i), *in_y = row(1, cy, j);
                const double *in_z = fine.dim == 3 ? row(2, cz, k) : &one;
                const std::int64_t at = fine.index(cx, cy, cz, i, j, k);
                for (int c = 0; c < nz; ++c)
                  for (int b = 0; b < n; ++b)
                    for (int a = 0; a < n; ++a)
                      f(at, coarse.index(parent(0, cx), parent(1, cy), parent(2, cz), a, b, c),
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
    src[at] = in_double(p.src[at]) + (p.src_rest != nullptr ? in_double(p.src_rest[at]) : 0.);
  for_each_pair(p.fine, p.coarse, *p.basis,
      [&](std::int64_t at, std::int64_t from, double w) { sum[at] += w * src[from]; });
  for (std::int64_t at = 0; at < p.fine.size(); ++at)
  {
    const double value = (p.add ? in_double(p.dst[at]) : 0.) +
        (p.add_rest ? in_double(p.dst_rest[at]) : 0.) + p.factor * sum[at];
    p.dst[at] = rounded<Number>(value);
    if (p.dst_rest != nullptr)
      p.dst_rest[at] = rounded<Number>(value - in_double(p.dst[at]));
  }
}

template <typename Number>
void restrict_reference(const Restrict<Number> &r)
{
  std::vector<double> sum(r.coarse.size(), 0.), src(r.fine.size());
  for (std::int64_t at = 0; at < r.fine.size(); ++at)
    src[at] = in_double(r.src[at]);
  for_each_pair(r.fine, r.coarse, *r.basis,
      [&](std::int64_t from, std::int64_t at, double w) { sum[at] += w * src[from]; });
  const double factor = r.factor / (1 << n_halved(r.fine, r.coarse));
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
