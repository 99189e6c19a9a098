// The `cpu` backend of the transfer. Strips (all cells of one row in x) are worked on one after the other;
// z first on the coarse side, then y, x last, so that most of the work is done on coarse data.
#include <algorithm>

#include "kernels/transfer/cpu_lines.h"
#include "kernels/transfer/cpu_partial.h"

namespace tensormg::transfer
{
namespace
{
  /// line[2x] = child0[x], line[2x+1] = child1[x].
  template <typename C>
  void interleave(const C *child0, const C *child1, C *line, std::int64_t count)
  {
    for (std::int64_t x = 0; x < count; ++x)
    {
      line[2 * x] = child0[x];
      line[2 * x + 1] = child1[x];
    }
  }

  /// to = a + b
  template <typename Number, typename C>
  void add_rows(const Number *a, const Number *b, C *to, std::int64_t count)
  {
    simd::for_each_vector<C>(count, [&](std::int64_t x, auto width) TENSORMG_INLINE {
      simd::store<width>(to + x, simd::load<width>(a + x) + simd::load<width>(b + x));
    });
  }

  template <int dim, int n, typename Number>
  void prolongate_kernel(const Prolongate<Number> &p)
  {
    using C = Compute<Number>;
    constexpr int nz = dim == 3 ? n : 1;
    constexpr int children_z = dim == 3 ? 2 : 1;
    const Block fine = p.fine, coarse = p.coarse;
    const std::int64_t row = coarse.row(), pitch = coarse.pitch;
    const Weights<n, C> weights(*p.basis), last_weights(*p.basis, p.factor);
    C *memory = scratch<C>(5 * nz * n * row + 2 * row + 2 * pitch);
    C *in_z[2] = {memory, memory + nz * n * row};
    C *in_y[2] = {memory + 2 * nz * n * row, memory + 3 * nz * n * row};
    C *in_x[2] = {memory + 4 * nz * n * row, memory + 4 * nz * n * row + row};
    C *line = in_x[1] + row, *whole = line + 2 * pitch; // of the coarse cells, if they are a pair
    for (std::int64_t cz = 0; cz < coarse.cells[2]; ++cz)
      for (std::int64_t cy = 0; cy < coarse.cells[1]; ++cy)
      {
        const std::int64_t first = cz * nz * coarse.plane() + cy * n * row;
        const Number *src = p.src + first;
        if (p.src_rest != nullptr)
          for (int c = 0; c < nz; ++c)
            add_rows(src + c * coarse.plane(), p.src_rest + first + c * coarse.plane(),
                whole + c * n * row, n * row);
        const auto expand_z = [&](const auto *from, std::int64_t stride) {
          if constexpr (dim == 3)
            for (int j = 0; j < n; ++j)
              expand<n>(weights, from + j * row, stride, in_z[0] + j * row, in_z[1] + j * row,
                  n * row, row);
          else
            simd::for_each_vector<C>(n * row, [&](std::int64_t x, auto width) TENSORMG_INLINE {
              simd::store<width>(in_z[0] + x, simd::load<width>(from + x));
            });
        };
        if (p.src_rest != nullptr)
          expand_z(whole, n * row);
        else
          expand_z(src, coarse.plane());
        for (int sz = 0; sz < children_z; ++sz)
        {
          for (int k = 0; k < nz; ++k)
            expand<n>(weights, in_z[sz] + k * n * row, row, in_y[0] + k * n * row,
                in_y[1] + k * n * row, row, row);
          for (int sy = 0; sy < 2; ++sy)
            for (int k = 0; k < nz; ++k)
              for (int j = 0; j < n; ++j)
              {
                expand<n>(last_weights, in_y[sy] + (k * n + j) * row, pitch, in_x[0], in_x[1],
                    pitch, pitch);
                Number *dst = p.dst + ((cz * children_z + sz) * nz + k) * fine.plane() +
                    ((2 * cy + sy) * n + j) * fine.row();
                for (int i = 0; i < n; ++i)
                {
                  interleave(in_x[0] + i * pitch, in_x[1] + i * pitch, line, pitch);
                  Number *to = dst + i * fine.pitch;
                  Number *rest = p.dst_rest == nullptr ? nullptr : p.dst_rest + (to - p.dst);
                  add_line(line, fine.pitch, to, rest, p.add, p.add_rest);
                }
              }
        }
      }
  }

  template <int dim, int n, typename Number>
  void restrict_kernel(const Restrict<Number> &r)
  {
    using C = Compute<Number>;
    constexpr int nz = dim == 3 ? n : 1;
    constexpr int children_z = dim == 3 ? 2 : 1;
    const Block fine = r.fine, coarse = r.coarse;
    const std::int64_t row = coarse.row(), pitch = coarse.pitch;
    const Weights<n, C> weights(*r.basis);
    const Weights<n, C> first_weights(*r.basis, r.factor / (dim == 3 ? 8. : 4.));
    C *memory = scratch<C>(2 * nz * n * row + 2 * nz * n * row + 2 * row);
    C *in_z[2] = {memory, memory + nz * n * row};
    C *in_y[2] = {memory + 2 * nz * n * row, memory + 3 * nz * n * row};
    C *in_x[2] = {memory + 4 * nz * n * row, memory + 4 * nz * n * row + row};
    const std::int64_t fine_cells = fine.cells[0] / 2; // beyond them the scratch lines stay zero
    std::fill_n(in_x[0], 2 * row, C(0));
    for (std::int64_t cz = 0; cz < coarse.cells[2]; ++cz)
      for (std::int64_t cy = 0; cy < coarse.cells[1]; ++cy)
      {
        for (int sz = 0; sz < children_z; ++sz)
        {
          for (int sy = 0; sy < 2; ++sy)
            for (int k = 0; k < nz; ++k)
              for (int j = 0; j < n; ++j)
              {
                const Number *src = r.src + ((cz * children_z + sz) * nz + k) * fine.plane() +
                    ((2 * cy + sy) * n + j) * fine.row();
                for (int i = 0; i < n; ++i)
                {
                  const Number *from = src + i * fine.pitch;
                  C *even = in_x[0] + i * pitch, *odd = in_x[1] + i * pitch;
                  for (std::int64_t x = 0; x < fine_cells; ++x)
                  {
                    even[x] = static_cast<C>(from[2 * x]);
                    odd[x] = static_cast<C>(from[2 * x + 1]);
                  }
                }
                collect<n>(first_weights, in_x[0], in_x[1], pitch, in_y[sy] + (k * n + j) * row,
                    pitch, pitch);
              }
          for (int k = 0; k < nz; ++k)
            collect<n>(weights, in_y[0] + k * n * row, in_y[1] + k * n * row, row,
                in_z[sz] + k * n * row, row, row);
        }
        Number *dst = r.dst + cz * nz * coarse.plane() + cy * n * row;
        if constexpr (dim == 3)
          for (int j = 0; j < n; ++j)
            collect<n>(weights, in_z[0] + j * row, in_z[1] + j * row, n * row, dst + j * row,
                coarse.plane(), row);
        else
          simd::for_each_vector<C>(n * row, [&](std::int64_t x, auto width) TENSORMG_INLINE {
            simd::store<width>(dst + x, simd::load<width>(in_z[0] + x));
          });
      }
  }

} // namespace

template <typename Number>
void prolongate_cpu(const Prolongate<Number> &p)
{
  if (n_halved(p.fine, p.coarse) < p.fine.dim)
    return prolongate_partially(p);
  dispatch(p.fine.dim, p.fine.n, [&]<int dim, int n>() { prolongate_kernel<dim, n>(p); });
}

template <typename Number>
void restrict_cpu(const Restrict<Number> &r)
{
  if (n_halved(r.fine, r.coarse) < r.fine.dim)
    return restrict_partially(r);
  dispatch(r.fine.dim, r.fine.n, [&]<int dim, int n>() { restrict_kernel<dim, n>(r); });
}

template void prolongate_cpu(const Prolongate<double> &);
template void prolongate_cpu(const Prolongate<float> &);
template void prolongate_cpu(const Prolongate<Half> &);
template void restrict_cpu(const Restrict<double> &);
template void restrict_cpu(const Restrict<float> &);
template void restrict_cpu(const Restrict<Half> &);
} // namespace tensormg::transfer
