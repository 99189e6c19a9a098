// Between nodal vectors, cell by cell, and modes in the storage order of Block, in device memory: groups of neighbouring cells are
// transposed and multiplied by one matrix per direction in shared memory.
#include <algorithm>

#include "kernels/device/launch.cuh"
#include "kernels/device/shared_memory.cuh"
#include "kernels/laplace/dispatch.h"
#include "kernels/vector/cuda.h"

namespace tensormg::vector_kernels::cuda
{
namespace
{
  constexpr int threads = 256;

  template <int n>
  struct NodesParameters
  {
    double matrix[n * n]; ///< [row][column]
    Block block;
    double factor;
    int groups; ///< per row
    const double *from;
    double *to;
  };

  /// The cells of a row that a block of threads has, and where their numbers lie in shared memory.
  template <int dim, int n>
  struct Group
  {
    static constexpr int nodes = dim == 3 ? n * n * n : n * n;
    static constexpr int shared_limit = 48 << 10; // of a block without asking for more
    static constexpr int bytes(int cells) { return nodes * (cells + 1) * int(sizeof(double)); }
    static constexpr int cells = bytes(16) <= shared_limit ? 16 : bytes(8) <= shared_limit ? 8 : 4;
    static constexpr int stride =
        cells + 1; ///< between nodes: odd, so that nodes of a cell lie in other banks
  };

  /// The matrix in the direction whose nodes are `step` apart: a thread has a line of a cell, in place.
  template <int dim, int n>
  __device__ __forceinline__ void contract(const NodesParameters<n> &p, int step, double *numbers)
  {
    using G = Group<dim, n>;
    for (int at = threadIdx.x; at < G::nodes / n * G::cells; at += threads)
    {
      const int line = at / G::cells, node = line / step * step * n + line % step;
      double *const first = numbers + node * G::stride + at % G::cells;
      double in[n];
#pragma unroll
      for (int q = 0; q < n; ++q)
        in[q] = first[q * step * G::stride];
#pragma unroll
      for (int row = 0; row < n; ++row)
      {
        double sum = 0.;
#pragma unroll
        for (int q = 0; q < n; ++q)
          sum += p.matrix[row * n + q] * in[q];
        first[row * step * G::stride] = sum;
      }
    }
    __syncthreads();
  }

  template <int dim, int n, bool to_modes>
  __global__ void __launch_bounds__(threads) nodes_kernel(const NodesParameters<n> p)
  {
    using G = Group<dim, n>;
    const Block &block = p.block;
    double *const numbers = reinterpret_cast<double *>(dynamic_shared());
    const std::int64_t row = blockIdx.x / p.groups, cy = row % block.cells[1],
                       cz = row / block.cells[1];
    const std::int64_t cx = std::int64_t(blockIdx.x % p.groups) * G::cells;
    const int count = static_cast<int>(min(std::int64_t(G::cells), block.cells[0] - cx));
    const std::int64_t nodal = (row * block.cells[0] + cx) * G::nodes;
    // Nodal numbers are read and written along cells, modes along rows.
    const auto for_nodal = [&](const auto &use) {
      for (int at = threadIdx.x; at < G::nodes * count; at += threads)
        use(at % G::nodes * G::stride + at / G::nodes, nodal + at);
    };
    const auto for_modes = [&](const auto &use) {
      for (int at = threadIdx.x; at < G::nodes * G::cells; at += threads)
      {
        const int node = at / G::cells, c = at % G::cells;
        if (c < count)
          use(node * G::stride + c,
              block.index(cx + c, cy, cz, node % n, node / n % n, node / (n * n)));
      }
    };
    const auto load = [&](int here, std::int64_t there) { numbers[here] = p.from[there]; };
    const auto store = [&](int here, std::int64_t there) {
      p.to[there] = p.factor * numbers[here];
    };
    if constexpr (to_modes)
      for_nodal(load);
    else
      for_modes(load);
    __syncthreads();
    contract<dim>(p, 1, numbers);
    contract<dim>(p, n, numbers);
    if constexpr (dim == 3)
      contract<dim>(p, n * n, numbers);
    if constexpr (to_modes)
      for_modes(store);
    else
      for_nodal(store);
  }

  template <int dim, int n, bool to_modes>
  void launch_nodes(const Block &block, const double *matrix, double factor, const double *from,
      double *to, Stream stream)
  {
    using G = Group<dim, n>;
    NodesParameters<n> p{};
    std::copy_n(matrix, n * n, p.matrix);
    p.block = block;
    p.factor = factor;
    p.groups = static_cast<int>((block.cells[0] + G::cells - 1) / G::cells);
    p.from = from;
    p.to = to;
    const std::int64_t blocks = block.cells[1] * block.cells[2] * p.groups;
    launch("nodes and modes", &nodes_kernel<dim, n, to_modes>, dim3(static_cast<unsigned>(blocks)),
        threads, G::bytes(G::cells), stream, p);
  }

  template <bool to_modes>
  void run(const Block &block, const double *matrix, double factor, const double *from, double *to,
      Stream stream)
  {
    laplace::by_degree<1, max_degree>(block.degree(), [&](auto degree) {
      constexpr int n = degree.value + 1;
      if (block.dim == 3)
        launch_nodes<3, n, to_modes>(block, matrix, factor, from, to, stream);
      else
        launch_nodes<2, n, to_modes>(block, matrix, factor, from, to, stream);
      return true;
    });
  }
} // namespace

void nodes_to_modes(const Block &block, const double *matrix, double factor, const double *nodal,
    double *modes, Stream stream)
{
  run<true>(block, matrix, factor, nodal, modes, stream);
}

void modes_to_nodes(const Block &block, const double *matrix, double factor, const double *modes,
    double *nodal, Stream stream)
{
  run<false>(block, matrix, factor, modes, nodal, stream);
}

namespace
{
  /// A block has a row of cells with all modes in x, or a part of it.
  __global__ void multiply_kernel(const __grid_constant__ Block block, const double *x,
      const double *y, const double *z, double *u)
  {
    const std::int64_t row = blockIdx.x, plane = row / block.rows_per_plane();
    const double factor = y[row % block.rows_per_plane() / block.n] * z[plane / block.nz()];
    for (std::int64_t i = threadIdx.x; i < block.row(); i += blockDim.x)
      if (const std::int64_t cx = i % block.pitch; cx < block.cells[0])
        u[row * block.row() + i] *= factor * x[cx];
  }
} // namespace

void multiply_cells(
    const Block &block, const double *x, const double *y, const double *z, double *u, Stream stream)
{
  launch("launching the product with a number of each cell", multiply_kernel,
      static_cast<unsigned>(block.rows_per_plane() * block.planes()), 128, 0, stream, block, x, y,
      z, u);
}
} // namespace tensormg::vector_kernels::cuda
