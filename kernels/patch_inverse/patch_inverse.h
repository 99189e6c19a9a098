// CONTRACT of local inverses by fast diagonalisation on a batch of tensors: the vertex patches of one colour
// (N = 2 (p + 1)), or cells (kernels/tensor/batch.h).
//
// Formula. For every tensor b of N^dim numbers, with Q_d (N x N) and values l_d (N) of each direction,
//   x = (Q_z x Q_y x Q_x) L^+ (Q_z x Q_y x Q_x)' b,   L_kji = l_z,k + l_y,j + l_x,i
// (2D: without z), where L^+ is 1 / L_kji, and 0 where L_kji is exactly 0 (a singular patch's constant). With
//   Q_d' M_d Q_d = 1,  Q_d' S_d Q_d = diag(l_d)
// x solves (S_z x M_y x M_x + M_z x S_y x M_x + M_z x M_y x S_x) x = b, the nodal operator of
// kernels/diagnostics/nodal/nodal.h; any other Q_d and l_d will do as well. A damping factor goes into the values.
//
// dst = x, or dst += x if `add`. Entries of dst that belong to no tensor stay as they are.
//
// Arrays, errors, determinism, asynchrony: kernels/tensor/kernel.h.
// This one is for lexicographic vectors and for the comparison of CUDA cores with tensor cores. In the basis of the
// solver (kernels/laplace), patches are corrected by kernels/patch; on a device by what is here between the ways
// from and to memory (kernels/patch/cuda.h).
// Oracle: reference.cc. Tests: tests/kernels/patch_inverse/patch_inverse_test.cc, device_test.cu.
// Source: Lynch, Rice, Thomas, Numer. Math. 6 (1964).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/core/half.h"
#include "kernels/tensor/arithmetic.h"
#include "kernels/tensor/kernel.h"

namespace tensormg::patch_inverse
{
enum class Backend : std::uint8_t
{
  reference, ///< plain loops on the host, the oracle
  cuda,      ///< CUDA cores
  mma        ///< tensor cores by mma.sync
};

constexpr bool is_device_backend(Backend backend) { return backend != Backend::reference; }

struct Variant
{
  Backend backend = Backend::reference;
  tensor::Arithmetic arithmetic = tensor::Arithmetic::fp64;
};

/// Of one direction; both empty: there is no such line.
struct LineFactors
{
  std::vector<double> vectors; ///< Q, row-major [entry][eigenvector]
  std::vector<double> values;  ///< l
};
/// [direction][End]; cells use End::none only.
using Factors = std::array<std::array<LineFactors, tensor::n_ends>, 3>;

template <typename Number>
using Arguments = tensor::Arguments<Number>;
template <typename Number>
using Kernel = tensor::Kernel<Number, Factors>;
using tensor::Work;
using PackFactors = std::vector<std::byte>(const Factors &, int n);

/// The kernel for tensors of n^dim entries. Throws std::invalid_argument that lists what exists, and
/// DeviceError if this build or machine has no device.
template <typename Number>
Kernel<Number> select(const Variant &variant, int dim, int n);

/// All there are for this size.
template <typename Number>
std::vector<Variant> variants(int dim, int n);

constexpr Work work_per_entry(int dim, int n, int bytes_per_number, bool add)
{
  return {(add ? 3. : 2.) * bytes_per_number, 2. * dim * 2. * n + dim + 1.};
}

const char *to_string(Backend backend);
} // namespace tensormg::patch_inverse
