// CONTRACT of the Laplace operator in a nodal basis, as dense one-dimensional contractions on a batch of
// tensors (cells, or the vertex patches of one colour; kernels/tensor/batch.h).
//
// Formula. For every tensor u of N^dim numbers, with mass and stiffness matrices M_d, S_d (N x N, any
// numbers; the mass matrix is not the identity),
//   3D   y = (S_z x M_y x M_x + M_z x S_y x M_x + M_z x M_y x S_x) u
//   2D   y = (S_y x M_x + M_y x S_x) u,
// where (A_z x B_y x C_x u)_kji = sum A_kc B_jb C_ia u_cba. Seven contractions with one matrix are enough
// (2D: four): P = M_x u, Q = S_x u, V = M_y P, W = S_y P + M_y Q, y = S_z V + M_z W.
//
// dst = y, or dst += y if `add`. Entries of dst that belong to no tensor stay as they are.
//
// Cell-wise this is the volume form. Patch-wise it is the whole SIPG operator on a Cartesian mesh as
// published for tensor cores (C. Cui, ACM Trans. Parallel Comput. 11(4), 2024, arXiv:2407.09621): every
// vertex patch is given the volume term of its lower cell and the faces between its cells, per direction by
//   End::none, lower   M = diag(M_cell, 0),         S = volume term of the lower cell + the inner face
//   End::upper, both   M = diag(M_cell, M_cell),    S = both volume terms + the inner face + the boundary's
// and lower, both have the boundary term of the lower end in S as well. As M and S of all patches of a
// direction sum up to those of the mesh, the 2^dim colours together, the first call with add = false after
// zeroing dst, give y = A u. The published kernel visits all patches in one launch and adds with atomics;
// here each colour is a call, its patches have no entry in common, and the same input gives the same bits.
// Cost of comparing: a call of one colour does the arithmetic of N = 2 (p + 1) on (almost) all entries of the
// mesh once. Throughput is entries per second of one such call; the published operator takes 2^dim of them.
//
// Arrays, errors, determinism, asynchrony: kernels/tensor/kernel.h.
// Oracle: reference.cc. Tests: tests/kernels/diagnostics/nodal/nodal_test.cc, device_test.cu.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/core/half.h"
#include "kernels/tensor/arithmetic.h"
#include "kernels/tensor/kernel.h"

namespace tensormg::nodal
{
enum class Backend : std::uint8_t
{
  reference, ///< plain loops on the host, the oracle
  cuda,      ///< CUDA cores
  wmma,      ///< tensor cores by nvcuda::wmma
  mma        ///< tensor cores by mma.sync
};

constexpr bool is_device_backend(Backend backend) { return backend != Backend::reference; }

/// Where a tensor is between the contractions (mma).
enum class Staging : std::uint8_t
{
  standard,  ///< what is best for the size
  registers, ///< in registers only, N <= 8
  plain,     ///< in shared memory, lexicographic
  padded,    ///< in shared memory, rows and planes padded
  permuted,  ///< in shared memory, permuted by XOR: fewest bank conflicts
  chained ///< x and y in registers, one way through shared memory, permuted, for z: FP16, 3D, N = 16
};

/// The shape of mma.sync.
enum class Instruction : std::uint8_t
{
  standard, ///< what is best for the size
  m8n8k4,
  m16n8k4,
  m16n8k8,
  m16n8k16
};

/// What is asked for. The number type is the one in memory.
struct Variant
{
  Backend backend = Backend::reference;
  tensor::Arithmetic arithmetic = tensor::Arithmetic::fp64;
  Staging staging = Staging::standard;
  Instruction instruction = Instruction::standard;
};

/// Row-major N x N, y_i = sum_a M[i N + a] u_a. Both empty: there is no such matrix.
struct LineMatrices
{
  std::vector<double> mass;
  std::vector<double> stiffness;
};
/// [direction][End]; cells use End::none only.
using Matrices = std::array<std::array<LineMatrices, tensor::n_ends>, 3>;

template <typename Number>
using Arguments = tensor::Arguments<Number>;
template <typename Number>
using Kernel = tensor::Kernel<Number, Matrices>;
using tensor::Work;

/// The kernel for tensors of n^dim entries. Throws std::invalid_argument that lists what exists, and
/// DeviceError if this build or machine has no device.
template <typename Number>
Kernel<Number> select(const Variant &variant, int dim, int n);

/// All there are for this size.
template <typename Number>
std::vector<Variant> variants(int dim, int n);

/// Zeros of the matrices are counted, padding is not.
constexpr Work work_per_entry(int dim, int n, int bytes_per_number, bool add)
{
  return {(add ? 3. : 2.) * bytes_per_number, (dim == 3 ? 7. : 4.) * 2. * n};
}

const char *to_string(Backend backend);
const char *to_string(Staging staging);
const char *to_string(Instruction instruction);
} // namespace tensormg::nodal
