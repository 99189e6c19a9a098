// The choices of a solve, as plain data; the parameter file fills them.
#pragma once

#include <cstdint>

namespace tensormg
{
enum class Precision : std::uint8_t
{
  automatic, ///< "auto": single, or double where single holds too little (operators/constant/level_choices.h)
  double_precision, ///< "double"
  single_precision, ///< "single"
  tf32_precision,   ///< "tf32": as single, but smoothing steps in TF32, on tensor cores
  half_precision, ///< "half": binary16 storage, float arithmetic; on tensor cores smoothing steps round weights to FP16
  /// "2xfp16": as half, but smoothing steps have weights in two parts (error-corrected), as residuals have; on tensor cores
  corrected_half_precision
};

constexpr const char *to_string(Precision precision)
{
  switch (precision)
  {
    case Precision::automatic:
      return "auto";
    case Precision::double_precision:
      return "double";
    case Precision::single_precision:
      return "single";
    case Precision::tf32_precision:
      return "tf32";
    case Precision::half_precision:
      return "half";
    case Precision::corrected_half_precision:
      return "2xfp16";
  }
  return "unknown";
}

/// Of the cycle's vectors; of an automatic one that nobody has chosen yet, those of single.
constexpr int bytes_per_number(Precision precision)
{
  switch (precision)
  {
    case Precision::double_precision:
      return 8;
    case Precision::automatic:
    case Precision::single_precision:
    case Precision::tf32_precision:
      return 4;
    case Precision::half_precision:
    case Precision::corrected_half_precision:
      return 2;
  }
  return 0;
}

/// Whether smoothing steps are in an arithmetic of tensor cores alone.
constexpr bool takes_tensor_cores(Precision precision)
{
  return precision == Precision::tf32_precision || precision == Precision::corrected_half_precision;
}

enum class OuterSolver : std::uint8_t
{
  fgmres,
  cg,
  direct ///< global fast diagonalisation, no iteration
};

enum class Cycle : std::uint8_t
{
  v,
  w
};

enum class Smoother : std::uint8_t
{
  chebyshev,
  patch,
  jacobi
};

enum class ChebyshevKind : std::uint8_t
{
  first,
  fourth
};

enum class SchwarzKind : std::uint8_t
{
  multiplicative,
  additive
};

/// What lies below the finest level where cells have coefficients of their own.
enum class Coarsening : std::uint8_t
{
  automatic, ///< "auto": by the numbers of the cells (operators/multigrid/coarsening_choice.h)
  cells,     ///< "cells": elements on coarser cells
  vertices, ///< "vertices": linear elements on the same cells, smoothing by inverses of cells, and of lines where directions are strong
  vertices_and_lines, ///< "vertices_and_lines": likewise, with lines in every direction, and algebraic multigrid if it is available
  fast_diagonalisation ///< "fast_diagonalisation": nothing, the whole grid is solved at once; where K is a product of functions of x, y, z
};

/// What the smoother inverts on curved cells in place of the operator.
enum class Relaxation : std::uint8_t
{
  automatic,      ///< "auto": by the metric of the cells (operators/curved/relaxation.h)
  diagonal,       ///< "diagonal": the diagonal of the operator
  cells,          ///< "cells": each cell by fast diagonalisation
  lines,          ///< "lines": rows of cells, in all directions
  cells_and_lines ///< "cells_and_lines": the mean of both
};

/// The operator of the cycle on curved cells.
enum class CycleOperator : std::uint8_t
{
  automatic,   ///< "auto": by how the metric varies in cells (operators/cellmean/operator_choice.h)
  true_metric, ///< "true_metric": that of the system, with the metric at points
  cell_mean    ///< "cell_mean": with the mean of the metric of each cell
};

struct MultigridOptions
{
  Precision precision = Precision::automatic;
  Cycle cycle = Cycle::v;
  Smoother smoother = Smoother::chebyshev;
  Coarsening coarsening = Coarsening::automatic;
  Relaxation relaxation = Relaxation::automatic;           ///< of curved cells
  CycleOperator cycle_operator = CycleOperator::automatic; ///< likewise; "operator"
  ChebyshevKind chebyshev_kind = ChebyshevKind::fourth;
  int degree = 4;               ///< Chebyshev degree, or number of Jacobi / patch sweeps
  double smoothing_range = 15.; ///< first kind: [lmax / range, lmax]
  int eigenvalue_steps =
      12; ///< Lanczos steps for lambda_max; on vertices of curved cells at least 20
  double eigenvalue_safety = 1.05; ///< factor on the estimate
  SchwarzKind schwarz_kind = SchwarzKind::multiplicative;
  double damping = 0.; ///< jacobi, additive patch; 0: from the eigenvalue estimate
  int replicated_dofs =
      1 << 21;           ///< several GPUs: levels of at most so many unknowns lie on each of them
  int single_levels = 0; ///< half, 2xfp16, tf32: so many of the coarsest levels are in single
  /// half, 2xfp16, tf32: a solve that leaves its range starts again with the level where that was, and those below, in single
  bool precision_fallback = true;

  /// Whether the numbers of the cycle, or of its products, are shorter than those of single.
  bool is_below_single() const
  {
    return precision == Precision::half_precision || takes_tensor_cores(precision);
  }
  bool falls_back_to_single() const { return precision_fallback && is_below_single(); }
};

/// Numbers of the basis of fgmres, of the residuals and directions of cg.
enum class BasisPrecision : std::uint8_t
{
  automatic, ///< "auto": double for a cycle in double, else single
  double_precision,
  single_precision
};

struct SolverOptions
{
  OuterSolver solver = OuterSolver::fgmres;
  double tolerance = 1e-8; ///< on the residual relative to the right-hand side
  int max_iterations = 100;
  int restart = 10; ///< fgmres: most vectors of a basis; docs/solver.md says why so many
  BasisPrecision basis_precision = BasisPrecision::automatic;
  bool full_multigrid = false;   ///< start value by full multigrid
  int full_multigrid_cycles = 2; ///< per level
  MultigridOptions multigrid;

  /// Whether the vectors of the outer method but solution and right-hand side are in FP32.
  bool has_single_basis() const
  {
    return basis_precision == BasisPrecision::single_precision ||
        (basis_precision == BasisPrecision::automatic &&
            multigrid.precision != Precision::double_precision);
  }
};
} // namespace tensormg
