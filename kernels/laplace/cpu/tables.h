// Weights, scratch memory and tile shape of the `cpu` backend.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "kernels/laplace/cpu/coefficients.h"
#include "kernels/laplace/laplace.h"

namespace tensormg::laplace
{
/// The tables of CellBasis in the compute type; those for one coefficient multiplied by the direction factors.
template <int dim, int n, Form form, typename Number, typename Coefficient>
struct CpuWeights
{
  using C = Compute<Number>;
  static constexpr int nz = dim == 3 ? n : 1;
  std::array<C, n> v{}, h{}; ///< trace weights
  /// By which pairs go to modes: c_d v and c_d g, or v and h where pairs hold the coefficients.
  std::array<std::array<C, n>, 3> vd{}, gd{};
  C own{};   ///< chebyshev: factor 1 + theta - alpha of src
  C theta{}; ///< chebyshev
  C alpha{}; ///< chebyshev

  /// c_x l_i + c_y l_j + c_z l_k; chebyshev: alpha / that. Or what makes it of a cell's numbers.
  struct OneDiagonal
  {
    std::array<C, n * n * nz> numbers{};
    const C *at(int j, std::int64_t, std::int64_t, std::int64_t) const
    {
      return numbers.data() + j * n;
    }
  };
  struct CellDiagonals
  {
    CpuCellDiagonal<dim, n, C> first;
    std::int64_t row = 0, plane = 0;
    CpuCellDiagonal<dim, n, C> at(int j, std::int64_t cy, std::int64_t cz, std::int64_t x0) const
    {
      CpuCellDiagonal<dim, n, C> result = first;
      const std::int64_t offset = cy * row + cz * plane + x0;
      for (int d = 0; d < dim; ++d)
      {
        result.c[d] += offset;
        result.jump[d] += offset;
      }
      result.reaction += offset;
      result.lambda_y = first.lambda[j];
      result.square_y = first.square[j];
      return result;
    }
  };
  std::conditional_t<Coefficient::per_cell, CellDiagonals, OneDiagonal> diagonal{};

  CpuWeights(const Arguments<Number> &a, const Coefficient &coefficient)
  {
    const CellBasis &basis = *a.basis;
    for (int m = 0; m < n; ++m)
    {
      v[m] = static_cast<C>(basis.v[m]);
      h[m] = static_cast<C>(basis.h[m]);
      for (int d = 0; d < dim; ++d)
      {
        vd[d][m] = Coefficient::per_cell ? v[m] : static_cast<C>(a.factor[d] * basis.v[m]);
        gd[d][m] = Coefficient::per_cell ? h[m] : static_cast<C>(a.factor[d] * basis.g[m]);
      }
    }
    set_diagonal(a, coefficient);
    own = static_cast<C>(1. + a.theta - (Coefficient::per_cell ? 0. : a.alpha));
    theta = static_cast<C>(a.theta);
    alpha = static_cast<C>(a.alpha);
  }

private:
  void set_diagonal(const Arguments<Number> &a, const OneCoefficient<Number> &)
  {
    const CellBasis &basis = *a.basis;
    for (int k = 0; k < nz; ++k)
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i)
        {
          double value = a.factor[0] * basis.lambda[i] + a.factor[1] * basis.lambda[j];
          if (dim == 3)
            value += a.factor[2] * basis.lambda[k];
          diagonal.numbers[(k * n + j) * n + i] =
              static_cast<C>(form == Form::chebyshev ? a.alpha / value : value);
        }
  }
  void set_diagonal(const Arguments<Number> &a, const CellCoefficient<Number> &coefficient)
  {
    diagonal.first.c = coefficient.cells.c;
    diagonal.first.jump = coefficient.cells.jump;
    diagonal.first.reaction = coefficient.cells.reaction;
    diagonal.row = coefficient.cells.row;
    diagonal.plane = coefficient.cells.plane;
    for (int m = 0; m < n; ++m)
    {
      diagonal.first.lambda[m] = static_cast<C>(a.basis->lambda[m]);
      diagonal.first.square[m] = static_cast<C>(a.basis->v[m] * a.basis->v[m]);
    }
  }
};

/// Scratch memory that a thread keeps between calls; grows only.
template <typename C>
class CpuScratch
{
public:
  static CpuScratch &of_this_thread()
  {
    thread_local CpuScratch scratch;
    return scratch;
  }

  /// At least `count` zero-initialised or previously used numbers.
  C *require(std::int64_t count)
  {
    if (static_cast<std::int64_t>(memory_.size()) < count)
      memory_.assign(static_cast<std::size_t>(count), C(0));
    return memory_.data();
  }

private:
  std::vector<C> memory_;
};

/// Cells in x per chunk: src of two cells and the pairs stay in the inner caches. A multiple of 16, the
/// widest register of floats, where that many fit: then every chunk starts at a full register, and no
/// line of dst gets both streaming and plain stores. At least one register.
constexpr std::int64_t cpu_chunk_cells(int n, std::int64_t compute_bytes)
{
  constexpr std::int64_t budget = 72 << 10; // measured against 64 kB, and that against 24 and 96 kB
  const std::int64_t per_cell = (2 * n * n * n + 4 * n * n) * compute_bytes;
  return std::max<std::int64_t>(budget / per_cell / 16 * 16, 64 / compute_bytes);
}

/// The rows of the block that are in the range.
RowRange clipped(const RowRange &range, const Block &block);

/// Cell rows in y per tile of `rows` such rows: a layer of src, its carried traces and the streams stay in a cache, by the size of
/// this processor's second level, but halos (one row on each side of a tile) stay a small part of the tile.
std::int64_t tile_rows(
    const Block &block, std::int64_t rows, std::int64_t number_bytes, std::int64_t compute_bytes);

/// True if dst may go past the caches: it is aligned in every row, too large to be found in a cache, and not there
/// because it replaces old.
template <typename Number>
bool use_streaming_stores(const Arguments<Number> &a);

/// Orders streaming stores before what follows.
void streaming_fence();
} // namespace tensormg::laplace
