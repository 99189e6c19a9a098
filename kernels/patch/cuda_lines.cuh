// Patches solved on CUDA cores: a thread has whole lines of them (kernels/patch_inverse/cuda_lines.cuh), all
// directions in place in shared memory. Twelve accesses per unknown to it, gathering included (2D: eight).
#pragma once

#include "kernels/patch/cuda_kernel.cuh"
#include "kernels/patch_inverse/cuda_lines.cuh"

namespace tensormg::patch
{
template <typename Tile_>
class LineSolver
{
  using Tile = Tile_;
  using Memory = patch_inverse::LineMemory<Tile>;
  using Tables = patch_inverse::LineTables<Tile>;

public:
  using C = typename Tile::C;
  static constexpr int dim = Tile::dim, N = Tile::n;
  static constexpr int group_size = Tile::tensors, threads = Tile::threads;
  static constexpr int resident = Tile::resident, shared_bytes = Memory::bytes;
  static constexpr bool is_available = true;
  static constexpr int min_capability = 80;
  static constexpr patch_inverse::PackFactors *pack = &patch_inverse::pack_lines<Tile>;

  __device__ LineSolver(unsigned char *memory, const std::byte *tables)
    : memory_(memory)
    , tables_(reinterpret_cast<const C *>(tables))
  {}

  __device__ void start(const tensor::Box &box) const
  {
    for (int d = 0; d < dim; ++d)
      tensor::copy_to_shared(memory_.tables + d * Tables::size,
          tables_ + (d * tensor::n_ends + box.end[d]) * Tables::size, Tables::size);
  }

  __device__ C *field() const { return memory_.field; }
  __device__ static int offset(int patch, int z, int y, int x)
  {
    if constexpr (dim == 3)
      return typename Tile::Layout()(patch * N + z, y, x);
    else
      return typename Tile::Layout()(patch, y, x);
  }

  __device__ void solve() const
  {
    if constexpr (dim == 3)
    {
      patch_inverse::multiply_in_place<Tile, 2, true>(memory_);
      __syncthreads();
    }
    patch_inverse::multiply_in_place<Tile, 1, true>(memory_);
    __syncthreads();
    patch_inverse::solve_along_x(memory_);
    __syncthreads();
    patch_inverse::multiply_in_place<Tile, 1, false>(memory_);
    if constexpr (dim == 3)
    {
      __syncthreads();
      patch_inverse::multiply_in_place<Tile, 2, false>(memory_);
    }
  }

private:
  Memory memory_;
  const C *tables_;
};

/// All degrees.
template <typename Number>
DeviceKernel<Number> line_kernel(int dim, int n)
{
  return dispatch_modes<DeviceKernel<Number>, 2, max_n>(dim, n, [](auto size) {
    return kernel_of<LineSolver<tensor::LineTile<Compute<Number>, size.dim, size.n>>, Number>();
  });
}
} // namespace tensormg::patch
