// The right-hand side of a problem on curved cells, what an iteration starts from, and means. All is collective over levels.communicator().
#pragma once

#include "operators/data/right_hand_side.h"
#include "operators/pointwise/block_levels.h"
#include "operators/pointwise/block_problem.h"
#include "operators/vectors/vector.h"

namespace tensormg
{
/// b of B u = b on the finest level, B = A / scale of that level (block_levels.h): with phi the modes of a cell, T and G as in
/// kernels/laplace/pointwise/pointwise.h,
///   scale b_i = int f phi_i
///     + sum over Dirichlet sides, value g, points: w g (2 T phi_i - s (G_aa d_a phi_i + sum_b G_ab d_b phi_i))
///     + sum over Neumann and Robin sides: int q phi_i.
/// Gauss quadrature: with the points of the operator on Dirichlet sides, elsewhere degree + 2 per direction.
struct BlockRightHandSide
{
  Vector<double> b;
  /// int f and the integrals of q, and of their magnitudes.
  Balance balance;
};
/// Throws ExpressionError, naming the parameter and the place, where a function is not finite.
BlockRightHandSide assemble_block_right_hand_side(
    const BlockProblem &problem, const BlockLevels &levels);

/// What of that b the values on boundaries make.
Vector<double> assemble_sides(const BlockProblem &problem, const BlockLevels &levels);
/// Adds to that b what the function with the coefficients f makes in the place of the problem's.
void add_integrals(const BlockProblem &problem, const BlockLevels &levels, const Vector<double> &f,
    Vector<double> &b);

/// Where the problem is singular: throws std::invalid_argument if f and the fluxes do not balance, by more than compatibility_tolerance and
/// four times what the balance changes with cells of one more degree and more points; then subtracts from f its mean, so that the sum of b vanishes.
void make_compatible(
    const BlockProblem &problem, const BlockLevels &levels, BlockRightHandSide &right_hand_side);

/// The second half of that: b less its mean, of a function on the mesh.
void subtract_mean_of_integrals(
    const BlockProblem &problem, const BlockLevels &levels, Vector<double> &b);

/// The L2 projection of an expression of the problem: solves with the mass matrix of each cell.
Vector<double> project(const BlockProblem &problem, const BlockLevels &levels,
    const std::string &key, const std::string &expression);

/// The integrals of 1 and of the function u over the mesh.
struct VolumeAndIntegral
{
  double volume = 0., integral = 0.;
};
VolumeAndIntegral integrate(
    const BlockProblem &problem, const BlockLevels &levels, const Vector<double> &u);
/// u less its mean.
void subtract_mean(const BlockProblem &problem, const BlockLevels &levels, Vector<double> &u);
} // namespace tensormg
