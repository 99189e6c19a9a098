// CONTRACT of the vertex-patch corrections of the SIPG Laplace operator on a Cartesian block.
//
// Formula. A patch holds the 2^dim cells around a vertex; R takes its unknowns out of a vector. For
// the patches of one colour, which have no cell in common,
//   x += damping * sum_patches R' A^+ R r,   A = R B R',
// with B = sum_d c_d L_d of kernels/laplace/laplace.h, restricted exactly: A knows of the
// neighbours outside the patch as if they were zero. A^+ is the inverse or, where A is singular,
// the pseudo-inverse. A is separable, a Kronecker sum of line matrices (N x N, Line::size()), so
// with L_d = Q_d diag(m_d) Q_d' (fast diagonalisation, N = 2n)
//   A^+ = (Q_z Q_y Q_x) (c_x m_x + c_y m_y + c_z m_z)^+ (Q_z Q_y Q_x)'.
//
// Patches. Along a direction with C cells, the patch with lower cell g has the cells g and g + 1,
// 0 <= g < C - 1; where the direction is periodic, also C - 1 and 0 (g = C - 1). With C = 1 there
// is one patch of one cell (N = n), with C = 2 one patch of both. A patch belongs to the block (the
// rank) that has its lower cell in each direction.
// Colours. Parity of g in each direction; where C is odd and periodic, the patch that wraps around
// has a third value. Patches of one colour touch at faces, so one colour is block Jacobi.
//
// Arrays. r and x: Block::size() numbers in Block's order, padding zero. The upper cell of a patch
// may lie one layer beyond the block, at local index cells[d] in y or z. Those layers are arrays of
// their own,
//   [upper_y]  Block order with cells (cells[0], 1, cells[2]), the cells y = cells[1]
//   [upper_z]  Block order with cells (cells[0], cells[1], 1), the cells z = cells[2]
//   [upper_yz] Block order with cells (cells[0], 1, 1), the cells with both,
// residuals in Number, corrections (which are added to the array) in Compute<Number>. nullptr if no
// patch reaches there.
//
// Ensures: x changes in the cells of the patches only; padding stays. Synchronous, single-threaded;
// the same input gives the same bits. Nothing is allocated per call by `cpu` beyond scratch kept by
// the calling thread. Throws std::invalid_argument for degrees that do not exist.
// In device memory: cuda.h. Oracle: reference.cc. Test: tests/kernels/patch/patch_test.cc.
// Sources: Lynch, Rice, Thomas, Numer. Math. 6 (1964) for fast diagonalisation; Witte, Arndt,
// Kanschat, Comput. Methods Appl. Math. 21 (2021) for its use in vertex patches of the SIPG method.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/basis/cell_basis.h"
#include "kernels/core/block.h"
#include "kernels/core/half.h"

namespace tensormg::patch
{
/// The two ends of a patch along one direction and the line matrix that follows from them.
struct LineKind
{
  /// dirichlet, neumann: that side of the domain. ghost: a cell that is not in the patch. wrap: the
  /// other end of the patch itself (periodic, at most two cells).
  Side lower = Side::ghost, upper = Side::ghost;
  std::vector<double> matrix;  ///< L, row-major N x N, unknown = cell of patch * n + mode; h = 1
  std::vector<double> vectors; ///< Q, row-major [unknown][eigenvector]
  std::vector<double> values;  ///< m, ascending; exactly zero where is_singular()

  /// True if the constants are in the kernel of L.
  bool is_singular() const { return is_free(lower) && is_free(upper); }

private:
  static bool is_free(Side side) { return side == Side::neumann || side == Side::wrap; }
};

/// What one direction contributes to a patch.
struct LinePatch
{
  std::int64_t lower; ///< local cell
  std::int64_t upper; ///< the cell above it; cells[d] is the layer beyond the block
  int kind;           ///< in Line::kinds
};

/// The patches of one block along one direction.
struct Line
{
  int n = 2;               ///< modes per cell
  int cells_per_patch = 2; ///< 1 or 2
  std::vector<LineKind> kinds;
  /// By colour, ascending; patch q of a colour has the lower cell colours[c][0].lower + 2 q. The
  /// number of colours is that of the whole direction, whatever the block has of them.
  std::vector<std::vector<LinePatch>> colours;

  int size() const { return cells_per_patch * n; } ///< N
  int n_colours() const { return static_cast<int>(colours.size()); }
};

/// A direction of the whole grid and the part of it that a block has.
struct LineRange
{
  std::int64_t global_cells = 1;
  std::int64_t offset = 0; ///< of the block's first cell
  std::int64_t cells = 1;  ///< of the block; if it has all, periodic patches wrap inside the block
  Side lower = Side::dirichlet, upper = Side::dirichlet; ///< of the grid; ghost and wrap: periodic

  bool is_periodic() const { return lower == Side::ghost || lower == Side::wrap; }
  /// Colour of the patch with this lower cell (global index), -1 if there is none.
  int colour(std::int64_t lower_cell) const;
};

/// Patches, kinds and their matrices; eigenvectors and eigenvalues are left to the caller.
Line make_line(const CellBasis &basis, const LineRange &range);

template <typename Number>
struct Arguments
{
  Block block;
  const CellBasis *basis = nullptr;
  std::array<const Line *, 3> lines{};      ///< by direction; entry 2 is not used in 2D
  std::array<double, 3> factor{1., 1., 1.}; ///< c_d
  std::array<int, 3> colour{0, 0, 0};       ///< by direction
  double damping = 1.;
  const Number *r = nullptr;
  std::array<const Number *, 3> r_upper{};    ///< upper_y, upper_z, upper_yz
  Number *x = nullptr;                        ///< must not alias r
  std::array<Compute<Number> *, 3> x_upper{}; ///< the same for the corrections
};
enum UpperLayer
{
  upper_y,
  upper_z,
  upper_yz
};

/// Dense matrix of every patch and Cholesky factors in double; takes LineKind::matrix only.
template <typename Number>
void correct_reference(const Arguments<Number> &);

/// Fast diagonalisation, SIMD over patches in x; takes LineKind::vectors and values only.
template <typename Number>
void correct_cpu(const Arguments<Number> &);

/// Floating-point operations of one sweep over all colours per degree of freedom: 2^dim patches on
/// each cell, two dense contractions per direction.
constexpr double flops_per_dof(int dim, int n)
{
  return (dim == 3 ? 8. : 4.) * (2. * dim * 2. * (2. * n) + 3.);
}

/// The numbers of one cell row (all cells in x with their modes) of a vector with its upper layers:
/// mode j of plane k starts at data + k * plane + j * Block::row(). T and U may differ in the
/// number type.
template <typename T>
struct CellRow
{
  T *data;
  std::int64_t plane;
};

/// Calls f(CellRow) for cell row (cy, cz), where cy = cells[1] or cz = cells[2] name the upper
/// layers.
template <typename T, typename U, typename Function>
void with_cell_row(const Block &block, T *own, const std::array<U *, 3> &upper, std::int64_t cy,
    std::int64_t cz, Function &&f)
{
  const std::int64_t cell_row = block.n * block.row(); // of one plane
  const bool above_y = cy == block.cells[1], above_z = cz == block.cells[2];
  if (above_y && above_z)
    f(CellRow<U>{upper[upper_yz], cell_row});
  else if (above_y)
    f(CellRow<U>{upper[upper_y] + cz * block.nz() * cell_row, cell_row});
  else if (above_z)
    f(CellRow<U>{upper[upper_z] + cy * cell_row, block.plane()});
  else
    f(CellRow<T>{own + cz * block.nz() * block.plane() + cy * cell_row, block.plane()});
}
} // namespace tensormg::patch
