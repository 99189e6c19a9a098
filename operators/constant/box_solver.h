// Exact solution on a box by global fast diagonalisation.
#pragma once

#include <array>
#include <vector>

#include "kernels/basis/cell_basis.h"
#include "operators/mesh/grid.h"
#include "operators/vectors/vector.h"

namespace tensormg
{
/// x = B^-1 b for the dimensionless operator B = sum_d c_d L_d of one level.
///
/// The one-dimensional operators L_d = Q_d Lambda_d Q_d' (cells n x cells n, dense) are diagonalised
/// once, then x = (Q_z Q_y Q_x) (sum_d c_d Lambda_d)^-1 (Q_z Q_y Q_x)' b: six dense contractions by BLAS,
/// O(N^(4/3)) operations. Eigenvalues that vanish (constants, where no side is Dirichlet) get the inverse
/// zero: the result has mean zero. Source: Lynch, Rice, Thomas, Numer. Math. 6 (1964).
///
/// On a distributed level every rank holds the whole vector while it solves (memory(): two vectors).
class BoxSolver
{
public:
  BoxSolver(const LevelGrid &level, const CellBasis &basis, const Problem &problem);

  template <typename Number>
  void solve(Vector<Number> &x, const Vector<Number> &b);

  /// Bytes that solve() holds on one rank, for a level of this many cells.
  static std::int64_t memory(const Block &whole);

  /// All cells of the level.
  const Block &whole() const { return whole_; }
  /// Eigenvectors of direction d < dim: row-major, rows in storage order of the direction (x: i * pitch + cx,
  /// with zero rows for padding; y, z: cell * n + mode), one column per eigenvalue.
  const std::vector<double> &eigenvectors(int d) const { return q_[d]; }
  /// Eigenvalues times c_d, ascending; one zero for the direction that 2D lacks.
  const std::vector<double> &eigenvalues(int d) const { return eigenvalues_[d]; }

private:
  const LevelGrid &level_;
  Block whole_;
  std::array<std::vector<double>, 3> q_, eigenvalues_;
  std::vector<double> u_, t_;
};
} // namespace tensormg
