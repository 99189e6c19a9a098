// The oracle of patch.h: one dense matrix per kind of patch, assembled and factorised as it stands.
#include <cmath>
#include <map>

#include "kernels/core/in_double.h"
#include "kernels/patch/patch.h"

namespace tensormg::patch
{
namespace
{
  /// A^+ of a dense symmetric matrix that is definite, or singular with the given kernel.
  class DenseInverse
  {
  public:
    /// kernel: empty, or the vector w of norm 1 with A w = 0. Then A^+ = (A + w w')^-1 - w w'.
    DenseInverse(std::vector<double> matrix, std::vector<double> kernel)
      : size_(static_cast<int>(std::lround(std::sqrt(static_cast<double>(matrix.size())))))
      , a_(std::move(matrix))
      , kernel_(std::move(kernel))
    {
      if (!kernel_.empty())
        for (int i = 0; i < size_; ++i)
          for (int j = 0; j < size_; ++j)
            at(i, j) += kernel_[i] * kernel_[j];
      // Row k of the upper factor U, A = U'U.
      for (int k = 0; k < size_; ++k)
      {
        const double pivot = std::sqrt(at(k, k));
        for (int j = k; j < size_; ++j)
          at(k, j) /= pivot;
        for (int i = k + 1; i < size_; ++i)
        {
          const double factor = at(k, i);
          for (int j = i; j < size_; ++j)
            at(i, j) -= factor * at(k, j);
        }
      }
    }

    void apply(std::vector<double> &u) const
    {
      double mean = 0.;
      for (std::size_t i = 0; i < kernel_.size(); ++i)
        mean += kernel_[i] * u[i];
      for (int i = 0; i < size_; ++i)
      {
        u[i] /= a_[i * size_ + i];
        for (int j = i + 1; j < size_; ++j)
          u[j] -= a_[i * size_ + j] * u[i];
      }
      for (int i = size_ - 1; i >= 0; --i)
      {
        for (int j = i + 1; j < size_; ++j)
          u[i] -= a_[i * size_ + j] * u[j];
        u[i] /= a_[i * size_ + i];
      }
      for (std::size_t i = 0; i < kernel_.size(); ++i)
        u[i] -= mean * kernel_[i];
    }

  private:
    double &at(int i, int j) { return a_[i * size_ + j]; }

    int size_;
    std::vector<double> a_;
    std::vector<double> kernel_;
  };

  using Size = std::array<int, 3>; ///< of a patch, by direction

  /// Calls f({a, b, c}) for the unknowns of a patch in storage order: x fastest.
  template <typename Function>
  void for_each_unknown(const Size &size, Function &&f)
  {
    for (int c = 0; c < size[2]; ++c)
      for (int b = 0; b < size[1]; ++b)
        for (int a = 0; a < size[0]; ++a)
          f(std::array<int, 3>{a, b, c});
  }

  template <typename Number>
  DenseInverse make_inverse(
      const Arguments<Number> &a, const Size &size, const std::array<const LineKind *, 3> &kinds)
  {
    const int total = size[0] * size[1] * size[2];
    std::vector<double> matrix(static_cast<std::size_t>(total) * total), kernel;
    bool singular = true;
    for (int d = 0; d < a.block.dim; ++d)
      singular = singular && kinds[d]->is_singular();
    std::size_t at = 0;
    for_each_unknown(size, [&](const std::array<int, 3> &row) {
      for_each_unknown(size, [&](const std::array<int, 3> &column) {
        for (int d = 0; d < a.block.dim; ++d)
        {
          const int e = (d + 1) % 3, f = (d + 2) % 3;
          if (row[e] == column[e] && row[f] == column[f])
            matrix[at] += a.factor[d] * kinds[d]->matrix[row[d] * size[d] + column[d]];
        }
        ++at;
      });
      if (singular)
      {
        double constant = 1. / std::sqrt(double(total));
        for (int d = 0; d < a.block.dim; ++d)
          constant *= std::sqrt(double(a.block.n)) * a.basis->legendre[row[d] % a.block.n];
        kernel.push_back(constant);
      }
    });
    return DenseInverse(std::move(matrix), std::move(kernel));
  }
} // namespace

template <typename Number>
void correct_reference(const Arguments<Number> &a)
{
  const Block &block = a.block;
  const int n = block.n;
  std::array<std::vector<LinePatch>, 3> patches;
  Size size{1, 1, 1};
  for (int d = 0; d < 3; ++d)
    if (d < block.dim)
    {
      patches[d] = a.lines[d]->colours[a.colour[d]];
      size[d] = a.lines[d]->size();
    }
    else
      patches[d] = {{0, 0, 0}};
  std::map<std::array<int, 3>, DenseInverse> inverses;
  std::vector<double> u;
  for (const LinePatch &z : patches[2])
    for (const LinePatch &y : patches[1])
      for (const LinePatch &x : patches[0])
      {
        const std::array<int, 3> kind{x.kind, y.kind, z.kind};
        auto inverse = inverses.find(kind);
        if (inverse == inverses.end())
        {
          std::array<const LineKind *, 3> kinds{};
          for (int d = 0; d < block.dim; ++d)
            kinds[d] = &a.lines[d]->kinds[kind[d]];
          inverse = inverses.emplace(kind, make_inverse(a, size, kinds)).first;
        }
        // f(number) for an unknown of the patch, in the vector or one of its upper layers.
        const auto with_unknown = [&](auto *own, const auto &upper, const std::array<int, 3> &at,
                                      auto &&f) {
          const auto cell = [&](const LinePatch &p, int index) {
            return index < n ? p.lower : p.upper;
          };
          const std::int64_t cz = block.dim == 3 ? cell(z, at[2]) : 0;
          with_cell_row(block, own, upper, cell(y, at[1]), cz, [&](auto row) {
            f(row.data[(at[2] % n) * row.plane + (at[1] % n) * block.row() +
                (at[0] % n) * block.pitch + cell(x, at[0])]);
          });
        };
        u.clear();
        for_each_unknown(size, [&](const std::array<int, 3> &at) {
          with_unknown(
              a.r, a.r_upper, at, [&](const auto &number) { u.push_back(in_double(number)); });
        });
        inverse->second.apply(u);
        std::size_t next = 0;
        for_each_unknown(size, [&](const std::array<int, 3> &at) {
          with_unknown(a.x, a.x_upper, at, [&](auto &number) {
            using T = std::remove_reference_t<decltype(number)>;
            number = rounded<T>(in_double(number) + a.damping * u[next]);
          });
          ++next;
        });
      }
}

template void correct_reference(const Arguments<double> &);
template void correct_reference(const Arguments<float> &);
template void correct_reference(const Arguments<Half> &);
} // namespace tensormg::patch
