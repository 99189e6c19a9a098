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

  /// A mode of a cell.
  template <typename Number>
  struct Entry
  {
    const ReferenceParameters<Number> &p;
    std::int64_t at; ///< in the vectors
    std::int64_t y, z;
    std::int64_t cell[3];
    int mode[3];

    __device__ Entry(const ReferenceParameters<Number> &p_, std::int64_t at_)
      : p(p_)
      , at(at_)
      , y(at / p.block.row() % p.block.rows_per_plane())
      , z(at / p.block.plane())
      , cell{at % p.block.pitch, y / p.block.n, z / p.block.nz()}
      , mode{int(at / p.block.pitch % p.block.n), int(y % p.block.n), int(z % p.block.nz())}
    {}

    __device__ std::int64_t mode_stride(int d) const
    {
      return d == 0 ? p.block.pitch : d == 1 ? p.block.row() : p.block.plane();
    }
    __device__ std::int64_t cell_stride(int d) const
    {
      return d == 0 ? 1 : (d == 1 ? p.block.n : p.block.nz()) * mode_stride(d);
    }
    /// With the line along d of the cell `step` cells further.
    __device__ double of_neighbour(const Matrix &matrix, int d, std::int64_t step) const
    {
      const Number *u = p.src + at - mode[d] * mode_stride(d) + step * cell_stride(d);
      return line(matrix, mode[d], p.block.n, u, mode_stride(d));
    }
    __device__ double side(int d, bool upper) const
    {
      const Side here = p.sides[2 * d + upper];
      const bool inside = upper ? cell[d] + 1 < p.block.cells[d] : cell[d] > 0;
      if (inside || here == Side::wrap)
      {
        const std::int64_t far = inside ? 1 : 1 - p.block.cells[d];
        return of_neighbour(upper ? p.right : p.left, d, upper ? far : -far);
      }
      if (here == Side::ghost)
        return of_ghost(d, upper);
      return of_neighbour((reflects_odd(here) ? p.dirichlet : p.neumann)[upper], d, 0);
    }
    /// Traces (v, half the derivative) of the cell outside; the mode's own at this end.
    __device__ double of_ghost(int d, bool upper) const
    {
      const Block &block = p.block;
      const std::int64_t lines = d == 1 ? block.planes() : block.rows_per_plane();
      const Compute<Number> *ghost =
          p.ghost[2 * d + upper] + (d == 1 ? z : y) * block.row() + mode[0] * block.pitch + cell[0];
      const double v = ghost[0], half_d = ghost[lines * block.row()];
      const int m = mode[d];
      const double parity = m % 2 == 0 ? 1. : -1., sign = upper ? 1. : -1.;
      const double own_v = upper ? p.v[m] : parity * p.v[m];
      const double own_h = upper ? p.h[m] : -parity * p.h[m];
      return -sign * own_v * half_d + sign * own_h * v - p.penalty * own_v * v;
    }
  };

  template <typename Number>
  __device__ double result_of(const ReferenceParameters<Number> &p, const Entry<Number> &entry)
  {
    double sum = 0., diagonal = 0.;
    for (int d = 0; d < p.block.dim; ++d)
    {
      sum += p.factor[d] *
          (entry.of_neighbour(p.own, d, 0) + entry.side(d, false) + entry.side(d, true));
      diagonal += p.factor[d] * p.lambda[entry.mode[d]];
    }
    if (p.form == Form::apply)
      return sum;
    const double residual = read(p.b + entry.at) - sum;
    if (p.form == Form::residual)
      return residual;
    const double u = read(p.src + entry.at), old = p.old ? read(p.old + entry.at) : 0.;
    return u + p.theta * (u - old) + p.alpha * residual / diagonal;
  }

  template <typename Number>
  __global__ void reference_kernel(const __grid_constant__ ReferenceParameters<Number> p)
  {
    const std::int64_t stride = std::int64_t(gridDim.x) * blockDim.x;
    for (std::int64_t at = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; at < p.block.size();
         at += stride)
    {
      const Entry<Number> entry(p, at);
      write(p.dst + at, entry.cell[0] < p.block.cells[0] ? result_of(p, entry) : 0.);
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
