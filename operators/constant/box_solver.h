// Exact solution on a box by global fast diagonalisation.
#pragma once

#include <array>
#include <vector>

#include "kernels/basis/cell_basis.h"
#include "operators/constant/line_operator.h"
#include "operators/mesh/grid.h"
#include "operators/vectors/vector.h"

namespace tensormg
{
/// x = B^-1 b for the dimensionless operator B of one level: sum_d c_d L_d, or with coefficients of cells that are products of functions
/// of x, y and z that of LinePencil.
///
/// The one-dimensional problems L_d = Q_d Lambda_d Q_d', or A_d Q_d = M_d Q_d Lambda_d with Q_d' M_d Q_d = 1 (cells n x cells n, dense), are
/// solved once, then x = (Q_z Q_y Q_x) (sum_d Lambda_d)^-1 (Q_z Q_y Q_x)' b: six dense contractions by BLAS,
/// O(N^(4/3)) operations. Eigenvalues that vanish (constants, where no side is Dirichlet) get the inverse
/// zero: with one K the result has mean zero. Source: Lynch, Rice, Thomas, Numer. Math. 6 (1964).
///
/// On a distributed level every rank holds the whole vector while it solves (memory(): two vectors). In 3D each contracts a share of it.
class BoxSolver
{
public:
  /// Throws std::invalid_argument if cells have coefficients that are no such products.
  BoxSolver(const LevelGrid &level, const CellBasis &basis, const Problem &problem);

  /// Of solve(), which otherwise takes it in the first call.
  void take_memory();
  template <typename Number>
  void solve(Vector<Number> &x, const Vector<Number> &b);

  /// Bytes that solve() holds on one rank, for a level of this many cells.
  static std::int64_t memory(const Block &whole);

  /// All cells of the level.
  const Block &whole() const { return whole_; }
  /// Eigenvectors of direction d < dim: row-major, rows in storage order of the direction (x: i * pitch + cx,
  /// with zero rows for padding; y, z: cell * n + mode), one column per eigenvalue.
  const std::vector<double> &eigenvectors(int d) const { return q_[d]; }
  /// Eigenvalues, ascending; one zero for the direction that 2D lacks.
  const std::vector<double> &eigenvalues(int d) const { return eigenvalues_[d]; }

private:
  void set_direction(int d, const LineSpectrum &spectrum);
  void find_spectra(const CellBasis &basis, const Problem &problem);
  void find_pencil_spectra(const CellBasis &basis, const Problem &problem);
  template <typename Number>
  void gather(const Vector<Number> &b);
  /// Planes and rows of rank r of the level in 3D: its share of the contractions.
  std::int64_t first_plane(int r) const;
  std::int64_t first_row(int r) const;
  /// u_ on the own planes becomes u_ on the own rows of all planes, or back.
  void exchange(bool to_rows);
  /// u_ = B^-1 u_
  void solve_gathered();
  /// Row y of t_ by the sum of the eigenvalues of all directions; where that is zero the result is zero.
  void divide_row(std::int64_t y);

  const LevelGrid &level_;
  Block whole_;
  std::array<std::vector<double>, 3> q_, eigenvalues_;
  std::vector<double> u_, t_;
  int rank_ = 0, n_ranks_ = 1; ///< that share the work
};
} // namespace tensormg
