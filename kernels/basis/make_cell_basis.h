// Computes the tables of CellBasis and evaluates its modes.
#pragma once

#include <span>
#include <vector>

#include "kernels/basis/cell_basis.h"

namespace tensormg
{
/// The tables for one degree, 1 <= degree <= max_degree (std::invalid_argument otherwise).
/// Closed-form Legendre integrals; the even and the odd block are diagonalised with LAPACK's dsyev.
CellBasis make_cell_basis(int degree);

/// phi_i(x) for all i, x in [0, 1]; values.size() == n.
void evaluate_modes(const CellBasis &basis, double x, std::span<double> values);

/// phi_i'(x) for all i, x in [0, 1] (reference scaling); derivatives.size() == n.
void evaluate_mode_derivatives(const CellBasis &basis, double x, std::span<double> derivatives);

/// values[q * n + i] = phi_i(points[q]).
std::vector<double> mode_value_matrix(const CellBasis &basis, std::span<const double> points);

/// derivatives[q * n + i] = phi_i'(points[q]).
std::vector<double> mode_derivative_matrix(const CellBasis &basis, std::span<const double> points);
} // namespace tensormg
