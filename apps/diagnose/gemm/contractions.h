// What tensor cores multiply in the contractions of the operator, by the tiles of their kernels.
#pragma once

namespace tensormg::diagnose
{
/// A kernel of `compare` in its words, and on tensor cores the tiles into which it fits the matrices.
struct ContractionKernel
{
  const char *backend, *precision;
  /// Of an error-corrected product: 3 in 3xTF32; otherwise 1. 0: on CUDA cores.
  int products = 0;
  /// `rank2` by the line kernel (kernels/laplace/lines/mma.cuh, lines/wmma.cuh): columns and depth of the instruction. 0: a kernel
  /// that multiplies by traces, whose padding is not counted.
  int line_columns = 0, line_depth = 0;
  int nodal_tile =
      1; ///< `nodal`: rows and depth (kernels/diagnostics/nodal/wmma.cu, mma_staged.cuh)
  bool nodal_in_registers = false; ///< N <= 8 by kernels/diagnostics/nodal/mma_registers.cuh
};

/// Flops per unknown of B u in 3D that the unit of the kernel does; FMA counts two. `useful` are those of the operator, which CUDA
/// cores do. On tensor cores, with n = degree + 1, N = 2 n, [x] = x padded to the tile:
///   rank2   3 products of the 2 n modes of both neighbours with a 2 n x n matrix, 2 [n] [2 n] / n each
///   nodal   7 products with an N x N matrix, 2 [N]^2 / N each, shared by the [N] / N tensors that fit beside each other; in
///           registers the three along x and y, 96 by m16n8k8, the rest is FMA (in half those along x by m16n8k16, of which half is zero:
///           not counted)
/// times the number of products of each. The diagonal of rank2 is FMA.
double executed_contraction_flops(
    const ContractionKernel &kernel, bool is_nodal, int degree, double useful);
} // namespace tensormg::diagnose
