#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "kernels/core/simd.h"
#include "kernels/laplace/cellwise/relaxation.h"
#include "kernels/laplace/dispatch.h"

extern "C" void dsyev_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda,
    double *w, double *work, const int *lwork, int *info);

namespace tensormg::laplace
{
template <typename C>
CellBases<C>::CellBases(const CellBasis &basis)
  : n(basis.n)
  , vectors(static_cast<std::size_t>(count * count * n * n))
  , quotients(static_cast<std::size_t>(count * count * 3 * n))
{
  const auto lower_value = [&](int i) { return i % 2 == 0 ? basis.v[i] : -basis.v[i]; };
  std::vector<double> matrix(static_cast<std::size_t>(n * n)), values(matrix.size());
  std::array<double, 3 * max_n + 64> work{};
  const int lwork = static_cast<int>(work.size());
  for (int pair = 0; pair < count * count; ++pair)
  {
    const double lower = basis.penalty * (std::ldexp(1., pair / count + least) - 1.),
                 upper = basis.penalty * (std::ldexp(1., pair % count + least) - 1.);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        matrix[i * n + j] = (i == j ? basis.lambda[i] : 0.) +
            lower * lower_value(i) * lower_value(j) + upper * basis.v[i] * basis.v[j];
    int info = 0;
    dsyev_("V", "U", &n, matrix.data(), &n, values.data(), work.data(), &lwork, &info);
    if (info != 0)
      throw std::runtime_error("dsyev failed on the block of a cell");
    for (int q = 0; q < n; ++q)
    {
      double own = 0., at_lower = 0., at_upper = 0.;
      for (int i = 0; i < n; ++i)
      {
        const double entry = matrix[q * n + i]; // column-major: eigenvector q
        vectors[(pair * n + i) * n + q] = static_cast<C>(entry);
        own += basis.lambda[i] * entry * entry;
        at_lower += lower_value(i) * entry;
        at_upper += basis.v[i] * entry;
      }
      quotients[(pair * 3 + 0) * n + q] = static_cast<C>(own);
      quotients[(pair * 3 + 1) * n + q] = static_cast<C>(at_lower * at_lower);
      quotients[(pair * 3 + 2) * n + q] = static_cast<C>(at_upper * at_upper);
    }
  }
}

template <typename C>
int CellBases<C>::pair(double c, double lower, double upper)
{
  const auto exponent = [&](double other) {
    const int rounded = static_cast<int>(std::lround(std::log2(0.5 * (1. + other / c))));
    return std::clamp(rounded, least, most) - least;
  };
  return exponent(lower) * count + exponent(upper);
}

template struct CellBases<double>;
template struct CellBases<float>;

namespace
{
  /// W neighbouring cells at a time, whose matrices lie side by side.
  template <int dim, int n, typename Number>
  class CellInverse
  {
    using C = Compute<Number>;
    static constexpr int W = simd::native_width<C> < 8 ? simd::native_width<C> : 8;
    static constexpr int nz = dim == 3 ? n : 1;
    using V = simd::Vec<C, W>;

  public:
    CellInverse(const Block &block, const CellNumbers<C> &cells, const CellBases<C> &bases,
        C penalty, C weight)
      : block_(block)
      , cells_(cells)
      , bases_(bases)
      , half_penalty_(penalty / 2)
      , weight_(weight)
    {}

    void run(const Number *r, Number *z)
    {
      for (std::int64_t cz = 0; cz < block_.cells[2]; ++cz)
        for (std::int64_t cy = 0; cy < block_.cells[1]; ++cy)
          for (std::int64_t cx = 0; cx < block_.pitch; cx += W)
          {
            const std::int64_t first = cx + cy * cells_.row + cz * cells_.plane;
            const std::array<std::int64_t, 3> cell{cx, cy, cz};
            for (int d = 0; d < dim; ++d)
              set_direction(d, first, cell);
            const V reaction = simd::load<W>(cells_.reaction + first);
            for (int k = 0; k < nz; ++k)
              for (int j = 0; j < n; ++j)
                for (int i = 0; i < n; ++i)
                  u_[(k * n + j) * n + i] = simd::load<W>(r + block_.index(cx, cy, cz, i, j, k));
            transform_all<true>();
            divide(reaction);
            transform_all<false>();
            for (int k = 0; k < nz; ++k)
              for (int j = 0; j < n; ++j)
                for (int i = 0; i < n; ++i)
                  simd::store<W>(z + block_.index(cx, cy, cz, i, j, k), u_[(k * n + j) * n + i]);
          }
    }

  private:
    /// Matrices and eigenvalues of the cells in direction d.
    void set_direction(int d, std::int64_t first, const std::array<std::int64_t, 3> &cell)
    {
      const C *c = cells_.c[d] + first, *jump = cells_.jump[d] + first;
      const std::int64_t step = cells_.stride(d);
      is_diagonal_[d] = true;
      for (int lane = 0; lane < W; ++lane)
      {
        const std::int64_t at = cell[d] + (d == 0 ? lane : 0);
        const C own = c[lane];
        const C lower = c[lane - step] + (at == 0 ? of_kappa(own, jump[lane - step]) : C(0));
        const C upper =
            c[lane + step] + (at == block_.cells[d] - 1 ? of_kappa(own, jump[lane + step]) : C(0));
        is_diagonal_[d] = is_diagonal_[d] && own == lower && own == upper;
        const int pair = own == lower && own == upper
            ? CellBases<C>::count * -CellBases<C>::least - CellBases<C>::least
            : CellBases<C>::pair(own, lower, upper);
        const C *vectors = bases_.vectors_of(pair), *quotients = bases_.quotients_of(pair);
        for (int m = 0; m < n * n; ++m)
          q_[d][m][lane] = vectors[m];
        for (int i = 0; i < n; ++i)
          mu_[d][i][lane] = own * quotients[i] +
              half_penalty_ *
                  ((lower - own) * quotients[n + i] + (upper - own) * quotients[2 * n + i]);
      }
    }

    /// How much more the neighbour's number would have to be for what a Robin side adds.
    C of_kappa(C own, C kappa) const { return own * kappa / half_penalty_; }

    template <bool transposed>
    void transform_all()
    {
      transform<transposed, 0>();
      transform<transposed, 1>();
      if constexpr (dim == 3)
        transform<transposed, 2>();
    }
    /// In direction d.
    template <bool transposed, int d>
    void transform()
    {
      if (is_diagonal_[d])
        return;
      constexpr int stride = d == 0 ? 1 : d == 1 ? n : n * n;
      constexpr int lines = n * nz;
      for (int line = 0; line < lines; ++line)
      {
        V *u = u_ + (d == 0 ? line * n : d == 1 ? line / n * n * n + line % n : line);
        V result[n];
        for (int i = 0; i < n; ++i)
        {
          V sum{};
#pragma GCC unroll 9
          for (int m = 0; m < n; ++m)
            sum += (transposed ? q_[d][m * n + i] : q_[d][i * n + m]) * u[m * stride];
          result[i] = sum;
        }
        for (int i = 0; i < n; ++i)
          u[i * stride] = result[i];
      }
    }

    void divide(V reaction)
    {
      for (int k = 0; k < nz; ++k)
        for (int j = 0; j < n; ++j)
          for (int i = 0; i < n; ++i)
          {
            V sum = mu_[0][i] + mu_[1][j] + reaction;
            if constexpr (dim == 3)
              sum += mu_[2][k];
            V &u = u_[(k * n + j) * n + i];
            u = weight_ * u / sum;
          }
    }

    const Block &block_;
    const CellNumbers<C> &cells_;
    const CellBases<C> &bases_;
    C half_penalty_, weight_;
    std::array<bool, 3> is_diagonal_{};
    V q_[dim][n * n];
    V mu_[dim][n];
    V u_[n * n * nz];
  };
} // namespace

template <typename Number>
void apply_cell_inverse(const Block &block, const CellBasis &basis,
    const CellNumbers<Compute<Number>> &cells, const CellBases<Compute<Number>> &bases,
    double weight, const Number *r, Number *z)
{
  using C = Compute<Number>;
  by_degree<1, max_degree>(block.degree(), [&](auto degree) {
    constexpr int n = degree.value + 1;
    const C penalty = static_cast<C>(basis.penalty), factor = static_cast<C>(weight);
    if (block.dim == 2)
      CellInverse<2, n, Number>(block, cells, bases, penalty, factor).run(r, z);
    else
      CellInverse<3, n, Number>(block, cells, bases, penalty, factor).run(r, z);
  });
}

template void apply_cell_inverse(const Block &, const CellBasis &, const CellNumbers<double> &,
    const CellBases<double> &, double, const double *, double *);
template void apply_cell_inverse(const Block &, const CellBasis &, const CellNumbers<float> &,
    const CellBases<float> &, double, const float *, float *);
template void apply_cell_inverse(const Block &, const CellBasis &, const CellNumbers<float> &,
    const CellBases<float> &, double, const Half *, Half *);
} // namespace tensormg::laplace
