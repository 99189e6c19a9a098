// The right-hand side vector of the dimensionless system B u = b, whether it can be solved, and what an iteration starts from.
#pragma once

#include <functional>

#include "kernels/basis/cell_basis.h"
#include "operators/data/tensor_rule.h"
#include "operators/mesh/grid.h"
#include "operators/vectors/vector.h"
#include "tensormg/problem.h"

namespace tensormg
{
/// With H = grid.reference_length() and the cell's modes phi on the reference cell,
///   b_ijk = (H^2 / a) int_ref f phi_i phi_j phi_k
///         + sum over Dirichlet sides, value g, direction d:
///             (H / h_d)^2 int_side_ref g (2 sigma phi - dphi/dn) (tangential modes)
///         + sum over Neumann sides, flux q = a du/dn, and Robin sides, q = a du/dn + r u:
///             H^2 / (a h_d) int_side_ref q phi (tangential modes),
/// where cells have coefficients K_d of their own the second times K_d / a; of graded cells h and M are mean sizes and volumes, and the
/// terms are multiplied by |cell|, h_d of the cell and area of its face accordingly,
/// i.e. (H^2 / a) M^-1 times the usual vector of (f, v) and the boundary terms of the symmetric
/// interior penalty method. Gauss quadrature with degree + 2 points per direction.
///
/// b is allocated anew if it has not the grid's block; padding is zero. Local: no communication.
/// Throws std::invalid_argument if an expression cannot be parsed or is not finite somewhere.
void assemble_right_hand_side(
    const Problem &problem, const LevelGrid &grid, const CellBasis &basis, Vector<double> &b);

/// A term of that vector: scale times the projection of f for the cells of a range by a rule, times the factor of the cell.
using RightHandSideTerm = std::function<void(const ScalarFunction &f, const CellRange &range,
    const TensorRule &rule, double scale, const CellFactor &factor)>;

/// Calls use(term) for all terms in their order. What use() says about a function (ExpressionError) gets the name of
/// that function's parameter.
void visit_right_hand_side(const Problem &problem, const LevelGrid &grid, const CellBasis &basis,
    const RightHandSideTerm &use);

/// The L2 projection of problem.initial_guess, which is not empty: x_ijk = int_ref u_0 phi_i phi_j phi_k by the same
/// quadrature; otherwise as assemble_right_hand_side(). Throws std::invalid_argument in the same way.
void project_initial_guess(
    const Problem &problem, const LevelGrid &grid, const CellBasis &basis, Vector<double> &x);

/// Calls use() for that function on all cells with scale 1; errors as visit_right_hand_side().
void visit_initial_guess(const Problem &problem, const LevelGrid &grid, const CellBasis &basis,
    const RightHandSideTerm &use);

/// Integrates as integrate() in operators/data/tensor_rule.h.
using Integrator = std::function<Integral(const LevelGrid &grid, const ScalarFunction &f,
    const CellRange &range, const TensorRule &rule, const CellFactor &factor)>;

/// What must vanish so that a problem without Dirichlet sides has a solution, and to what that is relative.
struct Balance
{
  double integral = 0.;  ///< int f + int q, q over the Neumann sides
  double magnitude = 0.; ///< int |f| + int |q|
  double defect() const { return magnitude > 0. ? integral / magnitude : 0.; }
};

/// By Gauss quadrature with n_points per direction. Collective over grid.communicator.
Balance balance(const Problem &problem, const LevelGrid &grid, const CellBasis &basis, int n_points,
    const Integrator &by = integrate);

/// Its defect.
double incompatibility(const Problem &problem, const LevelGrid &grid, const CellBasis &basis,
    int n_points, const Integrator &by = integrate);

/// The defect above which check_compatible() refuses a problem, unless quadrature explains it.
inline constexpr double compatibility_tolerance = 1e-6;

/// Does nothing for problems that are not singular. Otherwise throws std::invalid_argument, naming
/// the defect and the tolerance, if f and the Neumann fluxes do not balance. The tolerance is
/// compatibility_tolerance plus four times the change of the defect with more quadrature points, so
/// that a problem is not refused for what the mesh cannot integrate. Nor does it say anything of functions that are
/// not finite, which the right-hand side has words for. Returns the balance. Collective.
Balance check_compatible(const Problem &problem, const LevelGrid &grid, const CellBasis &basis,
    const Integrator &by = integrate);

/// Subtracts what b has along the coefficients of 1, the kernel of a singular system: what is left of the defect after
/// check_compatible(). The system is then solvable exactly. Returns the factor, where all cells are equal the mean of the function
/// with the coefficients b. Collective.
double subtract_constant(const LevelGrid &grid, const CellBasis &basis, Vector<double> &b);
} // namespace tensormg
