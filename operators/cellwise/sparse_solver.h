// Symmetric sparse systems of a coarsest level, by the solver that suits their size.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "operators/cellwise/cholesky.h"
#include "operators/cellwise/vertex_amg.h"
#include "operators/cellwise/vertex_hierarchy.h"

namespace tensormg
{
enum class SparseMethod
{
  dense,              ///< Cholesky
  direct,             ///< UMFPACK
  algebraic,          ///< V-cycles of Trilinos ML, or conjugate gradients with them
  conjugate_gradients ///< with the diagonal, where deal.II has neither of these libraries
};
/// "sparse direct solver"
std::string to_text(SparseMethod method);

/// For a matrix with one unknown per vertex of a mesh of cells.
SparseMethod sparse_method(std::int64_t unknowns, int dim);

/// x = C b, C = A^-1 or, of V-cycles, an approximation: symmetric and the same each time. For a matrix whose coefficients jump conjugate gradients with V-cycles go
/// to an accuracy (vertex_amg.h), since fixed ones may do little there: C then is symmetric and linear up to it, 3 per cent. Where constants are in the kernel, b is first
/// freed of its mean, and x has none.
class SparseSolver
{
public:
  /// Entries of the same place are summed. Throws std::runtime_error: A is not positive definite (dense) or its factors take too much
  /// memory; std::logic_error: a library that is not there.
  SparseSolver(
      SparseRows matrix, SparseMethod method, bool is_singular, bool coefficients_jump = false);
  ~SparseSolver();
  SparseSolver(SparseSolver &&) noexcept;
  SparseSolver &operator=(SparseSolver &&) noexcept;

  /// b is lost.
  void solve(std::vector<double> &x, std::vector<double> &b);

  /// About what a solver with so many unknowns holds.
  static double bytes(std::int64_t unknowns, int dim);

private:
  void iterate(std::vector<double> &x, std::vector<double> &b) const;

  SparseMethod method_;
  bool is_singular_, coefficients_jump_;
  SparseRows matrix_; ///< of conjugate gradients
  std::vector<double> inverse_diagonal_;
  Cholesky factor_;
  std::optional<VertexAmg> amg_;
  struct Direct;
  std::unique_ptr<Direct> direct_;
};
} // namespace tensormg
