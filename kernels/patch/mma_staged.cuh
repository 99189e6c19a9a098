// Patches with N > 8 solved on tensor cores by tiles of eight lines in shared memory
// (kernels/patch_inverse/mma_staged.cuh), all directions in place. Fourteen accesses per unknown to it, gathering
// included (2D: ten).
#pragma once

#include "kernels/patch/cuda_kernel.cuh"
#include "kernels/patch_inverse/mma_staged.cuh"

namespace tensormg::patch
{
template <typename P, typename Tile_>
class StagedSolver
{
  using Tile = Tile_;

public:
  using C = typename P::C;
  static constexpr int dim = Tile::dim, N = Tile::n;
  static constexpr int group_size = Tile::tensors, threads = Tile::threads;
  static constexpr int resident = Tile::resident;
  static constexpr int shared_bytes = patch_inverse::staged_bytes<P, Tile>;
  static constexpr bool is_available = mma::is_available<typename P::S>;
  static constexpr int min_capability = P::S::min_capability;
  static constexpr patch_inverse::PackFactors *pack = &patch_inverse::StagedTables<P, Tile>::pack;

  __device__ StagedSolver(unsigned char *memory, const std::byte *tables)
    : field_(reinterpret_cast<C *>(memory))
    , tables_(tables)
  {}

  __device__ void start(const tensor::Box &box) { box_ = &box; }

  __device__ C *field() const { return field_; }
  __device__ static int offset(int patch, int z, int y, int x)
  {
    return typename Tile::Layout()(dim == 3 ? z : patch, y, x);
  }

  __device__ void solve() const
  {
    const patch_inverse::StagedField<P, Tile> work(field_, tables_, box_->end);
    if constexpr (dim == 3)
    {
      work.template multiply_in_place<2, true>();
      __syncthreads();
    }
    work.template multiply_in_place<1, true>();
    __syncthreads();
    work.to_scaled_modes();
    __syncwarp();
    work.template multiply_in_place<0, false>();
    __syncthreads();
    work.template multiply_in_place<1, false>();
    if constexpr (dim == 3)
    {
      __syncthreads();
      work.template multiply_in_place<2, false>();
    }
  }

private:
  C *field_;
  const std::byte *tables_;
  const tensor::Box *box_ = nullptr;
};

/// Degrees 4 to 8.
template <typename S, int terms, typename Number>
DeviceKernel<Number> staged_kernel(int dim, int n)
{
  return dispatch_modes<DeviceKernel<Number>, 5, max_n>(dim, n, [](auto size) {
    using P = tensor::Product<S, terms>;
    using Layout = typename tensor::PermutedLayoutOf<size.n, sizeof(typename P::C)>::type;
    return kernel_of<StagedSolver<P, tensor::StagedTile<size.dim, size.n, Layout>>, Number>();
  });
}
} // namespace tensormg::patch
