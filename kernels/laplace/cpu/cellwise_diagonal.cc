#include "kernels/core/simd.h"
#include "kernels/laplace/cellwise/cellwise.h"
#include "kernels/laplace/cellwise/relaxation.h"

namespace tensormg::laplace
{
template <typename Number>
void cellwise_inverse_diagonal(const Block &block, const CellBasis &basis,
    const CellNumbers<Compute<Number>> &cells, double alpha, const Number *b, Number *x)
{
  using C = Compute<Number>;
  const auto lambda = [&](int i) { return static_cast<C>(basis.lambda[i]); };
  const auto square = [&](int i) { return static_cast<C>(basis.v[i] * basis.v[i]); };
  for (std::int64_t z = 0; z < block.planes(); ++z)
    for (std::int64_t y = 0; y < block.rows_per_plane(); ++y)
      for (int i = 0; i < block.n; ++i)
      {
        const std::int64_t at = z * block.plane() + y * block.row() + i * block.pitch;
        const std::int64_t first =
            y / block.n * cells.row + (block.dim == 3 ? z / block.nz() * cells.plane : 0);
        const std::array<int, 3> mode{i, static_cast<int>(y % block.n),
            static_cast<int>(block.dim == 3 ? z % block.nz() : 0)};
        simd::for_each_vector<C>(block.pitch, [&](std::int64_t cx, auto width) TENSORMG_INLINE {
          constexpr int W = width;
          simd::Vec<C, W> d = simd::load<W>(cells.reaction + first + cx);
          for (int a = 0; a < block.dim; ++a)
            d += lambda(mode[a]) * simd::load<W>(cells.c[a] + first + cx) +
                square(mode[a]) * simd::load<W>(cells.jump[a] + first + cx);
          const simd::Vec<C, W> value = static_cast<C>(alpha) * simd::load<W>(b + at + cx) / d;
          simd::store<W>(x + at + cx, value);
        });
      }
}

template <typename Number>
void take_step(std::int64_t size, double theta, const Number *x, const Number *z, Number *old)
{
  using C = Compute<Number>;
  const C factor = static_cast<C>(theta);
  simd::for_each_vector<C>(size, [&](std::int64_t i, auto width) TENSORMG_INLINE {
    constexpr int W = width;
    const simd::Vec<C, W> here = simd::load<W>(x + i);
    const simd::Vec<C, W> next =
        here + factor * (here - simd::load<W>(old + i)) + simd::load<W>(z + i);
    simd::store<W>(old + i, next);
  });
}

template void take_step(std::int64_t, double, const double *, const double *, double *);
template void take_step(std::int64_t, double, const float *, const float *, float *);
template void take_step(std::int64_t, double, const Half *, const Half *, Half *);
template void cellwise_inverse_diagonal(const Block &, const CellBasis &,
    const CellNumbers<double> &, double, const double *, double *);
template void cellwise_inverse_diagonal(
    const Block &, const CellBasis &, const CellNumbers<float> &, double, const float *, float *);
template void cellwise_inverse_diagonal(
    const Block &, const CellBasis &, const CellNumbers<float> &, double, const Half *, Half *);
} // namespace tensormg::laplace
