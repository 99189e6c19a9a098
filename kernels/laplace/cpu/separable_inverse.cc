#include "kernels/core/simd.h"
#include "kernels/laplace/dispatch.h"
#include "kernels/laplace/pointwise/relaxation.h"

namespace tensormg::laplace
{
namespace
{
  /// W neighbouring cells at a time, whose matrices lie side by side.
  template <int dim, int n, typename Number>
  class SeparableInverse
  {
    using C = Compute<Number>;
    static constexpr int W = simd::native_width<C> < 8 ? simd::native_width<C> : 8;
    static constexpr int nz = dim == 3 ? n : 1;
    using V = simd::Vec<C, W>;

  public:
    SeparableInverse(const Block &block, const C *numbers, C weight)
      : block_(block)
      , numbers_(numbers)
      , weight_(weight)
    {}

    void run(const Number *r, Number *z)
    {
      for (std::int64_t cz = 0; cz < block_.cells[2]; ++cz)
        for (std::int64_t cy = 0; cy < block_.cells[1]; ++cy)
          for (std::int64_t cx = 0; cx < block_.pitch; cx += W)
          {
            for_modes([&](int i, int j, int k, V &u) {
              u = simd::load<W>(r + block_.index(cx, cy, cz, i, j, k));
            });
            const std::int64_t row = cz * block_.cells[1] + cy;
            transform_all<true>(row, cx);
            divide(row, cx);
            transform_all<false>(row, cx);
            for_modes([&](int i, int j, int k, const V &u) {
              simd::store<W>(z + block_.index(cx, cy, cz, i, j, k), u);
            });
          }
    }

  private:
    template <typename Use>
    TENSORMG_INLINE void for_modes(const Use &use)
    {
      for (int k = 0; k < nz; ++k)
        for (int j = 0; j < n; ++j)
          for (int i = 0; i < n; ++i)
            use(i, j, k, u_[(k * n + j) * n + i]);
    }
    const C *numbers_of(std::int64_t row, int d, std::int64_t cx) const
    {
      return numbers_ + relaxation_index(block_, cell_inverse_numbers(n), row, d, 0, cx);
    }

    template <bool transposed>
    void transform_all(std::int64_t row, std::int64_t cx)
    {
      transform<transposed, 0>(numbers_of(row, 0, cx));
      transform<transposed, 1>(numbers_of(row, 1, cx));
      if constexpr (dim == 3)
        transform<transposed, 2>(numbers_of(row, 2, cx));
    }
    /// In direction d, by Q or its transpose.
    template <bool transposed, int d>
    void transform(const C *numbers)
    {
      constexpr int stride = d == 0 ? 1 : d == 1 ? n : n * n;
      V q[n * n];
      for (int m = 0; m < n * n; ++m)
        q[m] = simd::load<W>(numbers + m * block_.pitch);
      for (int line = 0; line < n * nz; ++line)
      {
        V *u = u_ + (d == 0 ? line * n : d == 1 ? line / n * n * n + line % n : line);
        V result[n];
        for (int i = 0; i < n; ++i)
        {
          V sum{};
#pragma GCC unroll 9
          for (int m = 0; m < n; ++m)
            sum += (transposed ? q[m * n + i] : q[i * n + m]) * u[m * stride];
          result[i] = sum;
        }
        for (int i = 0; i < n; ++i)
          u[i * stride] = result[i];
      }
    }

    void divide(std::int64_t row, std::int64_t cx)
    {
      V mu[dim][n];
      for (int d = 0; d < dim; ++d)
        for (int i = 0; i < n; ++i)
          mu[d][i] = simd::load<W>(numbers_of(row, d, cx) + (n * n + i) * block_.pitch);
      for_modes([&](int i, int j, int k, V &u) {
        V sum = mu[0][i] + mu[1][j];
        if constexpr (dim == 3)
          sum += mu[2][k];
        u = weight_ * u / sum;
      });
    }

    const Block &block_;
    const C *numbers_;
    C weight_;
    V u_[n * n * nz];
  };
} // namespace

template <typename Number>
void apply_separable_inverse(
    const Block &block, const Compute<Number> *numbers, double weight, const Number *r, Number *z)
{
  by_degree<1, max_degree>(block.degree(), [&](auto degree) {
    constexpr int n = degree.value + 1;
    const auto factor = static_cast<Compute<Number>>(weight);
    if (block.dim == 2)
      SeparableInverse<2, n, Number>(block, numbers, factor).run(r, z);
    else
      SeparableInverse<3, n, Number>(block, numbers, factor).run(r, z);
  });
}

template void apply_separable_inverse(
    const Block &, const double *, double, const double *, double *);
template void apply_separable_inverse(const Block &, const float *, double, const float *, float *);
template void apply_separable_inverse(const Block &, const float *, double, const Half *, Half *);
} // namespace tensormg::laplace
