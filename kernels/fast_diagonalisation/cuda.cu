#include <algorithm>
#include <stdexcept>
#include <string>

#include "kernels/device/launch.cuh"
#include "kernels/device/pack.cuh"
#include "kernels/device/shared_memory.cuh"
#include "kernels/fast_diagonalisation/fast_diagonalisation.h"

namespace tensormg::fast_diagonalisation
{
namespace
{
  constexpr int threads = 256;
  constexpr int columns = 16;        ///< of a block
  constexpr int rows_per_thread = 4; ///< in one column
  constexpr int panel_rows = threads / columns * rows_per_thread;

  constexpr int loads_ahead = 8;

  /// From row to row of the panel in shared memory: 16 bytes more than a multiple of all banks, so that
  /// writing a column of it meets few conflicts and reading four numbers is still aligned.
  template <typename C>
  constexpr int panel_stride = panel_rows + 16 / static_cast<int>(sizeof(C));

  /// Bytes of shared memory for sums of at most `depth` terms and results of `rows` rows: a panel of the
  /// left factor [depth][panel_rows], the right factor [depth][columns], the result [rows][columns].
  template <typename C>
  constexpr std::int64_t shared_bytes(std::int64_t depth, std::int64_t rows)
  {
    return static_cast<std::int64_t>(sizeof(C)) *
        (depth * (panel_stride<C> + columns) + rows * columns);
  }

  template <typename C>
  struct Shared
  {
    C *panel, *right, *between;
    __device__ explicit Shared(int depth)
      : panel(reinterpret_cast<C *>(dynamic_shared()))
      , right(panel + depth * panel_stride<C>)
      , between(right + depth * columns)
    {}
  };

  /// write(at, read(at)) for at < count, divided among the threads, several reads ahead.
  template <typename Read, typename Write>
  __device__ void for_each(int count, const Read &read, const Write &write)
  {
    for (int first = threadIdx.x; first < count; first += loads_ahead * threads)
    {
      decltype(read(0)) value[loads_ahead];
#pragma unroll
      for (int i = 0; i < loads_ahead; ++i)
        if (first + i * threads < count)
          value[i] = read(first + i * threads);
#pragma unroll
      for (int i = 0; i < loads_ahead; ++i)
        if (first + i * threads < count)
          write(first + i * threads, value[i]);
    }
  }

  /// A matrix in global memory whose entry (k, m), k the index of the sum, lies at k * of_k + m * of_m.
  template <typename Number>
  struct Factor
  {
    const Number *data;
    std::int64_t of_k, of_m;
    __device__ Compute<Number> operator()(int k, int m) const
    {
      return load_pack<1>(data + k * of_k + m * of_m).at[0];
    }
  };

  /// store(m, c, sum_k left(k, m) right[k][c]) for m < rows, c < columns. Waits for the other threads before
  /// it reads `right`.
  template <typename C, typename Number, typename Store>
  __device__ void contract(
      int rows, int depth, const Factor<Number> &left, C *panel, const C *right, const Store &store)
  {
    const int column = threadIdx.x % columns, own = threadIdx.x / columns * rows_per_thread;
    for (int first = 0; first < rows; first += panel_rows)
    {
      __syncthreads();
      // Neighbouring threads read neighbouring numbers.
      const bool k_fast = left.of_k == 1;
      const auto k_of = [&](int at) { return k_fast ? at % depth : at / panel_rows; };
      const auto m_of = [&](int at) { return k_fast ? at / depth : at % panel_rows; };
      for_each(
          depth * panel_rows,
          [&](int at) { return first + m_of(at) < rows ? left(k_of(at), first + m_of(at)) : C(0); },
          [&](int at, C value) { panel[k_of(at) * panel_stride<C> + m_of(at)] = value; });
      __syncthreads();
      C sum[rows_per_thread] = {};
#pragma unroll 4
      for (int k = 0; k < depth; ++k)
      {
        constexpr int width = 16 / sizeof(C) < rows_per_thread ? 16 / sizeof(C) : rows_per_thread;
        const C factor = right[k * columns + column];
#pragma unroll
        for (int r = 0; r < rows_per_thread; r += width)
        {
          const Pack<C, width> of_rows = load_pack<width>(panel + k * panel_stride<C> + own + r);
#pragma unroll
          for (int w = 0; w < width; ++w)
            sum[r + w] = fma(of_rows.at[w], factor, sum[r + w]);
        }
      }
#pragma unroll
      for (int r = 0; r < rows_per_thread; ++r)
        if (first + own + r < rows)
          store(first + own + r, column, sum[r]);
    }
  }

  /// right[k][c] = from(k, c); columns beyond the end are zero.
  template <typename C, typename From>
  __device__ void read_columns(int depth, C *right, const From &from)
  {
    for_each(
        depth * columns, [&](int at) { return from(at / columns, at % columns); },
        [&](int at, C value) { right[at] = value; });
  }

  /// Sizes and tables of one stage in a plane: columns of the result in x, `depth` terms per sum in x.
  template <typename From, typename To>
  struct PlaneParameters
  {
    const From *src;      ///< [plane][ny][depth]
    To *dst;              ///< [plane][ny][width]
    const Compute<To> *x; ///< [depth][width]
    const Compute<To> *y; ///< [ny][ny], row: index of the sum
    int ny, depth, width;
  };

  /// dst = y' (src x) in plane blockIdx.y for some columns.
  template <typename From, typename To>
  __global__ void __launch_bounds__(threads) plane_kernel(const PlaneParameters<From, To> p)
  {
    using C = Compute<To>;
    const Shared<C> shared(p.depth > p.ny ? p.depth : p.ny);
    const int first = blockIdx.x * columns;
    const std::int64_t row = std::int64_t(blockIdx.y) * p.ny;
    read_columns(p.depth, shared.right, [&](int k, int c) {
      return first + c < p.width ? p.x[std::int64_t(k) * p.width + first + c] : C(0);
    });
    contract(p.ny, p.depth, Factor<From>{p.src + row * p.depth, 1, p.depth}, shared.panel,
        shared.right, [&](int m, int c, C value) { shared.between[m * columns + c] = value; });
    contract(p.ny, p.ny, Factor<C>{p.y, p.ny, 1}, shared.panel, shared.between,
        [&](int m, int c, C value) {
          if (first + c < p.width)
            store_pack(p.dst + (row + m) * p.width + first + c, Pack<C, 1>(value));
        });
  }

  template <typename C>
  struct LineParameters
  {
    C *u;             ///< [nz][columns]
    const C *z, *z_t; ///< [nz][nz]
    const C *lambda_x, *lambda_y, *lambda_z;
    int nx, nz;
    std::int64_t lines; ///< nx ny
  };

  /// u = z (lambda)^+ z' u for some lines in z.
  template <typename C>
  __global__ void __launch_bounds__(threads) line_kernel(const LineParameters<C> p)
  {
    const Shared<C> shared(p.nz);
    const std::int64_t first = std::int64_t(blockIdx.x) * columns;
    read_columns(p.nz, shared.right,
        [&](int k, int c) { return first + c < p.lines ? p.u[k * p.lines + first + c] : C(0); });
    contract(p.nz, p.nz, Factor<C>{p.z, p.nz, 1}, shared.panel, shared.right,
        [&](int m, int c, C value) {
          const std::int64_t line = first + c;
          const C lambda = line < p.lines
              ? p.lambda_z[m] + (p.lambda_y[line / p.nx] + p.lambda_x[line % p.nx])
              : C(0);
          shared.between[m * columns + c] = lambda == 0 ? C(0) : value / lambda;
        });
    contract(p.nz, p.nz, Factor<C>{p.z_t, p.nz, 1}, shared.panel, shared.between,
        [&](int m, int c, C value) {
          if (first + c < p.lines)
            p.u[m * p.lines + first + c] = value;
        });
  }

  template <typename Parameters>
  void start(const char *name, void (*kernel)(Parameters), std::int64_t width, std::int64_t planes,
      std::int64_t bytes, const Parameters &p, Stream stream)
  {
    constexpr std::int64_t without_asking = 48 * 1024;
    if (bytes > without_asking)
      allow_shared_bytes(reinterpret_cast<const void *>(kernel), static_cast<std::size_t>(bytes));
    launch(name, kernel,
        dim3(static_cast<unsigned>((width + columns - 1) / columns), static_cast<unsigned>(planes)),
        threads, static_cast<std::size_t>(bytes), stream, p);
  }
} // namespace

template <typename Number>
void solve_cuda(const Arguments<Number> &a)
{
  using C = Compute<Number>;
  if (!is_small(a.block))
    throw std::invalid_argument("fast diagonalisation in shared memory: more than " +
        std::to_string(longest) + " unknowns in one direction");
  const std::int64_t nx = length(a.block, 0), ny = length(a.block, 1), nz = length(a.block, 2);
  const std::int64_t row = a.block.row();
  const int sizes[3] = {static_cast<int>(nx), static_cast<int>(ny), static_cast<int>(row)};
  start("launching the fast diagonalisation in planes", &plane_kernel<Number, C>, nx, nz,
      shared_bytes<C>(std::max(row, ny), ny),
      PlaneParameters<Number, C>{
          a.b, a.work, a.vectors[0], a.vectors[1], sizes[1], sizes[2], sizes[0]},
      a.stream);
  start("launching the fast diagonalisation along z", &line_kernel<C>, nx * ny, 1,
      shared_bytes<C>(nz, nz),
      LineParameters<C>{a.work, a.vectors[2], a.transposed[2], a.eigenvalues[0], a.eigenvalues[1],
          a.eigenvalues[2], sizes[0], static_cast<int>(nz), nx * ny},
      a.stream);
  start("launching the fast diagonalisation in planes, back", &plane_kernel<C, Number>, row, nz,
      shared_bytes<C>(std::max(nx, ny), ny),
      PlaneParameters<C, Number>{
          a.work, a.x, a.transposed[0], a.transposed[1], sizes[1], sizes[0], sizes[2]},
      a.stream);
}

template void solve_cuda(const Arguments<double> &);
template void solve_cuda(const Arguments<float> &);
template void solve_cuda(const Arguments<Half> &);
} // namespace tensormg::fast_diagonalisation
