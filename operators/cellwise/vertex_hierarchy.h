// Multigrid on the vertices of a box as matrices, for where its cycles are computed elsewhere.
#pragma once

#include <cstdint>
#include <vector>

namespace tensormg
{
/// A sparse matrix by rows: entries begin[i] .. begin[i + 1] - 1 are those of row i.
struct SparseRows
{
  std::vector<std::int64_t> begin{0};
  std::vector<std::int32_t> columns;
  std::vector<double> values;

  std::int64_t rows() const { return std::ssize(begin) - 1; }
  void add(std::int64_t column, double value)
  {
    columns.push_back(static_cast<std::int32_t>(column));
    values.push_back(value);
  }
  void end_row() { begin.push_back(std::ssize(columns)); }
  SparseRows transposed(std::int64_t n_columns) const;
};

/// To which conjugate gradients reduce the norm of the residual in the inner product of a cycle.
inline constexpr double vertex_accuracy = 0.03;
inline constexpr int most_vertex_iterations = 50;

/// Levels of a symmetric matrix A, finest first. Unknowns of the finest are numbered as in kernels/vertices/vertices.h.
struct VertexHierarchy
{
  struct Level
  {
    SparseRows matrix;
    SparseRows prolongation; ///< from the next level; that of the coarsest is empty
    std::vector<double> inverse_diagonal;
    double lambda_max = 0.; ///< bound of the spectrum of D^-1 A
  };

  std::vector<Level> levels;
  std::vector<double> coarsest_inverse;     ///< dense
  static constexpr int smoothing_steps = 4; ///< of Chebyshev's fourth kind on the diagonal D

  /// Adds a level by its matrix, with D and Gershgorin's bound.
  Level &add_level(SparseRows matrix);
  /// From the matrix of the last level, which is positive definite.
  void invert_coarsest();
};
} // namespace tensormg
