#include "kernels/laplace/pack_traces.h"

#include "kernels/core/simd.h"

namespace tensormg::laplace
{
template <typename Number>
void pack_traces(const Block &block, const CellBasis &basis, int side, const Number *src,
    Compute<Number> *buffer)
{
  using C = Compute<Number>;
  const int n = block.n;
  const bool upper = side % 2 == 1, along_y = side < 4;
  const std::int64_t row = block.row(), plane = block.plane();
  const std::int64_t lines = along_y ? block.planes() : block.rows_per_plane();
  const std::int64_t line_stride = along_y ? plane : row, mode_stride = along_y ? row : plane;
  const Number *first = src;
  if (upper)
    first += along_y ? (block.cells[1] - 1) * n * row : (block.cells[2] - 1) * block.nz() * plane;
  C weight_v[max_n], weight_d[max_n];
  for (int m = 0; m < n; ++m)
  {
    const double parity = m % 2 == 0 ? 1. : -1.;
    weight_v[m] = static_cast<C>(upper ? basis.v[m] : parity * basis.v[m]);
    weight_d[m] = static_cast<C>(upper ? basis.h[m] : -parity * basis.h[m]);
  }
  for (std::int64_t line = 0; line < lines; ++line)
  {
    const Number *u = first + line * line_stride;
    C *to_v = buffer + line * row, *to_d = to_v + lines * row;
    simd::for_each_vector<C>(row, [&](std::int64_t x, auto width) TENSORMG_INLINE {
      constexpr int W = width;
      simd::Vec<C, W> v{}, d{};
      for (int m = 0; m < n; ++m)
      {
        const simd::Vec<C, W> value = simd::load<W>(u + m * mode_stride + x);
        v += weight_v[m] * value;
        d += weight_d[m] * value;
      }
      simd::store<W>(to_v + x, v);
      simd::store<W>(to_d + x, d);
    });
  }
}

template void pack_traces(const Block &, const CellBasis &, int, const double *, double *);
template void pack_traces(const Block &, const CellBasis &, int, const float *, float *);
template void pack_traces(const Block &, const CellBasis &, int, const Half *, float *);
template void pack_traces(const Block &, const CellBasis &, int, const WideFloat *, double *);
} // namespace tensormg::laplace
