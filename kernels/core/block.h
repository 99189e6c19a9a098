// The cells of one rank on one level, and where a degree of freedom lies in memory.
#pragma once

#include <array>
#include <cstdint>

namespace tensormg
{
/// How one side of a block is closed.
enum class Side : std::uint8_t
{
  dirichlet, ///< weak Dirichlet, homogeneous: ghost trace (V, D) = (-V, D) of the own line
  neumann,   ///< homogeneous Neumann: ghost trace (V, D) = (V, -D) of the own line
  wrap,      ///< periodic inside this block: the trace of the opposite side (direction x only)
  ghost      ///< the trace lies in a ghost buffer: neighbouring rank, or periodic in y and z
};

/// Behind a closed side lies the reflection of the own line.
constexpr bool is_closed(Side side) { return side == Side::dirichlet || side == Side::neumann; }
/// Of the reflection at a closed side: odd (V, D) -> (-V, D), otherwise even (V, D) -> (V, -D). The one place where the kinds of
/// closed sides differ for a kernel.
constexpr bool reflects_odd(Side side) { return side == Side::dirichlet; }
/// Factor of the value in the reflection at a closed side; that of the derivative is its negative.
template <typename C>
constexpr C value_reflection(Side side)
{
  return reflects_odd(side) ? C(-1) : C(1);
}

inline constexpr int max_degree = 8;
inline constexpr int max_n = max_degree + 1;

/// Rows of x are padded to a multiple of this many cells at least, so that every row starts aligned.
inline constexpr std::int64_t row_granularity = 8;

/// Cells of a row with its padding. In 2D, where rows are long, it starts at a line of 128 bytes even of half-precision numbers, or
/// at half or a quarter of one, as far as that takes at most a 32nd more: on a GPU reading across lines costs up to a fifth of
/// the bandwidth. Rows are not padded to whole pages: on a CPU those of all modes would meet in the same places of the first
/// cache (docs/kernels.md).
constexpr std::int64_t padded_cells(int dim, std::int64_t cells)
{
  constexpr std::int64_t line = 64, page = 512, most_part = 32;
  const auto padded = [&](std::int64_t to) { return (cells + to - 1) / to * to; };
  const std::int64_t least = padded(row_granularity);
  if (dim == 2)
    for (std::int64_t to = line; to > row_granularity; to /= 2)
      if ((padded(to) - cells) * most_part <= cells &&
          (padded(to) == least || padded(to) % page != 0))
        return padded(to);
  return least;
}

/// A Cartesian block of cells with n = degree + 1 modes per direction.
///
/// Storage order (fastest index last), x mode-major so that lanes are neighbouring cells:
///   u[cz][k][cy][j][i][cx],  cx < pitch (the cells >= cells[0] are padding and hold zero),
/// where (i, j, k) are the modes in x, y, z. In 2D there is one layer with one mode: cz = k = 0.
struct Block
{
  int dim = 3;
  int n = 2;                                  ///< modes per direction, degree + 1
  std::array<std::int64_t, 3> cells{1, 1, 1}; ///< local cells; cells[2] = 1 in 2D
  std::int64_t pitch = row_granularity;       ///< padded cells per row

  constexpr Block() = default;
  constexpr Block(int dim_, int degree, std::array<std::int64_t, 3> cells_)
    : dim(dim_)
    , n(degree + 1)
    , cells(cells_)
    , pitch(padded_cells(dim_, cells_[0]))
  {}

  constexpr int degree() const { return n - 1; }
  /// Modes in z: n in 3D, 1 in 2D.
  constexpr int nz() const { return dim == 3 ? n : 1; }
  /// Numbers in one line of x: all modes of all (padded) cells.
  constexpr std::int64_t row() const { return n * pitch; }
  /// Rows of x in one plane.
  constexpr std::int64_t rows_per_plane() const { return cells[1] * n; }
  /// Numbers in one x-y plane.
  constexpr std::int64_t plane() const { return rows_per_plane() * row(); }
  /// Planes in z: all modes of all cells.
  constexpr std::int64_t planes() const { return cells[2] * nz(); }
  /// Numbers stored, padding included.
  constexpr std::int64_t size() const { return planes() * plane(); }
  constexpr std::int64_t n_cells() const { return cells[0] * cells[1] * cells[2]; }
  constexpr std::int64_t dofs_per_cell() const { return std::int64_t(n) * n * nz(); }
  /// Degrees of freedom, padding excluded.
  constexpr std::int64_t dofs() const { return n_cells() * dofs_per_cell(); }

  /// Position of mode (i, j, k) of cell (cx, cy, cz).
  constexpr std::int64_t index(
      std::int64_t cx, std::int64_t cy, std::int64_t cz, int i, int j, int k) const
  {
    return ((cz * nz() + k) * rows_per_plane() + cy * n + j) * row() + i * pitch + cx;
  }

  constexpr bool operator==(const Block &) const = default;
};
} // namespace tensormg
