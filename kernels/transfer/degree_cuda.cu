// A block of threads has some cells, neighbours in x as lanes, and n threads for each: one after the other they take the lines of a direction. A line of
// the fine modes is in registers; how many modes the coarse cells have is known at run time alone.
#include "kernels/transfer/degree_cuda.h"

#include "kernels/device/launch.cuh"
#include "kernels/device/occupancy.h"
#include "kernels/device/pack.cuh"
#include "kernels/device/shared_memory.cuh"
#include "kernels/laplace/dispatch.h"

namespace tensormg::transfer
{
namespace
{
  /// n: modes of the fine cells.
  template <typename Number_, int dim_, int modes>
  struct DegreeTile
  {
    using Number = Number_;
    using C = Compute<Number>;
    static constexpr int dim = dim_, n = modes, nz = dim == 3 ? n : 1, lanes = 128 / sizeof(C),
                         threads = lanes * n;
    /// [mode in z][in y][coarse mode in x][lane]
    static constexpr int shared_bytes(int n_coarse)
    {
      return nz * n * n_coarse * lanes * int{sizeof(C)};
    }
  };

  template <typename Tile>
  struct DegreeParameters
  {
    using Number = typename Tile::Number;
    using C = typename Tile::C;

    C matrix[(Tile::n - 1) * Tile::n]; ///< P' [i][a]
    C factor;
    bool add, add_rest;
    Block fine, coarse;
    const Number *src, *src_rest; ///< src_rest and dst_rest may be null
    Number *dst, *dst_rest;
  };

  template <typename Tile>
  class DegreeThread
  {
    using Number = typename Tile::Number;
    using C = typename Tile::C;
    static constexpr int n = Tile::n, nz = Tile::nz, lanes = Tile::lanes;
    using Line = C[n]; ///< of fine modes

    const DegreeParameters<Tile> &p_;
    const int nc_, lane_;
    std::int64_t fine_, coarse_; ///< mode 0 of the cell
    bool exists_;

  public:
    __device__ explicit DegreeThread(const DegreeParameters<Tile> &p)
      : p_(p)
      , nc_(p.coarse.n)
      , lane_(int(threadIdx.x) % lanes)
    {
      // Rows consist of whole pieces of row_granularity cells; pieces of several rows may be in a block of threads.
      constexpr unsigned piece = row_granularity;
      const unsigned of_row = unsigned(p.fine.pitch) / piece, rows = unsigned(p.fine.cells[1]),
                     number = blockIdx.x * (lanes / piece) + unsigned(lane_) / piece,
                     row = number / of_row;
      const std::int64_t cx = number % of_row * piece + unsigned(lane_) % piece, cy = row % rows,
                         cz = row / rows;
      exists_ = cz < p.fine.cells[2];
      fine_ = exists_ ? p.fine.index(cx, cy, cz, 0, 0, 0) : 0;
      coarse_ = exists_ ? p.coarse.index(cx, cy, cz, 0, 0, 0) : 0;
    }

    __device__ void restrict_cell() const
    {
      for_lines(n, nz, [&](int j, int k) {
        Line line;
#pragma unroll
        for (int a = 0; a < n; ++a)
          line[a] = exists_ ? number(p_.src, fine_ + mode(p_.fine, a, j, k)) : C(0);
        collect(line, [&](int i, C value) { *shared(i, j, k) = value; });
      });
      __syncthreads();
      for_lines(nc_, nz, [&](int i, int k) {
        Line line;
#pragma unroll
        for (int j = 0; j < n; ++j)
          line[j] = *shared(i, j, k);
        collect(line, [&](int j, C value) {
          if constexpr (Tile::dim == 3)
            *shared(i, j, k) = value;
          else
            store_coarse(i, j, 0, value);
        });
      });
      if constexpr (Tile::dim == 3)
      {
        __syncthreads();
        for_lines(nc_, nc_, [&](int i, int j) {
          Line line;
#pragma unroll
          for (int k = 0; k < n; ++k)
            line[k] = *shared(i, j, k);
          collect(line, [&](int k, C value) { store_coarse(i, j, k, value); });
        });
      }
    }

    __device__ void prolongate_cell() const
    {
      if constexpr (Tile::dim == 3)
      {
        for_lines(nc_, nc_, [&](int i, int j) {
          Line line;
          expand([&](int k) { return coarse_number(i, j, k); }, line);
#pragma unroll
          for (int k = 0; k < n; ++k)
            *shared(i, j, k) = line[k];
        });
        __syncthreads();
      }
      for_lines(nc_, nz, [&](int i, int k) {
        Line line;
        expand([&](int j) { return Tile::dim == 3 ? *shared(i, j, k) : coarse_number(i, j, 0); },
            line);
#pragma unroll
        for (int j = 0; j < n; ++j)
          *shared(i, j, k) = line[j];
      });
      __syncthreads();
      for_lines(n, nz, [&](int j, int k) {
        Line line;
        expand([&](int i) { return *shared(i, j, k); }, line);
        if (exists_)
#pragma unroll
          for (int a = 0; a < n; ++a)
            store_fine(fine_ + mode(p_.fine, a, j, k), p_.factor * line[a]);
      });
    }

  private:
    /// use(first place, second place) for the lines of the thread, of which the cell has first * second.
    template <typename Use>
    __device__ static void for_lines(int first, int second, const Use &use)
    {
#pragma unroll 1
      for (int line = int(threadIdx.x) / lanes; line < first * second; line += n)
        use(line % first, line / first);
    }
    __device__ C *shared(int i, int j, int k) const
    {
      return reinterpret_cast<C *>(dynamic_shared()) + ((k * n + j) * nc_ + i) * lanes + lane_;
    }
    __device__ static std::int64_t mode(const Block &block, int i, int j, int k)
    {
      return k * block.plane() + j * block.row() + i * block.pitch;
    }
    __device__ static C number(const Number *from, std::int64_t at)
    {
      return load_pack<1>(from + at).at[0];
    }
    __device__ C coarse_number(int i, int j, int k) const
    {
      if (!exists_)
        return C(0);
      const std::int64_t at = coarse_ + mode(p_.coarse, i, j, k);
      return p_.src_rest == nullptr ? number(p_.src, at)
                                    : number(p_.src, at) + number(p_.src_rest, at);
    }
    __device__ void store_coarse(int i, int j, int k, C value) const
    {
      if (exists_)
        store_pack(p_.dst + coarse_ + mode(p_.coarse, i, j, k), Pack<C, 1>(p_.factor * value));
    }
    __device__ void store_fine(std::int64_t at, C value) const
    {
      C sum = p_.add ? number(p_.dst, at) : C(0);
      if (p_.add_rest)
        sum += number(p_.dst_rest, at);
      sum += value;
      store_pack(p_.dst + at, Pack<C, 1>(sum));
      if (p_.dst_rest == nullptr)
        return;
      const auto rounded = rounded_word<Number>(Pack<C, 1>(sum));
      store_pack(p_.dst_rest + at,
          Pack<C, 1>(sum - number(reinterpret_cast<const Number *>(&rounded), 0)));
    }

    /// use(std::integral_constant<int, i % 2>)
    template <typename Use>
    __device__ static void by_parity(int i, const Use &use)
    {
      if (i % 2 == 0)
        use(std::integral_constant<int, 0>());
      else
        use(std::integral_constant<int, 1>());
    }
    /// take(i, sum over a of P_ai line_a)
    template <typename Take>
    __device__ void collect(const Line &line, const Take &take) const
    {
#pragma unroll 1
      for (int i = 0; i < nc_; ++i)
        by_parity(i, [&](auto parity) {
          C sum(0);
#pragma unroll
          for (int a = parity.value; a < n; a += 2)
            sum = fma(p_.matrix[i * n + a], line[a], sum);
          take(i, sum);
        });
    }
    /// line_a = sum over i of P_ai u(i)
    template <typename Values>
    __device__ void expand(const Values &u, Line &line) const
    {
#pragma unroll
      for (int a = 0; a < n; ++a)
        line[a] = C(0);
#pragma unroll 1
      for (int i = 0; i < nc_; ++i)
        by_parity(i, [&, value = u(i)](auto parity) {
#pragma unroll
          for (int a = parity.value; a < n; a += 2)
            line[a] = fma(p_.matrix[i * n + a], value, line[a]);
        });
    }
  };

  template <typename Tile>
  __global__ void __launch_bounds__(Tile::threads)
      restrict_degree_kernel(const __grid_constant__ DegreeParameters<Tile> p)
  {
    DegreeThread<Tile>(p).restrict_cell();
  }
  template <typename Tile>
  __global__ void __launch_bounds__(Tile::threads)
      prolongate_degree_kernel(const __grid_constant__ DegreeParameters<Tile> p)
  {
    DegreeThread<Tile>(p).prolongate_cell();
  }

  /// `a`: Prolongate or Restrict.
  template <typename Tile, typename Arguments>
  DegreeParameters<Tile> degree_parameters(const Arguments &a, const typename Tile::C *matrix)
  {
    DegreeParameters<Tile> p{};
    for (int at = 0; at < a.coarse.n * Tile::n; ++at)
      p.matrix[at] = matrix[at];
    p.factor = static_cast<typename Tile::C>(a.factor);
    p.fine = a.fine;
    p.coarse = a.coarse;
    p.src = a.src;
    p.dst = a.dst;
    return p;
  }
  template <typename Tile>
  void launch_degree(const char *name, void (*kernel)(DegreeParameters<Tile>),
      const DegreeParameters<Tile> &p, Stream stream)
  {
    const std::int64_t cells = p.fine.pitch * p.fine.cells[1] * p.fine.cells[2];
    // Once per kernel and device: more shared memory than a kernel has without asking.
    resident_blocks(
        reinterpret_cast<const void *>(kernel), Tile::threads, Tile::shared_bytes(Tile::n - 1));
    launch(name, kernel, dim3(unsigned((cells + Tile::lanes - 1) / Tile::lanes)), Tile::threads,
        std::size_t(Tile::shared_bytes(p.coarse.n)), stream, p);
  }
  /// use.template operator()<Tile>() for a dimension and a degree known at run time.
  template <typename Number, typename Use>
  void for_degree_tile(const Block &fine, const Use &use)
  {
    laplace::by_degree<2, max_degree>(fine.degree(), [&](auto degree) {
      if (fine.dim == 2)
        use.template operator()<DegreeTile<Number, 2, degree.value + 1>>();
      else
        use.template operator()<DegreeTile<Number, 3, degree.value + 1>>();
    });
  }
} // namespace

template <typename Number>
void prolongate_degree_cuda(
    const Prolongate<Number> &a, const Compute<Number> *matrix, Stream stream)
{
  for_degree_tile<Number>(a.fine, [&]<typename Tile>() {
    DegreeParameters<Tile> p = degree_parameters<Tile>(a, matrix);
    p.add = a.add;
    p.add_rest = a.add_rest;
    p.src_rest = a.src_rest;
    p.dst_rest = a.dst_rest;
    launch_degree("launching the prolongation to a higher degree", &prolongate_degree_kernel<Tile>,
        p, stream);
  });
}

template <typename Number>
void restrict_degree_cuda(const Restrict<Number> &a, const Compute<Number> *matrix, Stream stream)
{
  for_degree_tile<Number>(a.fine, [&]<typename Tile>() {
    launch_degree("launching the restriction to a lower degree", &restrict_degree_kernel<Tile>,
        degree_parameters<Tile>(a, matrix), stream);
  });
}

template void prolongate_degree_cuda(const Prolongate<double> &, const double *, Stream);
template void prolongate_degree_cuda(const Prolongate<float> &, const float *, Stream);
template void prolongate_degree_cuda(const Prolongate<Half> &, const float *, Stream);
template void restrict_degree_cuda(const Restrict<double> &, const double *, Stream);
template void restrict_degree_cuda(const Restrict<float> &, const float *, Stream);
template void restrict_degree_cuda(const Restrict<Half> &, const float *, Stream);
} // namespace tensormg::transfer
