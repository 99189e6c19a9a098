// The `mma` backend for N > 8: tensors in shared memory, products by tiles of eight lines
// (kernels/tensor/staged_tile.h).
//
//   lines along z   global b  -> Q_z' b
//   lines along y   Q_y'
//   lines along x   Q_x' and L^+, then Q_x      a warp has its lines for itself: no barrier in between
//   lines along y   Q_y
//   lines along z   Q_z       -> global x
//
// in place, with a barrier after each (2D: without both of y, y in place of z). Ten reads and writes of shared
// memory per entry.
#pragma once

#include <vector>

#include "kernels/device/launch.cuh"
#include "kernels/device/shared_memory.cuh"
#include "kernels/patch_inverse/patch_inverse.h"
#include "kernels/patch_inverse/reciprocal.cuh"
#include "kernels/patch_inverse/reference.h"
#include "kernels/tensor/device_resources.cuh"
#include "kernels/tensor/sizes_dispatch.h"
#include "kernels/tensor/staged.cuh"

namespace tensormg::patch_inverse
{
/// A constant matrix in registers.
template <typename P, int n>
struct StagedMatrix
{
  using Rows = tensor::StagedRows<typename P::S, n>;
  static_assert(!Rows::stacked);
  static constexpr int tile_bytes = tensor::FragmentBytes<P, mma::Operand::a>::of_warp;
  static constexpr int bytes = Rows::tiles * Rows::steps * tile_bytes;

  typename P::A a[Rows::tiles][Rows::steps];

  __device__ void load(const std::byte *table, int lane)
  {
#pragma unroll
    for (int i = 0; i < Rows::tiles * Rows::steps; ++i)
      a[i / Rows::steps][i % Rows::steps] =
          tensor::load_terms<P, mma::Operand::a>(table + i * tile_bytes, lane);
  }

  template <typename Matrix>
  static void append(std::vector<std::byte> &table, Matrix matrix)
  {
    for (int tile = 0; tile < Rows::tiles; ++tile)
      for (int step = 0; step < Rows::steps; ++step)
        tensor::append_fragment<P, mma::Operand::a>(table, [&](int i, int k) {
          const int row = tile * P::S::m + i, column = step * P::S::k + k;
          return row < n && column < n ? matrix(row, column) : 0.;
        });
  }

  /// store(i, even, odd) for the lane's entry i of two neighbouring lines; i may be n or more.
  template <typename Store>
  __device__ void multiply(
      const tensor::LineOperand<P, Rows::steps> &lines, int lane, Store store) const
  {
#pragma unroll
    for (int tile = 0; tile < Rows::tiles; ++tile)
    {
      tensor::Sum<P> sum;
      tensor::add_lines(sum, a[tile], lines);
#pragma unroll
      for (int half = 0; half < P::S::m / 8; ++half)
        store(tile * P::S::m + 8 * half + lane / 4, sum.get(2 * half), sum.get(2 * half + 1));
    }
  }
};

/// [direction][End][Q', Q] fragments, then [direction][End][n] values.
template <typename P, typename Tile>
struct StagedTables
{
  using C = typename P::C;
  using Matrix = StagedMatrix<P, Tile::n>;
  static constexpr int fragment_bytes = 3 * tensor::n_ends * 2 * Matrix::bytes;

  static std::vector<std::byte> pack(const Factors &factors, int n)
  {
    check_sizes(factors, n);
    std::vector<std::byte> table;
    for (const auto &direction : factors)
      for (const LineFactors &line : direction)
        for (const bool transposed : {true, false})
          Matrix::append(table, [&](int i, int k) {
            return line.values.empty() ? 0. : line.vectors[transposed ? k * n + i : i * n + k];
          });
    std::vector<C> values;
    for (const auto &direction : factors)
      for (const LineFactors &line : direction)
        for (int i = 0; i < n; ++i)
          values.push_back(line.values.empty() ? C(0) : static_cast<C>(line.values[i]));
    const auto *bytes = reinterpret_cast<const std::byte *>(values.data());
    table.insert(table.end(), bytes, bytes + values.size() * sizeof(C));
    return table;
  }
};

/// A block's work on tensors that touch the same ends, in shared memory.
template <typename P, typename Tile>
class StagedField
{
public:
  using C = typename P::C;
  using Tables = StagedTables<P, Tile>;
  using Matrix = typename Tables::Matrix;

  /// `end` is End of each direction.
  __device__ StagedField(C *field, const std::byte *tables, const std::array<std::uint8_t, 3> &end)
    : field_(field)
    , tables_(tables)
    , end_(end)
    , lane_(static_cast<int>(threadIdx.x) % 32)
    , warp_(static_cast<int>(threadIdx.x) / 32)
  {}

  /// Q_d or Q_d' in place.
  template <int d, bool transposed>
  __device__ void multiply_in_place() const
  {
    const Matrix matrix = load<d, transposed>();
    for (int column = warp_; column < Tile::columns; column += Tile::warps)
    {
      const auto lines = tensor::load_lines<P, Tile, d>(field_, column, lane_);
      __syncwarp(); // all lanes have read the lines before they are overwritten
      matrix.multiply(lines, lane_, [&](int i, C even, C odd) {
        tensor::store_lines<Tile, d>(field_, column, lane_, i - lane_ / 4, even, odd);
      });
    }
  }

  /// L^+ Q_x' in place.
  __device__ void to_scaled_modes() const
  {
    const Matrix matrix = load<0, true>();
    for (int column = warp_; column < Tile::columns; column += Tile::warps)
    {
      const auto lines = tensor::load_lines<P, Tile, 0>(field_, column, lane_);
      C others[2];
#pragma unroll
      for (int v = 0; v < 2; ++v)
      {
        const int line = 8 * column + lane_ % 4 * 2 + v;
        const int valid = line < Tile::lines ? line : Tile::lines - 1;
        others[v] = value<1>(valid % Tile::n);
        if constexpr (Tile::dim == 3)
          others[v] += value<2>(valid / Tile::n);
      }
      __syncwarp();
      matrix.multiply(lines, lane_, [&](int i, C even, C odd) {
        const C own = i < Tile::n ? value<0>(i) : C(1);
        tensor::store_lines<Tile, 0>(field_, column, lane_, i - lane_ / 4,
            even * reciprocal_or_zero(own + others[0]), odd * reciprocal_or_zero(own + others[1]));
      });
    }
  }

protected:
  template <int d, bool transposed>
  __device__ Matrix load() const
  {
    Matrix matrix;
    matrix.load(tables_ + (row<d>() * 2 + (transposed ? 0 : 1)) * Matrix::bytes, lane_);
    return matrix;
  }

  C *field_;
  const std::byte *tables_;
  const std::array<std::uint8_t, 3> &end_;
  int lane_, warp_;

private:
  template <int d>
  __device__ C value(int i) const
  {
    return __ldg(
        reinterpret_cast<const C *>(tables_ + Tables::fragment_bytes) + row<d>() * Tile::n + i);
  }

  /// Of a direction and its end in the tables.
  template <int d>
  __device__ int row() const
  {
    return d * tensor::n_ends + end_[d];
  }
};

/// The same for one group of tensors of global memory, its way from and to there included.
template <typename P, typename Tile, typename Number>
class StagedGroup : public StagedField<P, Tile>
{
  using Base = StagedField<P, Tile>;
  using Base::field_, Base::lane_, Base::warp_;

public:
  using typename Base::C;
  static constexpr int last = Tile::dim - 1;

  __device__ StagedGroup(
      const tensor::GroupParameters<Number> &p, int box, unsigned group, C *field)
    : Base(field, p.tables, p.placement.boxes[box].end)
    , p_(p)
    , box_(box)
    , first_((group - p.placement.begin[box]) * Tile::tensors)
  {}

  __device__ void read_lines() const
  {
    const auto matrix = this->template load<last, true>();
    for (int column = warp_; column < Tile::columns; column += Tile::warps)
    {
      const auto lines = tensor::load_global_lines<P, Tile, last>(
          p_.placement, box_, first_, p_.src, column, lane_);
      matrix.multiply(lines, lane_, [&](int i, C even, C odd) {
        tensor::store_lines<Tile, last>(field_, column, lane_, i - lane_ / 4, even, odd);
      });
    }
  }

  __device__ void write_lines() const
  {
    const auto matrix = this->template load<last, false>();
    for (int column = warp_; column < Tile::columns; column += Tile::warps)
    {
      const auto lines = tensor::load_lines<P, Tile, last>(field_, column, lane_);
      const tensor::GlobalPair<Tile> to(p_.placement, box_, first_, column, lane_);
      matrix.multiply(lines, lane_, [&](int i, C even, C odd) {
        if (i < Tile::n)
          to.store(p_.placement, p_.dst, p_.add, i, even, odd);
      });
    }
  }

private:
  const tensor::GroupParameters<Number> &p_;
  int box_;
  unsigned first_;
};

template <typename P, typename Tile, typename Number>
__global__ void __launch_bounds__(Tile::threads, Tile::resident)
    staged_kernel(const __grid_constant__ tensor::GroupParameters<Number> p)
{
  if constexpr (mma::is_available<typename P::S>)
  {
    auto *field = reinterpret_cast<typename P::C *>(dynamic_shared());
    for (unsigned group = blockIdx.x; group < p.placement.n_groups(); group += gridDim.x)
    {
      const StagedGroup<P, Tile, Number> work(p, p.placement.box_of(group), group, field);
      work.read_lines();
      __syncthreads();
      if constexpr (Tile::dim == 3)
      {
        work.template multiply_in_place<1, true>();
        __syncthreads();
      }
      work.to_scaled_modes();
      __syncwarp();
      work.template multiply_in_place<0, false>();
      __syncthreads();
      if constexpr (Tile::dim == 3)
      {
        work.template multiply_in_place<1, false>();
        __syncthreads();
      }
      work.write_lines();
      __syncthreads();
    }
  }
}

template <typename P, typename Tile>
constexpr int staged_bytes = Tile::field_size *static_cast<int>(sizeof(typename P::C));

template <typename P, typename Tile, typename Number>
void apply_staged(const Arguments<Number> &a)
{
  const auto kernel = &staged_kernel<P, Tile, Number>;
  if constexpr (P::S::min_capability > 80)
    tensor::require_compiled_for(P::S::min_capability, kernel);
  tensor::launch_groups("launching the local inverse on staged tensors", kernel, Tile::threads,
      staged_bytes<P, Tile>, a.stream, tensor::GroupParameters<Number>(a, Tile::tensors));
}

template <typename P, typename Tile, typename Number>
tensor::Resources staged_resources()
{
  constexpr int accesses = Tile::dim == 3 ? 10 : 6;
  return tensor::device_resources(&staged_kernel<P, Tile, Number>, Tile::threads,
      staged_bytes<P, Tile>, accesses * static_cast<int>(sizeof(typename P::C)));
}

/// The kernel of a size known at run time, N > 8.
template <typename S, int terms, typename Number>
Kernel<Number> staged_kernel_of(int dim, int n)
{
  using P = tensor::Product<S, terms>;
  const auto of_size = [](auto size) {
    using Layout = typename tensor::PermutedLayoutOf<size.n, sizeof(typename P::C)>::type;
    using Tile = tensor::StagedTile<size.dim, size.n, Layout>;
    return Kernel<Number>{&apply_staged<P, Tile, Number>, &StagedTables<P, Tile>::pack,
        &staged_resources<P, Tile, Number>};
  };
  return n > 16 ? tensor::dispatch_size<Kernel<Number>, tensor::Sizes::largest>(dim, n, of_size)
                : tensor::dispatch_size<Kernel<Number>, tensor::Sizes::medium>(dim, n, of_size);
}
} // namespace tensormg::patch_inverse
