// A cycle of two levels for coefficients that jump and cells that are stretched: elements, and vertices of the same cells.
#pragma once

#include <type_traits>
#include <vector>

#include "operators/cellwise/vertex_correction.h"
#include "operators/multigrid/cells_and_lines.h"
#include "operators/multigrid/coarsening_choice.h"
#include "solvers/chebyshev.h"
#include "solvers/smoother.h"

namespace tensormg
{
/// x = the result of one cycle from zero: smoothing steps of Chebyshev type for S B; a V-cycle of black-box or algebraic multigrid on
/// linear elements, which are continuous but for split vertices; the smoothing steps again. Symmetric, with algebraic multigrid up to
/// its accuracy (vertex_amg.h).
template <typename Number, typename Context = HostContext>
class VertexCycle : public CoarseSolverBase<typename Context::template Vector<Number>>
{
public:
  using VectorType = typename Context::template Vector<Number>;

  /// `level`, whose cells have numbers, and `basis` must outlive the object.
  VertexCycle(const LevelGrid &level, const CellBasis &basis, laplace::Backend backend,
      const Problem &problem, const MultigridOptions &options, const CoarseningChoice &choice,
      const Context &context = {});

  void update() override;
  void solve(VectorType &x, const VectorType &b) override;
  /// Upper bound of the spectrum of S B.
  double lambda_max() const { return lambda_max_; }

  static std::int64_t bytes(const LevelGrid &level, const CoarseningChoice &choice);

private:
  using Correction =
      std::conditional_t<Context::on_device, DeviceVertexCorrection, VertexCorrection>;
  void smooth(VectorType &x, const VectorType &b, bool zero_start);
  void choose_steps();
  void set_zero(VectorType &x) const;

  const LevelGrid &level_;
  const CellBasis &basis_;
  laplace::Backend backend_;
  MultigridOptions options_;
  CoarseningChoice choice_;
  Context context_;
  CellsAndLines<Number, Context> relaxation_;
  double lambda_max_ = 0.;
  std::vector<ThreeTermStep> steps_;
  Correction vertices_;
  VectorType r_, old_;
};
} // namespace tensormg
