// How far a vector is from the exact solution, means, and the projection of functions.
#pragma once

#include <functional>
#include <string>

#include "kernels/basis/cell_basis.h"
#include "operators/data/tensor_rule.h"
#include "operators/mesh/grid.h"
#include "operators/vectors/vector.h"
#include "tensormg/problem.h"

namespace tensormg
{
struct Errors
{
  double l2 = 0.;          ///< (int (u_h - u)^2)^(1/2)
  double h1_seminorm = 0.; ///< (sum over cells int |grad u_h - grad u|^2)^(1/2), if has_h1
  bool has_h1 = false;     ///< true if Problem::exact_gradient is given
};

/// Collective.
double sum_over_ranks(const LevelGrid &grid, double value);
/// Of the level, on all ranks.
double n_global_cells(const LevelGrid &grid);

/// Errors of u against Problem::exact_solution and exact_gradient with degree + 3 Gauss points per
/// direction. A singular problem fixes its solution up to a constant only: there the means of both
/// are subtracted first. Collective over grid.communicator.
/// Throws std::invalid_argument if there is no exact solution, if only a part of the gradient is
/// given, or if an expression cannot be parsed.
Errors compute_errors(
    const Problem &problem, const LevelGrid &grid, const CellBasis &basis, const Vector<double> &u);

/// Which difference is squared and summed.
struct Difference
{
  int direction = -1;
  double factor = 1.;
  double shift = 0.;
  double unit = 1.; ///< a power of two that keeps the squares in the range of double precision
};

/// How errors_by() gets its sums, over all ranks.
struct ErrorSums
{
  /// mean(u) - mean(f), the latter by the rule
  std::function<double(const ScalarFunction &f, const TensorRule &rule)> mean_difference;
  /// sum over cells and points of w (unit (factor D u - f - shift))^2, D the derivative in `direction` on the
  /// reference cell (-1: the value); where cells differ in size, w times the volume of the cell and D over its size, in units of the mean ones
  std::function<double(
      const Difference &difference, const TensorRule &rule, const ScalarFunction &f)>
      squared_distance;
};

/// compute_errors() of a vector that `sums` knows.
Errors errors_by(
    const Problem &problem, const LevelGrid &grid, const CellBasis &basis, const ErrorSums &sums);

/// mean(u) - mean(exact solution) for singular problems, otherwise 0: the constant that is left out
/// of account when u is compared. Collective.
double mean_difference(
    const Problem &problem, const LevelGrid &grid, const CellBasis &basis, const Vector<double> &u);

/// The mean over the box of the function with the coefficients u. Collective.
double mean_value(const LevelGrid &grid, const CellBasis &basis, const Vector<double> &u);
/// The mean over the cells of the means in them, whatever their sizes. Collective.
double mean_of_cells(const LevelGrid &grid, const CellBasis &basis, const Vector<double> &u);

/// Subtracts the mean over the box, which is returned. Collective.
double subtract_mean(const LevelGrid &grid, const CellBasis &basis, Vector<double> &u);

/// The L2 projection of an expression, with the problem's constants: degree + 3 Gauss points per
/// direction, exact for polynomials up to degree + 5 per direction. Local: no communication.
Vector<double> project(const Problem &problem, const LevelGrid &grid, const CellBasis &basis,
    const std::string &expression);
} // namespace tensormg
