// The approximate inverses of relaxation.h in device memory: formulas and arrays are those there; what differs is said here. Queued in
// the stream; all pointers but the basis in device memory.
// Oracle: the host's. Test: tests/kernels/laplace/cellwise/relaxation_device_test.cu.
#pragma once

#include <array>

#include "kernels/device/cuda_function.h"
#include "kernels/laplace/cellwise/relaxation.h"

namespace tensormg::laplace
{
/// old = x + theta (x - old) + lines + weight F r: a step of a smoother that ends with the inverses of the cells.
template <typename Number>
struct CellRelaxation
{
  Block block;
  const CellBasis *basis = nullptr;
  CellNumbers<Compute<Number>> cells;
  /// Those of CellBases.
  const Compute<Number> *vectors = nullptr, *quotients = nullptr;
  double weight = 1., theta = 0.;
  const Number *r = nullptr;
  const Number *lines = nullptr; ///< nullptr: zero
  const Number *x = nullptr;     ///< nullptr: zero, and old is not read
  Number *old = nullptr;         ///< none of the others; padding stays zero
};

template <typename Number>
TENSORMG_CUDA_FUNCTION void relax_cells_cuda(const CellRelaxation<Number> &a, Stream stream);

/// z = weight L_d r, or with `adds` z += weight L_d r.
template <typename Number>
struct LineRelaxation
{
  Block block;
  const CellBasis *basis = nullptr;
  CellNumbers<Compute<Number>> cells;
  std::array<Side, 6> sides{};
  int d = 0;
  bool adds = false;
  double weight = 1.;
  const Number *r = nullptr;
  Number *z = nullptr; ///< padding stays as it is
  /// line_work_size() numbers, of which nobody else may make use until the work is done.
  Compute<Number> *work = nullptr;
};

/// A thread eliminates a row of cells; so many of them work at a time.
inline constexpr std::int64_t most_line_threads = 3 << 15;
/// Numbers that elimination leaves of a cell.
inline constexpr int numbers_of_condensed = 6;

constexpr std::int64_t line_work_size(const Block &block, int d)
{
  const std::int64_t lines =
      block.size() / (block.n * (d == 0 ? block.pitch : block.cells[d])) + 31;
  const std::int64_t threads = lines < most_line_threads ? lines / 32 * 32 : most_line_threads;
  return threads * block.cells[d] * numbers_of_condensed;
}

template <typename Number>
TENSORMG_CUDA_FUNCTION void line_inverse_cuda(const LineRelaxation<Number> &a, Stream stream);
} // namespace tensormg::laplace
