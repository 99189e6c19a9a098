// CONTRACT of the SIPG Laplace operator on a Cartesian block, constant coefficient.
//
// Formula. With the tables of CellBasis (1D operator written there) and direction factors c_d,
//   (B u)[cell, ijk] = sum_d c_d (L_d u)[cell, ijk],
// L_d the 1D operator along direction d applied to the line of the other two indices. B is the SIPG
// matrix A in the basis of value scaling, made dimensionless: B = (H^2 / a) M^-1 A, c_d = (H / h_d)^2.
// D = diag(B's cell blocks) = c_x lambda_i + c_y lambda_j + c_z lambda_k is the cell-wise block
// Jacobi preconditioner: in this basis the fast-diagonalisation inverse is a pointwise scaling.
//
// Arrays. All vectors: Block::size() numbers in Block's order, 64-byte aligned, padding zero on
// entry and zero on exit. src must not alias dst, except where said.
//   ghost[s], s = 2..5 (y-, y+, z-, z+): traces of the neighbouring cells for sides with Side::ghost,
//   number type Compute<Number>, V first, then D (half derivative), each with
//     y sides: [planes][row],  position plane * row + i*pitch + cx;   ghost_size = 2*planes*row
//     z sides: [rows_per_plane][row], position (cy*n + j) * row + i*pitch + cx.
//   Padding columns of ghosts are ignored. Unused ghosts are nullptr.
// Sides. x: dirichlet, neumann or wrap; y, z: dirichlet, neumann or ghost.
//
// Ensures: every entry of dst in `range` is written, padding included, and no other. Synchronous,
// single-threaded, no atomics: the same input gives the same bits, whatever the range, so a block may be
// computed in parts, those at ghosts last. Nothing is allocated per call beyond scratch kept by the calling
// thread.
// Work: apply reads u and writes y once (the rest is cached); see work_per_dof().
// Oracle: reference.cc. Tests: tests/kernels/laplace/laplace_test.cc, tests/operators/constant/laplace_oracle_test.cc.
// Source of the form: rank-2 face coupling of the SIPG operator on tensor-product cells in the
// eigenbasis of the cell block, docs/mathematics.md.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "kernels/basis/cell_basis.h"
#include "kernels/core/block.h"
#include "kernels/core/half.h"
#include "kernels/core/wide_float.h"
#include "kernels/device/device.h"
#include "kernels/laplace/backends.h"

namespace tensormg::laplace
{
/// False for numbers that have Form::apply alone, by the backends reference, cpu, cuda and mma: WideFloat serves the
/// product of a Krylov method, whose vectors no smoother sees.
template <typename Number>
inline constexpr bool has_every_form = true;
template <>
inline constexpr bool has_every_form<WideFloat> = false;

/// Rows of cells, each with all its cells in x: cy in [y_begin, y_end), cz in [z_begin, z_end), local
/// indices. The default is every row of any block.
struct RowRange
{
  static constexpr std::int64_t unbounded = std::numeric_limits<std::int64_t>::max();

  std::int64_t y_begin = 0, y_end = unbounded;
  std::int64_t z_begin = 0, z_end = unbounded;

  constexpr bool empty() const { return y_begin >= y_end || z_begin >= z_end; }
  constexpr bool operator==(const RowRange &) const = default;
};

/// A function and what it is called with.
struct Callback
{
  void (*function)(void *) = nullptr;
  void *context = nullptr;

  void operator()() const
  {
    if (function)
      function(context);
  }
};

template <typename Number>
struct Arguments
{
  Block block;
  const CellBasis *basis = nullptr;
  std::array<double, 3> factor{1., 1., 1.}; ///< c_d
  std::array<Side, 6> sides{};
  std::array<const Compute<Number> *, 6> ghost{};
  const Number *src = nullptr;
  Number *dst = nullptr;
  const Number *b = nullptr;   ///< residual, chebyshev
  const Number *old = nullptr; ///< chebyshev; nullptr is the zero vector
  double theta = 0.;
  double alpha = 0.;
  // The rows of cells that are computed; only ghosts of sides that these touch are read. On a device layers in 3D alone
  // (require_layers()). The bits do not depend on it.
  // Host backends only: `cpu` calls `between_layers` after every layer of cells (2D: row), so that the caller can look
  // after messages.
  RowRange range;
  Callback between_layers;
  // Device backends only: the arrays above lie in device memory (the basis does not), the work is
  // queued in `stream`. `progress`: two zeros in device memory that no other stream uses; nullptr is
  // slower.
  Stream stream = nullptr;
  unsigned *progress = nullptr;
};

/// Throws std::invalid_argument unless the range has every row of the block: for backends that compute
/// whole blocks only.
void require_every_row(const RowRange &range, const Block &block);

/// The layers z0 <= cz < z1 of the range, which has every row of these and at least one layer, or std::invalid_argument is thrown.
std::array<int, 2> require_layers(const RowRange &range, const Block &block);

template <typename Number>
using Apply = void(const Arguments<Number> &);

/// Traces of the cells along side s (2..5) of the block, for a neighbour's ghost buffer of the
/// opposite side: at an upper side (3, 5) the right traces (VR, DR), at a lower one (VL, DL).
template <typename Number>
using PackTraces = void(
    const Block &, const CellBasis &, int side, const Number *src, Compute<Number> *buffer);

/// Numbers in a ghost buffer of side s.
constexpr std::int64_t ghost_size(const Block &block, int side)
{
  return 2 * block.row() * (side < 4 ? block.planes() : block.rows_per_plane());
}

/// Bytes and floating-point operations per degree of freedom (FMA counts two), every vector touched
/// once; write-allocate traffic is not counted.
struct Work
{
  double bytes;
  double flops;
};
constexpr Work work_per_dof(Form form, int dim, int bytes_per_number)
{
  const double vectors = form == Form::apply ? 2 : form == Form::residual ? 3 : 4;
  const double extra = form == Form::apply ? 0 : form == Form::residual ? 1 : 4;
  return {vectors * bytes_per_number, 1 + 8. * dim + extra};
}

/// The function for these choices; without `arithmetic` the first row of the table (select.cc) that fits. Throws
/// std::invalid_argument that lists what exists, also if the backend is not in this build.
template <typename Number>
Apply<Number> *select(Backend backend, Form form, int dim, int degree,
    std::optional<Arithmetic> arithmetic = std::nullopt);

/// The kernel of a solve, and why it is the one.
template <typename Number>
struct Choice
{
  Apply<Number> *apply = nullptr;
  Backend backend = Backend::reference;
  Arithmetic arithmetic = Arithmetic::fp64;
  const char *reason = "";
};

/// `backend`, or preference() where it is automatic. mma and wmma compute in solver_arithmetic(); where that has nothing, the
/// preferred one takes their place. With `steps` the kernel is one on tensor cores in that arithmetic. Throws as select().
template <typename Number>
Choice<Number> choose(Backend backend, Form form, int dim, int degree,
    std::optional<Arithmetic> steps = std::nullopt);

/// A kind of kernels, for any dimension, degree and form.
struct Variant
{
  Backend backend;
  Arithmetic arithmetic;
};
/// All that the table (select.cc) has for vectors of these numbers, in its order; whether this build has them or not.
template <typename Number>
std::vector<Variant> variants();

/// What a kernel takes of a device.
struct KernelResources
{
  int registers = 0;                ///< per thread, by the compiler: what threads start with
  int shared_bytes = 0;             ///< per block
  int local_bytes = 0;              ///< per thread: spilled registers and small arrays
  double occupancy = 0.;            ///< resident warps, of those possible
  double shared_bytes_per_dof = 0.; ///< read and written in shared memory, counted in the source
  int computing_registers = 0;      ///< per thread that computes, if others give it theirs; 0: none
};

/// Of a device backend, on the current device; nothing if it keeps no count. `cells_x`: of a block without ghosts, by which some
/// kernels choose their tile.
template <typename Number>
std::optional<KernelResources> kernel_resources(Backend backend, Form form, int dim, int degree,
    std::optional<Arithmetic> arithmetic = std::nullopt, std::int64_t cells_x = 64);

/// The packing function (one implementation serves all CPU backends).
template <typename Number>
PackTraces<Number> *select_pack(int degree);

/// The backend of this name if it is in this build; std::invalid_argument otherwise, naming what exists.
Backend backend_from_string(const std::string &name);
const char *to_string(Backend backend);

/// Instruction set the `cpu` backend was compiled for, e.g. "AVX-512, 64-byte vectors".
std::string cpu_instruction_set();
} // namespace tensormg::laplace
