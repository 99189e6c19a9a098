// The backends of the Laplace operator: where each has its vectors, what it computes on, and which one serves a solve.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernels/core/half.h"
#include "kernels/core/wide_float.h"
#include "kernels/tensor/arithmetic.h"

namespace tensormg::laplace
{
/// What sums over modes are formed in. On tensor cores the face terms are products of numbers that may be rounded
/// before, the diagonal is not; vectors of FP32 have tf32, vectors of FP16 have fp16 and fp16x2 (only the weights are
/// rounded, to 11 and to 22 bits; in 3D kernels of their own round traces, or for the residual what is as small as it:
/// jumps).
using tensor::Arithmetic;

/// What the operator is applied in.
enum class Form : std::uint8_t
{
  apply,    ///< dst = B src
  residual, ///< dst = b - B src
  chebyshev ///< dst = src + theta (src - old) + alpha D^-1 (b - B src); dst may alias old
};

enum class Backend : std::uint8_t
{
  reference,        ///< plain loops over dense 1D blocks, the oracle
  cpu,              ///< rank-2 face terms, SIMD over cells in x
  device_reference, ///< as reference, for vectors in device memory
  cuda,             ///< rank-2 face terms on CUDA cores, vectors in device memory
  wmma,             ///< on tensor cores by nvcuda::wmma
  mma,              ///< on tensor cores by mma.sync
  automatic         ///< for vectors in device memory: preference() of each form
};

/// Where the arrays of a kernel lie.
enum class Place : std::uint8_t
{
  host,
  device
};

enum class Unit : std::uint8_t
{
  cores,
  tensor_cores
};

struct BackendTraits
{
  Backend backend;
  const char *name;
  Place place;
  Unit unit;
  bool is_oracle;      ///< plain loops in double, which the others are compared with
  bool serves_a_solve; ///< may be named by operator.backend
};

inline constexpr std::array<BackendTraits, 6> backends{{
    {Backend::reference, "reference", Place::host, Unit::cores, true, true},
    {Backend::cpu, "cpu", Place::host, Unit::cores, false, true},
    {Backend::device_reference, "device_reference", Place::device, Unit::cores, true, false},
    {Backend::cuda, "cuda", Place::device, Unit::cores, false, true},
    {Backend::wmma, "wmma", Place::device, Unit::tensor_cores, false, true},
    {Backend::mma, "mma", Place::device, Unit::tensor_cores, false, true},
}};

/// Of a backend that is not automatic.
constexpr const BackendTraits &traits(Backend backend)
{
  return backends.at(static_cast<std::size_t>(backend));
}

/// True if the arrays of Arguments lie in device memory.
constexpr bool is_device_backend(Backend backend)
{
  return backend == Backend::automatic || traits(backend).place == Place::device;
}

constexpr bool on_tensor_cores(Backend backend)
{
  return backend != Backend::automatic && traits(backend).unit == Unit::tensor_cores;
}

/// Which backend for vectors in device memory is fastest (docs/kernels.md) among those that are accurate enough: a
/// Chebyshev step in FP16 may round traces; for b - B u of a large smooth u that would leave an error of the size that
/// rounding u itself makes, so there they have 22 bits or are jumps.
struct Preference
{
  std::size_t number_bytes; ///< of a stored number; 0: any
  int dim;                  ///< 0: any
  int min_degree, max_degree;
  std::optional<Form> form;           ///< nothing: any
  int min_capability, max_capability; ///< compute capability times ten
  Backend backend;
  const char *reason;
};

/// The first that fits is taken; the last one fits always.
inline constexpr Preference preferences[] = {
    {2, 3, 3, 8, Form::chebyshev, 90, 1000, Backend::mma,
        "steps of a smoother may round traces to FP16, and tensor cores have the products free"},
    {2, 3, 3, 3, Form::residual, 90, 1000, Backend::mma,
        "jumps, which are as small as the residual, take one FP16 product"},
    {2, 3, 6, 8, Form::residual, 90, 1000, Backend::mma,
        "CUDA cores are the limit at high degree, products of two parts are not"},
    {2, 3, 3, 4, std::nullopt, 0, 89, Backend::mma,
        "the kernel of lines is faster on tensor cores"},
    {2, 3, 6, 6, std::nullopt, 0, 89, Backend::mma,
        "the kernel of lines is faster on tensor cores"},
    {0, 0, 1, 8, std::nullopt, 0, 1000, Backend::cuda,
        "CUDA cores are as fast as memory, or nearer to it"},
};

template <typename Number>
constexpr const Preference &preference(Form form, int dim, int degree, int capability)
{
  for (const Preference &p : preferences)
    if ((p.number_bytes == 0 || p.number_bytes == sizeof(Number)) && (p.dim == 0 || p.dim == dim) &&
        p.min_degree <= degree && degree <= p.max_degree && (!p.form || *p.form == form) &&
        p.min_capability <= capability && capability <= p.max_capability)
      return p;
  return preferences[std::size(preferences) - 1];
}

template <typename Number>
constexpr Backend fastest_device_backend(Form form, int dim, int degree, int capability)
{
  return preference<Number>(form, dim, degree, capability).backend;
}

/// The arithmetic on tensor cores for these choices in a solver: products and residuals of large smooth vectors
/// must be accurate, a smoother's steps need not be. Nothing for numbers stored in FP32, of which tensor cores drop
/// bits: CUDA cores serve them, unless a solve asks for steps in tf32.
template <typename Number>
constexpr std::optional<Arithmetic> solver_arithmetic(Form form)
{
  if (sizeof(Number) == 4)
    return std::nullopt;
  if (sizeof(Number) == 8)
    return Arithmetic::fp64;
  return form == Form::chebyshev ? Arithmetic::fp16 : Arithmetic::fp16x2;
}
} // namespace tensormg::laplace
