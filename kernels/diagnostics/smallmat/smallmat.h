// CONTRACT of the kernels on batches of small matrices: C_i = F_i B_i, i < count, with n x n matrices in FP64, n = 16 or 32.
//
//   task          F_i                                                       `factors` of matrix i
//   product       A_i                                                       its n^2 entries
//   householder   I - 2 v v', |v| = 1                                       the n entries of v
//   givens        I but for rows and columns p = 5, q = 6:                  cosine, sine
//                 F_pp = F_qq = cosine, F_pq = -sine, F_qp = sine
//
//   cpu           host, one thread, by the formula that costs least
//   cuda          device, one warp per matrix, by a unit:
//
//   unit          how
//   fma           CUDA cores, by the formula that costs least: B - 2 v (v' B), or two rows; every lane reads and writes the
//                 same words as with mma_map, what it lacks comes from other lanes by shuffles
//   mma_map       mma.sync.m16n8k4: F_i is a fragment built in registers by mma::map() from its formula
//   mma_staged    the same, but F_i is written to shared memory and read as a fragment from there
//
// Storage: row-major, matrix after matrix, 16-byte aligned. C must not alias the others.
// Source of the tasks: H. Ootomo and R. Yokota, Reducing shared memory footprint to leverage high throughput on Tensor
// Cores and its flexible API extension library, 2023.
// Tests: tests/kernels/diagnostics/smallmat/smallmat_test.cc, tests/kernels/diagnostics/smallmat/device_test.cu.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "kernels/device/cuda_function.h"
#include "kernels/device/device.h"
#include "kernels/diagnostics/roofline/roofline.h"

namespace tensormg::smallmat
{
enum class Task : std::uint8_t
{
  product,
  householder,
  givens
};
enum class Unit : std::uint8_t
{
  fma,
  mma_map,
  mma_staged
};

inline constexpr int givens_p = 5, givens_q = 6;

/// Numbers in `factors` per matrix.
constexpr std::int64_t factor_size(Task task, int n)
{
  return task == Task::product ? std::int64_t(n) * n : task == Task::householder ? n : 2;
}

/// Entry (i, k) of F.
constexpr double factor_entry(Task task, int n, const double *factor, int i, int k)
{
  if (task == Task::product)
    return factor[i * n + k];
  const double identity = i == k ? 1. : 0.;
  if (task == Task::householder)
    return identity - 2. * factor[i] * factor[k];
  if ((i != givens_p && i != givens_q) || (k != givens_p && k != givens_q))
    return identity;
  return i == k ? factor[0] : i == givens_p ? -factor[1] : factor[1];
}

/// Useful flops: 2 n^3, 4 n^2 or 6 n; everything once through memory.
constexpr roofline::Work work(Task task, int n, std::int64_t count)
{
  const double size = n, number = static_cast<double>(count);
  const double flops = task == Task::product ? 2. * size * size * size
      : task == Task::householder            ? 4. * size * size
                                             : 6. * size;
  return {
      number * flops, number * 8. * (2. * size * size + static_cast<double>(factor_size(task, n)))};
}

/// One matrix by the definition.
void reference(Task task, int n, const double *factor, const double *b, double *c);

/// Throws std::invalid_argument unless n is 16 or 32.
inline void require_size(int n)
{
  if (n != 16 && n != 32)
    throw std::invalid_argument("matrices of size " + std::to_string(n) + "; there are 16 and 32");
}

/// Host memory, one thread. Throws std::invalid_argument for another n.
void cpu(Task task, int n, std::int64_t count, const double *factors, const double *b, double *c);

/// Queued in the stream. Throws std::invalid_argument for another n, DeviceError where the
/// GPU lacks the instruction.
TENSORMG_CUDA_FUNCTION void cuda(Task task, Unit unit, int n, std::int64_t count,
    const double *factors, const double *b, double *c, Stream stream);
} // namespace tensormg::smallmat
