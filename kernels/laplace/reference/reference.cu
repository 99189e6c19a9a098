// The oracle for vectors in device memory: one thread per degree of freedom, dense 1D blocks, double.
#include "kernels/device/launch.cuh"
#include "kernels/device/pack.cuh"
#include "kernels/laplace/laplace.h"
#include "kernels/laplace/reference/reference.h"
#include "kernels/laplace/reference/reference_device.h"

namespace tensormg::laplace
{
namespace
{
  struct Matrix
  {
    double at[max_n * max_n];
  };

  template <typename Number>
  struct ReferenceParameters
  {
    Matrix own, right, left, dirichlet[2], neumann[2];
    double v[max_n], h[max_n], lambda[max_n];
    double penalty;
    Block block;
    std::array<double, 3> factor;
    std::array<Side, 6> sides;
    std::array<const Compute<Number> *, 6> ghost;
    const Number *src, *b, *old;
    Number *dst;
    double theta, alpha;
    Form form;
  };

  template <typename Number>
  __device__ double read(const Number *from)
  {
    return load_pack<1>(from).at[0];
  }

  template <typename Number>
  __device__ void write(Number *to, double value)
  {
    store_pack(to, Pack<Compute<Number>, 1>(static_cast<Compute<Number>>(value)));
  }

  /// sum_m matrix[mode][m] u[m], u with the given stride
  template <typename Number>
  __device__ double line(
      const Matrix &matrix, int mode, int n, const Number *u, std::int64_t stride)
  {
    double sum = 0.;
    for (int m = 0; m < n; ++m)
      sum += matrix.at[mode * n + m] * read(u + m * stride);
    return sum;
  }

  template <typename Number>
  __global__ void reference_kernel(const __grid_constant__ ReferenceParameters<Number> p)
  {
    const Block &block = p.block;
    const int n = block.n;
    const std::int64_t stride = std::int64_t(gridDim.x) * blockDim.x;
    for (std::int64_t at = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; at < block.size();
         at += stride)
    {
      const std::int64_t cx = at % block.pitch;
      const std::int64_t y = at / block.row() % block.rows_per_plane(), z = at / block.plane();
      if (cx >= block.cells[0])
      {
        write(p.dst + at, 0.);
        continue;
      }
      const std::int64_t cell[3] = {cx, y / n, z / block.nz()};
      const int mode[3] = {int(at / block.pitch % n), int(y % n), int(z % block.nz())};
      const std::int64_t mode_stride[3] = {block.pitch, block.row(), block.plane()};
      const std::int64_t cell_stride[3] = {1, n * block.row(), block.nz() * block.plane()};
      double sum = 0., diagonal = 0.;
      for (int d = 0; d < block.dim; ++d)
      {
        const int m = mode[d];
        const Number *u = p.src + at - m * mode_stride[d];
        double part = line(p.own, m, n, u, mode_stride[d]);
        for (int upper = 0; upper < 2; ++upper)
        {
          const Side side = p.sides[2 * d + upper];
          const bool inside = upper ? cell[d] + 1 < block.cells[d] : cell[d] > 0;
          const double sign = upper ? 1. : -1.;
          if (inside || side == Side::wrap)
          {
            const std::int64_t far = inside ? 1 : 1 - block.cells[d];
            const Number *neighbour = u + (upper ? far : -far) * cell_stride[d];
            part += line(upper ? p.right : p.left, m, n, neighbour, mode_stride[d]);
          }
          else if (side == Side::dirichlet)
            part += line(p.dirichlet[upper], m, n, u, mode_stride[d]);
          else if (side == Side::neumann)
            part += line(p.neumann[upper], m, n, u, mode_stride[d]);
          else
          {
            // Traces (v, half the derivative) of the cell outside; the mode's own at this end.
            const std::int64_t lines = d == 1 ? block.planes() : block.rows_per_plane();
            const Compute<Number> *ghost = p.ghost[2 * d + upper] + (d == 1 ? z : y) * block.row() +
                mode[0] * block.pitch + cx;
            const double v = ghost[0], half_d = ghost[lines * block.row()];
            const double parity = m % 2 == 0 ? 1. : -1.;
            const double own_v = upper ? p.v[m] : parity * p.v[m];
            const double own_h = upper ? p.h[m] : -parity * p.h[m];
            part += -sign * own_v * half_d + sign * own_h * v - p.penalty * own_v * v;
          }
        }
        sum += p.factor[d] * part;
        diagonal += p.factor[d] * p.lambda[m];
      }
      double result = p.form == Form::apply ? sum : read(p.b + at) - sum;
      if (p.form == Form::chebyshev)
      {
        const double u = read(p.src + at);
        result = u + p.theta * (u - (p.old ? read(p.old + at) : 0.)) + p.alpha * result / diagonal;
      }
      write(p.dst + at, result);
    }
  }

  void copy(const std::vector<double> &from, Matrix &to)
  {
    std::copy(from.begin(), from.end(), to.at);
  }
} // namespace

template <typename Number>
void apply_device_reference(const Arguments<Number> &a, Form form)
{
  require_every_row(a.range, a.block);
  const DenseBlocks blocks = make_dense_blocks(*a.basis);
  ReferenceParameters<Number> p{};
  copy(blocks.own, p.own);
  copy(blocks.right, p.right);
  copy(blocks.left, p.left);
  copy(blocks.dirichlet_left, p.dirichlet[0]);
  copy(blocks.dirichlet_right, p.dirichlet[1]);
  copy(blocks.neumann_left, p.neumann[0]);
  copy(blocks.neumann_right, p.neumann[1]);
  for (int m = 0; m < a.block.n; ++m)
  {
    p.v[m] = a.basis->v[m];
    p.h[m] = a.basis->h[m];
    p.lambda[m] = a.basis->lambda[m];
  }
  p.penalty = a.basis->penalty;
  p.block = a.block;
  p.factor = a.factor;
  p.sides = a.sides;
  p.ghost = a.ghost;
  p.src = a.src;
  p.b = a.b;
  p.old = a.old;
  p.dst = a.dst;
  p.theta = a.theta;
  p.alpha = a.alpha;
  p.form = form;
  constexpr int threads = 256;
  const std::int64_t blocks_wanted = (a.block.size() + threads - 1) / threads;
  launch("launching the reference of the Laplace operator", reference_kernel<Number>,
      static_cast<unsigned>(std::min<std::int64_t>(blocks_wanted, 1 << 20)), threads, 0, a.stream,
      p);
}

template void apply_device_reference(const Arguments<double> &, Form);
template void apply_device_reference(const Arguments<float> &, Form);
template void apply_device_reference(const Arguments<Half> &, Form);
} // namespace tensormg::laplace
