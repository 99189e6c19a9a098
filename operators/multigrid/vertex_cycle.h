// A cycle of two levels for coefficients that jump and cells that are stretched: elements, and vertices of the same cells.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "kernels/laplace/cellwise/relaxation.h"
#include "operators/cellwise/vertex_amg.h"
#include "operators/cellwise/vertex_space.h"
#include "operators/constant/laplace_operator.h"
#include "operators/multigrid/coarsening_choice.h"
#include "operators/vectors/vector_space.h"
#include "solvers/chebyshev.h"
#include "solvers/smoother.h"

namespace tensormg
{
/// B of a level and S = (F + sum of L_d over the chosen directions) / (1 + their number), of the inverses F of cells and L_d of lines
/// (kernels/laplace/cellwise/relaxation.h), in the place of D^-1.
template <typename Number>
class CellsAndLines
{
public:
  using VectorType = Vector<Number>;

  CellsAndLines(const LevelGrid &level, const CellBasis &basis, laplace::Backend backend,
      const std::array<bool, 3> &lines);

  VectorType make_vector() const { return operator_.make_vector(); }
  void vmult(VectorType &y, const VectorType &x) { operator_.vmult(y, x); }
  void residual(VectorType &r, const VectorType &x, const VectorType &b)
  {
    operator_.residual(r, x, b);
  }
  void update_cells() { operator_.update_cells(); }
  /// z = factor S r
  void inverse_diagonal(VectorType &z, const VectorType &r, double factor) const;

private:
  const LevelGrid &level_;
  const CellBasis &basis_;
  LaplaceOperator<Number> operator_;
  laplace::CellBases<Compute<Number>> bases_;
  std::array<bool, 3> lines_;
};

/// x = the result of one cycle from zero: smoothing steps of Chebyshev type for S B; a V-cycle of black-box or algebraic multigrid on
/// linear elements, which are continuous but for split vertices; the smoothing steps again. Symmetric, with algebraic multigrid up to
/// its accuracy (vertex_amg.h). On the host.
template <typename Number>
class VertexCycle : public CoarseSolverBase<Vector<Number>>
{
public:
  /// `level`, whose cells have numbers, and `basis` must outlive the object.
  VertexCycle(const LevelGrid &level, const CellBasis &basis, laplace::Backend backend,
      const Problem &problem, const MultigridOptions &options, const CoarseningChoice &choice);

  void update() override;
  void solve(Vector<Number> &x, const Vector<Number> &b) override;
  /// Upper bound of the spectrum of S B.
  double lambda_max() const { return lambda_max_; }

  static std::int64_t bytes(const LevelGrid &level, bool algebraic);

private:
  void smooth(Vector<Number> &x, const Vector<Number> &b, bool zero_start);
  void choose_steps();
  void make_vertices();

  const LevelGrid &level_;
  const CellBasis &basis_;
  laplace::Backend backend_;
  MultigridOptions options_;
  std::array<bool, 3> lines_;
  bool algebraic_;
  bool is_singular_;
  VectorSpace space_;
  CellsAndLines<Number> relaxation_;
  double lambda_max_ = 0.;
  std::vector<ThreeTermStep> steps_;
  VertexSpace vertices_;
  std::optional<VertexMultigrid> multigrid_;
  std::optional<VertexAmg> amg_; ///< in its place
  Vector<Number> r_, z_, old_;
  std::vector<double> vertex_b_, vertex_x_;
};
} // namespace tensormg
