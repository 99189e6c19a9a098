// A lane has a cell, lanes are neighbours in x; the warps of a block have a mode in z each.
#include "kernels/device/launch.cuh"
#include "kernels/device/pack.cuh"
#include "kernels/vertices/vertices.h"

namespace tensormg::vertices
{
namespace
{
  constexpr int lanes = 32;

  struct Cell
  {
    std::int64_t x, y, z;
    bool exists;
    __device__ explicit Cell(const Block &block)
    {
      const auto strips = unsigned((block.pitch + lanes - 1) / lanes), // 32 bits divide sooner
          rows = unsigned(block.cells[1]), row = blockIdx.x / strips;
      x = blockIdx.x % strips * lanes + threadIdx.x;
      y = row % rows;
      z = row / rows;
      exists = x < block.cells[0];
    }
  };

  __device__ std::int64_t cell_number(
      const Block &block, std::int64_t x, std::int64_t y, std::int64_t z)
  {
    return (z * block.cells[1] + y) * block.pitch + x;
  }

  /// The number of the unknown that a cell sees at a corner, or -1.
  __device__ std::int64_t unknown(const Layout &l, const Cell &cell, int corner)
  {
    std::int64_t v[3] = {cell.x, cell.y, cell.z};
    for (int d = 0; d < l.block.dim; ++d)
    {
      v[d] += l.offset[d] + (corner >> d & 1);
      if (l.periodic[d] && v[d] == l.count[d])
        v[d] = 0;
      if ((v[d] == 0 && l.fixed[2 * d]) || (v[d] == l.count[d] - 1 && l.fixed[2 * d + 1]))
        return -1;
    }
    const std::int64_t usual = v[0] + l.count[0] * (v[1] + l.count[1] * v[2]);
    if (l.splits != nullptr)
      if (const int split = l.splits[usual]; split >= 0 && share_face(l.octants[split], 7 - corner))
        return l.vertices() + split;
    return usual;
  }

  /// sums[corner][cell]
  template <typename Number>
  __global__ void __launch_bounds__(lanes *max_n)
      sums_kernel(const __grid_constant__ Layout l, const Number *r, double *sums)
  {
    __shared__ double planes[4][max_n][lanes];
    const Block &block = l.block;
    const Cell cell(block);
    const int k = int(threadIdx.y), n = block.n;
    double sum[4] = {0., 0., 0., 0.};
    const std::int64_t first = block.index(cell.exists ? cell.x : 0, cell.y, cell.z, 0, 0, k);
    for (int j = 0; j < n; ++j)
    {
      double line[2] = {0., 0.};
      for (int i = 0; i < n; ++i)
      {
        const auto value =
            double(load_pack<1>(r + first + j * block.row() + i * block.pitch).at[0]);
        line[0] = fma(l.hats[0][i], value, line[0]);
        line[1] = fma(l.hats[1][i], value, line[1]);
      }
      for (int corner = 0; corner < 4; ++corner)
        sum[corner] = fma(l.hats[corner / 2][j], line[corner % 2], sum[corner]);
    }
    for (int corner = 0; corner < 4; ++corner)
      planes[corner][k][threadIdx.x] = sum[corner];
    __syncthreads();
    if (!cell.exists)
      return;
    const std::int64_t cells = block.pitch * block.cells[1] * block.cells[2];
    for (int corner = k; corner < l.corners(); corner += int(blockDim.y))
    {
      double total = 0.;
      for (int m = 0; m < block.nz(); ++m)
        total = fma(
            block.dim == 3 ? l.hats[corner / 4][m] : 1., planes[corner % 4][m][threadIdx.x], total);
      sums[corner * cells + cell_number(block, cell.x, cell.y, cell.z)] = total;
    }
  }

  /// The cell in an octant of a vertex.
  __device__ bool find_cell(
      const Layout &l, const std::int64_t (&vertex)[3], int octant, std::int64_t (&cell)[3])
  {
    for (int d = 0; d < 3; ++d)
    {
      cell[d] = d < l.block.dim ? vertex[d] - 1 + (octant >> d & 1) : 0;
      if (l.periodic[d] && cell[d] < 0)
        cell[d] += l.count[d];
      cell[d] -= l.offset[d];
      if (cell[d] < 0 || cell[d] >= l.block.cells[d])
        return false;
    }
    return true;
  }

  constexpr int threads = 128;

  /// A thread has a vertex with all its unknowns.
  __global__ void __launch_bounds__(threads)
      gather_kernel(const __grid_constant__ Layout l, const double *sums, double *to)
  {
    const std::int64_t at = std::int64_t(blockIdx.x) * threads + threadIdx.x;
    if (at >= l.vertices())
      return;
    const std::int64_t vertex[3] = {
        at % l.count[0], at / l.count[0] % l.count[1], at / l.count[0] / l.count[1]};
    bool is_fixed = false;
    for (int d = 0; d < l.block.dim; ++d)
      is_fixed = is_fixed || (vertex[d] == 0 && l.fixed[2 * d]) ||
          (vertex[d] == l.count[d] - 1 && l.fixed[2 * d + 1]);
    const int split = l.splits != nullptr ? l.splits[at] : -1;
    const std::int64_t cells = l.block.pitch * l.block.cells[1] * l.block.cells[2];
    double usual = 0., other = 0.;
    for (int octant = 0; octant < l.corners() && !is_fixed; ++octant)
    {
      std::int64_t cell[3];
      if (!find_cell(l, vertex, octant, cell))
        continue;
      const double sum = sums[(l.corners() - 1 - octant) * cells +
          cell_number(l.block, cell[0], cell[1], cell[2])];
      if (split >= 0 && share_face(l.octants[split], octant))
        other += sum;
      else
        usual += sum;
    }
    to[at] = usual;
    if (split >= 0)
      to[l.vertices() + split] = other;
  }

  template <typename Number>
  __global__ void __launch_bounds__(lanes *max_n)
      prolong_kernel(const __grid_constant__ Layout l, const double *from, Number *x)
  {
    using C = Compute<Number>;
    const Block &block = l.block;
    const Cell cell(block);
    if (!cell.exists)
      return;
    const int k = int(threadIdx.y), n = block.n;
    double plane[4] = {0., 0., 0., 0.};
    for (int corner = 0; corner < l.corners(); ++corner)
      if (const std::int64_t at = unknown(l, cell, corner); at >= 0)
        plane[corner % 4] =
            fma(block.dim == 3 ? l.hats[corner / 4][k] : 1., from[at], plane[corner % 4]);
    const std::int64_t first = block.index(cell.x, cell.y, cell.z, 0, 0, k);
    for (int j = 0; j < n; ++j)
    {
      const double lower = l.hats[0][j] * plane[0] + l.hats[1][j] * plane[2],
                   upper = l.hats[0][j] * plane[1] + l.hats[1][j] * plane[3];
      Number *row = x + first + j * block.row();
      C sums
          [max_n]; // all is read before anything is written: otherwise accesses would wait for each other
#pragma unroll
      for (int i = 0; i < max_n; ++i)
        if (i < n)
          sums[i] = load_pack<1>(row + i * block.pitch).at[0] +
              static_cast<C>(l.hats[0][i] * lower + l.hats[1][i] * upper);
#pragma unroll
      for (int i = 0; i < max_n; ++i)
        if (i < n)
          store_pack(row + i * block.pitch, Pack<C, 1>(sums[i]));
    }
  }

  unsigned blocks_of_cells(const Block &block)
  {
    return static_cast<unsigned>(
        (block.pitch + lanes - 1) / lanes * block.cells[1] * block.cells[2]);
  }
} // namespace

template <typename Number>
void restrict_to(const Layout &l, const Number *r, double *sums, double *to, Stream stream)
{
  launch("launching the sums of cells for vertices", sums_kernel<Number>, blocks_of_cells(l.block),
      dim3(lanes, unsigned(l.block.nz())), 0, stream, l, r, sums);
  launch("launching the sums of vertices", gather_kernel,
      static_cast<unsigned>((l.vertices() + threads - 1) / threads), threads, 0, stream, l, sums,
      to);
}

template <typename Number>
void add_prolonged(const Layout &l, const double *from, Number *x, Stream stream)
{
  launch("launching the way from vertices to cells", prolong_kernel<Number>,
      blocks_of_cells(l.block), dim3(lanes, unsigned(l.block.nz())), 0, stream, l, from, x);
}

template void restrict_to(const Layout &, const double *, double *, double *, Stream);
template void restrict_to(const Layout &, const float *, double *, double *, Stream);
template void restrict_to(const Layout &, const Half *, double *, double *, Stream);
template void add_prolonged(const Layout &, const double *, double *, Stream);
template void add_prolonged(const Layout &, const double *, float *, Stream);
template void add_prolonged(const Layout &, const double *, Half *, Stream);
} // namespace tensormg::vertices
