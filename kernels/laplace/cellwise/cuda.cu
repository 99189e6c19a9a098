#include "kernels/laplace/cellwise/cuda.h"

#include "kernels/device/launch.cuh"
#include "kernels/laplace/cellwise/inverse.cuh"
#include "kernels/laplace/cellwise/lines.cuh"
#include "kernels/laplace/dispatch.h"

namespace tensormg::laplace
{
template <typename Number>
ApplyCellwise<Number> *cellwise_cuda(Form form, int dim, int degree)
{
  return by_form<Number>(form, [&](auto f) {
    return dim == 2 ? cellwise_cuda_instance<2, Number, f.value>(degree)
                    : cellwise_cuda_instance<3, Number, f.value>(degree);
  });
}

namespace
{
  template <typename C>
  struct DiagonalParameters
  {
    C lambda[max_n], v2[max_n]; ///< v2: v_i^2
    Block block;
    CellNumbers<C> cells;
    C alpha;
  };

  /// One thread per cell, row of cells and mode j, k; in 2D k = 0.
  template <typename Number>
  __global__ void diagonal_kernel(
      const __grid_constant__ DiagonalParameters<Compute<Number>> p, const Number *b, Number *x)
  {
    using C = Compute<Number>;
    const Block &block = p.block;
    const std::int64_t at_block = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    const std::int64_t cx = at_block % block.pitch, line = at_block / block.pitch;
    const int n = block.n;
    const std::int64_t y = line % block.rows_per_plane(), z = line / block.rows_per_plane();
    if (z >= block.planes())
      return;
    const int j = int(y % n), k = int(z % block.nz());
    const std::int64_t at = cx + y / n * p.cells.row + z / block.nz() * p.cells.plane;
    C rest = p.cells.reaction[at] + p.lambda[j] * p.cells.c[1][at] + p.v2[j] * p.cells.jump[1][at];
    if (block.dim == 3)
      rest += p.lambda[k] * p.cells.c[2][at] + p.v2[k] * p.cells.jump[2][at];
    const C c = p.cells.c[0][at], jump = p.cells.jump[0][at];
    const std::int64_t first = z * block.plane() + y * block.row() + cx;
    for (int i = 0; i < n; ++i)
    {
      const std::int64_t to = first + i * block.pitch;
      const C value = load_pack<1>(b + to).at[0];
      const C diagonal = rest + p.lambda[i] * c + p.v2[i] * jump;
      store_pack(x + to,
          Pack<C, 1>(cx < block.cells[0] ? p.alpha * cellwise::inverse(diagonal) * value : C(0)));
    }
  }
} // namespace

template <typename Number>
void cellwise_inverse_diagonal_cuda(const Block &block, const CellBasis &basis,
    const CellNumbers<Compute<Number>> &cells, double alpha, const Number *b, Number *x,
    Stream stream)
{
  using C = Compute<Number>;
  DiagonalParameters<C> p{};
  for (int i = 0; i < block.n; ++i)
  {
    p.lambda[i] = static_cast<C>(basis.lambda[i]);
    p.v2[i] = static_cast<C>(basis.v[i] * basis.v[i]);
  }
  p.block = block;
  p.cells = cells;
  p.alpha = static_cast<C>(alpha);
  constexpr unsigned threads = 128;
  const std::int64_t lines = block.pitch * block.rows_per_plane() * block.planes();
  launch("launching the inverse of the diagonal of cells", diagonal_kernel<Number>,
      unsigned((lines + threads - 1) / threads), threads, 0, stream, p, b, x);
}

template ApplyCellwise<double> *cellwise_cuda(Form, int, int);
template ApplyCellwise<float> *cellwise_cuda(Form, int, int);
template ApplyCellwise<Half> *cellwise_cuda(Form, int, int);
template ApplyCellwise<WideFloat> *cellwise_cuda(Form, int, int);
template void cellwise_inverse_diagonal_cuda(const Block &, const CellBasis &,
    const CellNumbers<double> &, double, const double *, double *, Stream);
template void cellwise_inverse_diagonal_cuda(const Block &, const CellBasis &,
    const CellNumbers<float> &, double, const float *, float *, Stream);
template void cellwise_inverse_diagonal_cuda(const Block &, const CellBasis &,
    const CellNumbers<float> &, double, const Half *, Half *, Stream);
} // namespace tensormg::laplace
