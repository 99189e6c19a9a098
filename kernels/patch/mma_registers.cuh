// Patches with N <= 8 solved on tensor cores: a warp has its patches in registers
// (kernels/patch_inverse/mma_registers.cuh), and shared memory is for the way there alone: four accesses per
// unknown, gathering included.
#pragma once

#include "kernels/patch/cuda_kernel.cuh"
#include "kernels/patch_inverse/mma_registers.cuh"
#include "kernels/tensor/lines.cuh"

namespace tensormg::patch
{
template <typename P, typename Tile_>
class PlaneSolver
{
  using Tile = Tile_;
  using Tables = patch_inverse::RegisterTables<P, Tile>;

public:
  using C = typename P::C;
  static constexpr int dim = Tile::dim, N = Tile::n;
  static constexpr int group_size = Tile::tensors * Tile::warps, threads = Tile::threads;
  /// The two-term split spills with fewer than 128 registers per thread.
  static constexpr int resident = P::terms == 2 ? 4 : tensor::plane_blocks<C, P::terms, Tile>;
  static constexpr bool is_available = mma::is_available<typename P::S>;
  static constexpr int min_capability = P::S::min_capability;
  static constexpr patch_inverse::PackFactors *pack = &Tables::pack;

private:
  static constexpr int n_planes = dim == 3 ? N : 1;
  /// From patch to patch: eight numbers more, so that neighbouring cells of neighbouring patches, which are
  /// gathered together, lie in different banks.
  static constexpr int stride = n_planes * N * N + 8;
  static constexpr int field_size = group_size * stride;

public:
  static constexpr int shared_bytes =
      (field_size + Tables::shared_size) * static_cast<int>(sizeof(C));

  __device__ PlaneSolver(unsigned char *memory, const std::byte *tables)
    : field_(reinterpret_cast<C *>(memory))
    , tables_(tables)
    , lane_(static_cast<int>(threadIdx.x) % 32)
    , warp_(static_cast<int>(threadIdx.x) / 32)
    , place_(lane_)
  {
    tensor::copy_to_shared(field_ + field_size,
        reinterpret_cast<const C *>(tables + Tables::fragment_bytes), Tables::shared_size);
    __syncthreads();
  }

  __device__ void start(const tensor::Box &box)
  {
    factors_.load(tables_, field_ + field_size, box, place_, lane_);
  }

  __device__ C *field() const { return field_; }
  __device__ static int offset(int patch, int z, int y, int x)
  {
    return patch * stride + (z * N + y) * N + x;
  }

  __device__ void solve() const
  {
    tensor::Pair<C> b[Tile::planes];
    C x[Tile::planes][2];
#pragma unroll
    for (int plane = 0; plane < Tile::planes; ++plane)
    {
      b[plane] = {};
      if (exists())
      {
        const auto pair = load_pack<2>(entries(plane));
        b[plane].at[0] = pair.at[0];
        b[plane].at[1] = pair.at[1];
      }
    }
    patch_inverse::solve_planes<P, Tile>(factors_, b, x);
#pragma unroll
    for (int plane = 0; plane < Tile::planes; ++plane)
      if (exists())
      {
        Pack<C, 2> pack;
        pack.at[0] = x[plane][0];
        pack.at[1] = x[plane][1];
        write_pack(entries(plane), pack);
      }
  }

private:
  __device__ bool exists() const { return place_.row < Tile::used && place_.column < Tile::used; }
  /// The lane's two neighbours in x.
  __device__ C *entries(int plane) const
  {
    const int in_tile = place_.row / N * Tile::side + place_.column / N;
    const int first = warp_ * Tile::tensors + (dim == 3 ? 0 : plane * Tile::per_tile);
    return field_ +
        offset(first + in_tile, dim == 3 ? plane : 0, place_.row % N, place_.column % N);
  }

  C *field_;
  const std::byte *tables_;
  int lane_, warp_;
  tensor::PlaneLane<Tile> place_;
  patch_inverse::RegisterFactors<P, Tile> factors_;
};

/// Degrees 1 to 3.
template <typename S, int terms, typename Number>
DeviceKernel<Number> plane_kernel(int dim, int n)
{
  return dispatch_modes<DeviceKernel<Number>, 2, 4>(dim, n, [](auto size) {
    return kernel_of<PlaneSolver<tensor::Product<S, terms>, tensor::PlaneTile<size.dim, size.n>>,
        Number>();
  });
}
} // namespace tensormg::patch
