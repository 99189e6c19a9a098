// Weights, scratch memory and tile shape of the `cpu` backend.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/laplace/laplace.h"

namespace tensormg::laplace
{
/// The tables of CellBasis in the compute type, multiplied by the direction factors.
template <int dim, int n, Form form, typename C>
struct CpuWeights
{
  static constexpr int nz = dim == 3 ? n : 1;
  std::array<C, n> v{}, h{};                  ///< trace weights
  std::array<std::array<C, n>, 3> vd{}, gd{}; ///< c_d v, c_d g
  std::array<C, n * n * nz> diagonal{}; ///< c_x l_i + c_y l_j + c_z l_k; chebyshev: alpha / that
  C own{};                              ///< chebyshev: factor 1 + theta - alpha of src
  C theta{};                            ///< chebyshev

  template <typename Number>
  explicit CpuWeights(const Arguments<Number> &a)
  {
    const CellBasis &basis = *a.basis;
    for (int m = 0; m < n; ++m)
    {
      v[m] = static_cast<C>(basis.v[m]);
      h[m] = static_cast<C>(basis.h[m]);
      for (int d = 0; d < dim; ++d)
      {
        vd[d][m] = static_cast<C>(a.factor[d] * basis.v[m]);
        gd[d][m] = static_cast<C>(a.factor[d] * basis.g[m]);
      }
    }
    for (int k = 0; k < nz; ++k)
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i)
        {
          double value = a.factor[0] * basis.lambda[i] + a.factor[1] * basis.lambda[j];
          if (dim == 3)
            value += a.factor[2] * basis.lambda[k];
          diagonal[(k * n + j) * n + i] =
              static_cast<C>(form == Form::chebyshev ? a.alpha / value : value);
        }
    own = static_cast<C>(1. + a.theta - a.alpha);
    theta = static_cast<C>(a.theta);
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
