// The one-dimensional cell eigenbasis: plain tables that every kernel takes.
#pragma once

#include <array>

#include "kernels/core/block.h"

namespace tensormg
{
/// Tables of the one-dimensional basis on the reference cell [0, 1] with n = degree + 1 modes.
///
/// The modes phi_i are L2-orthonormal polynomials, rotated into the eigenvectors of the symmetric
/// interior penalty cell block (penalty sigma = p(p+1), reference scaling h = 1)
///   L0 = S - (vr dr' + dr vr')/2 + sigma vr vr' + (vl dl' + dl vl')/2 + sigma vl vl',
/// S_ij = int phi_i' phi_j', v/d values and derivatives at the left (l) and right (r) end.
/// Even and odd polynomials about the midpoint are diagonalised separately and interleaved: mode 2m
/// is the m-th even, mode 2m+1 the m-th odd one, so the parity of a mode is that of its index.
///
/// With V, D the traces of a cell's line (D with HALF the derivative)
///   Ev = sum_even v_i u_i, Ov = sum_odd v_i u_i, Ed = sum_even h_i u_i, Od = sum_odd h_i u_i,
///   VL = Ev - Ov, VR = Ev + Ov, DL = Od - Ed, DR = Od + Ed,
/// and (Vm, Dm) = right traces of the left neighbour, (Vp, Dp) = left traces of the right one, the
/// one-dimensional operator is
///   even i:  lambda_i u_i + v_i (Dm - Dp) + g_i (Vp + Vm)
///   odd i:   lambda_i u_i - v_i (Dm + Dp) + g_i (Vp - Vm).
struct CellBasis
{
  int n = 0;
  double penalty = 0.;                ///< sigma = p(p+1)
  std::array<double, max_n> lambda{}; ///< eigenvalues of L0
  std::array<double, max_n> v{};      ///< phi_i(1)
  std::array<double, max_n> h{};      ///< phi_i'(1) / 2
  std::array<double, max_n> g{};      ///< h_i - sigma v_i
  /// legendre[m * n + i]: coefficient of the orthonormal Legendre polynomial
  /// sqrt(2m+1) P_m(2x-1) in phi_i (the eigenvector matrix Q).
  std::array<double, max_n * max_n> legendre{};
  /// prolongation[a * n + i]: coefficient of child mode a on [0, 1/2] of the parent mode i, i.e.
  /// int_0^1 phi_a(s) phi_i(s/2) ds. The child on [1/2, 1] has the sign (-1)^(a+i) in addition.
  std::array<double, max_n * max_n> prolongation{};
};
} // namespace tensormg
