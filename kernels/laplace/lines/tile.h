// The tile of the line kernel (kernel.cuh) and where it lies in shared memory.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/core/half.h"
#include "kernels/core/shared_memory_limit.h"
#include "kernels/tensor/arithmetic.h"

namespace tensormg::laplace
{
using tensor::Arithmetic;

/// What is multiplied lies in shared memory as.
template <Arithmetic arithmetic>
using StorageOf = std::conditional_t<arithmetic == Arithmetic::fp64, double,
    std::conditional_t<arithmetic == Arithmetic::fp32 || arithmetic == Arithmetic::tf32, float,
        Half>>;

/// Whether operands of its products are in FP16.
constexpr bool multiplies_halves(Arithmetic arithmetic)
{
  return arithmetic == Arithmetic::fp16 || arithmetic == Arithmetic::fp16x2;
}

/// A tile has `groups` times 8 cells in x, `rows` cells in y and one in z. Strides, in numbers:
///   u     [rows + 2 rows of cells][mode k][mode j][mode i][8 groups cells]   one row of cells below and above
///   sums  [rows][k][j][i][8 groups]                                          of the directions so far
/// A line of cells ends with padding, which keeps the cells left and right of the tile: the right one behind the
/// last cell, the left one in front of the first, i.e. in the last padding of the line before.
///
/// A warp reads and writes four modes t and eight cells g at a time. Strides are `spread` such that these lie in
/// different banks, whatever the direction of the modes: odd multiples of 4 doubles, or of 8 smaller numbers.
struct LinesLayout
{
  int n = 2, dim = 3;
  int number_bytes = 8, sum_bytes = 8;
  int groups = 1, rows = 1;
  bool spreads =
      true; ///< otherwise strides are as short as copies of 16 bytes allow, and banks conflict

  struct Strides
  {
    int x = 0, y = 0, z = 0; ///< from mode to mode
    int row = 0;             ///< from a row of cells to the next

    constexpr int of(int direction) const { return direction == 0 ? x : direction == 1 ? y : z; }
    /// Of the modes of the lines along `direction`, the faster one first.
    constexpr int faster(int direction) const { return direction == 0 ? y : x; }
    constexpr int slower(int direction) const { return direction == 2 ? y : z; }
  };

  static constexpr int spread(int stride, int bytes)
  {
    const int unit = bytes == 8 ? 4 : 8;
    return (stride - unit + 2 * unit - 1) / (2 * unit) * 2 * unit + unit;
  }
  constexpr Strides strides(int line, int bytes) const
  {
    const auto place = [&](int stride) {
      const int piece = 16 / bytes;
      return spreads ? spread(stride, bytes) : (stride + piece - 1) / piece * piece;
    };
    Strides s;
    s.x = place(line);
    s.y = place(n * s.x);
    s.z = place(n * s.y);
    s.row = dim == 3 ? place(n * s.z) : s.z;
    return s;
  }

  constexpr int cells() const { return 8 * groups; }
  constexpr int nz() const { return dim == 3 ? n : 1; }
  constexpr int lines() const { return n * nz(); } ///< of a cell, in one direction
  /// The sums take the place of the row below, which the tile's only row has read first.
  constexpr bool in_place() const { return rows == 1 && number_bytes == sum_bytes; }

  constexpr Strides u() const { return strides(cells() + 2, number_bytes); }
  constexpr Strides sums() const { return in_place() ? u() : strides(cells(), sum_bytes); }

  constexpr int u_bytes() const { return (rows + 2) * u().row * number_bytes; }
  constexpr int sums_at() const { return in_place() ? 0 : align(u_bytes()); }
  constexpr int diagonal_at() const
  {
    return in_place() ? align(u_bytes()) : sums_at() + align(rows * sums().row * sum_bytes);
  }
  /// Of what the products need for themselves.
  constexpr int scratch_at() const { return diagonal_at() + align(lines() * n * sum_bytes); }

  static constexpr int align(int bytes) { return (bytes + 127) / 128 * 128; }

  /// Numbers that are read from the L2 cache per degree of freedom: neighbours in y, whole sectors in x, and the
  /// layers below and above.
  constexpr double reads() const
  {
    return 1. + 64. / (cells() * number_bytes) + 2. / rows + (dim == 3 ? 2. : 0.);
  }
};

/// How the lines of a direction are dealt to the warps, in products of `strips` times 8 cells: side by side
/// (`groups`) as far as the tile is wide, the rest further lines. A unit has `columns` times these cells and a chunk
/// of the n lines that differ in the faster mode, so that addresses in it differ by constants.
struct LinesUnits
{
  int groups = 1, columns = 1;
  int lines = 1, chunks = 1;
  int slower = 1; ///< lines that differ in the slower mode

  constexpr int of_row() const { return columns * chunks * slower; }
};

constexpr LinesUnits best_units(const LinesLayout &layout, int strips, int warps)
{
  LinesUnits best;
  int least = 0;
  for (int lines = layout.n; lines > 0; --lines)
  {
    if (layout.n % lines != 0)
      continue;
    LinesUnits u;
    u.groups = strips < layout.groups ? strips : layout.groups;
    u.columns = layout.groups / u.groups;
    u.lines = lines;
    u.chunks = layout.n / lines;
    u.slower = layout.nz();
    // Products one after the other, in halves, and as much as one for each unit.
    const int products = (lines + strips / u.groups - 1) / (strips / u.groups);
    const int rounds = (layout.rows * u.of_row() + warps - 1) / warps;
    const int time = rounds * (2 * products + 1);
    if (least == 0 || time < least)
    {
      best = u;
      least = time;
    }
  }
  return best;
}

/// The tiles in the order of the blocks: along z first, in chunks of layers, then x, then y.
struct LinesGrid
{
  int tiles_x = 1, tiles_y = 1, layers = 1;
  int chunk = 1;       ///< layers
  int first_layer = 0; ///< of them

  struct Place
  {
    int x, y, z;
  };
  constexpr std::int64_t blocks() const { return std::int64_t(tiles_x) * tiles_y * layers; }
  constexpr Place place(int block) const
  {
    const int of_chunk = chunk * tiles_x * tiles_y;
    const int first = block / of_chunk * chunk, rest = block % of_chunk;
    const int deep = layers - first < chunk ? layers - first : chunk, tile = rest / deep;
    return {tile % tiles_x, tile / tiles_x, first_layer + first + rest % deep};
  }
};

/// Shared memory of a block of which two are resident, and of one alone, less 1 KiB.
inline constexpr int half_of_shared_memory = shared_memory_limit::of_two_blocks;
inline constexpr int all_of_shared_memory = shared_memory_limit::of_block - 1024;

/// The layout that reads least within `bytes`; groups = 0 if there is none.
constexpr LinesLayout best_layout(
    int n, int dim, int number_bytes, int sum_bytes, int bytes, bool spreads = true)
{
  LinesLayout best{n, dim, number_bytes, sum_bytes, 0, 0, spreads};
  for (int groups = 1; groups <= 8; groups *= 2)
    for (int rows = 1; rows <= 8; rows *= 2)
    {
      const LinesLayout l{n, dim, number_bytes, sum_bytes, groups, rows, spreads};
      if (l.scratch_at() <= bytes && (best.groups == 0 || l.reads() < best.reads()))
        best = l;
    }
  return best;
}

/// `Product` (mma.cuh, wmma.cuh, cuda.cuh) multiplies; it needs Product::scratch(warps) bytes. Vectors of `Number_` are
/// converted to what it multiplies on their way into shared memory.
template <typename Product_, int dim_, typename Number_ = StorageOf<Product_::arithmetic>>
struct LinesTile
{
  using Product = Product_;
  static constexpr Arithmetic arithmetic = Product::arithmetic;
  using Number = Number_;
  using Shared = StorageOf<arithmetic>;
  using C = Compute<Number>;
  static_assert(std::is_same_v<C, Compute<Shared>>);
  static constexpr int n = Product::n;
  static constexpr int dim = dim_;

private:
  static constexpr int number_bytes = int(sizeof(Shared)), sum_bytes = int(sizeof(C));
  static constexpr LinesLayout shared_layout =
      best_layout(n, dim, number_bytes, sum_bytes, half_of_shared_memory - Product::scratch(8));
  static constexpr LinesLayout alone(int bytes, bool spreads)
  {
    return best_layout(
        n, dim, number_bytes, sum_bytes, bytes - Product::scratch(Product::warps_alone), spreads);
  }
  static constexpr LinesLayout spread_layout = alone(all_of_shared_memory, true);
  static constexpr LinesLayout dense_layout = alone(all_of_shared_memory, false);
  /// Where nothing fits, as on compute capability 9.0: such a launch is refused (resident_blocks()).
  static constexpr LinesLayout lone_layout = spread_layout.groups > 0 ? spread_layout
      : dense_layout.groups > 0                                       ? dense_layout
                                : alone(shared_memory_limit::of_block_on_90 - 1024, true);

public:
  /// That are resident at once: two, unless the tiles that fit then read too much.
  static constexpr int blocks = shared_layout.groups > 0 &&
          shared_layout.reads() <= 1.25 * lone_layout.reads()
      ? 2
      : 1;
  static constexpr int warps = blocks == 2 ? 8 : Product::warps_alone;
  static constexpr int threads = 32 * warps;
  static constexpr LinesLayout layout = blocks == 2 ? shared_layout : lone_layout;
  static_assert(layout.groups > 0, "no tile fits into shared memory");
  static constexpr LinesUnits units(int strips) { return best_units(layout, strips, warps); }
  static constexpr int shared_bytes = layout.scratch_at() + Product::scratch(warps);

  /// u written, read for the diagonal and twice per direction but z; sums written, changed (3D), read; the table
  /// of diagonal entries read.
  static constexpr double shared_bytes_per_dof =
      number_bytes * (1. + 2. / layout.rows + 1. + 4.) + sum_bytes * (dim == 3 ? 5. : 3.);
};
} // namespace tensormg::laplace
