// What no patch of a colour has are at most three slabs: the cells that are not covered in z; of the others those
// that are not in y; of the others those that are not in x.
#include <algorithm>

#include "kernels/device/launch.cuh"
#include "kernels/device/pack.cuh"
#include "kernels/patch/cuda.h"

namespace tensormg::patch
{
namespace
{
  constexpr int threads = 256;

  /// Cells (first_d + c) mod cells_d, c < count_d.
  struct Slab
  {
    std::array<unsigned, 3> first, count;
  };
  struct Slabs
  {
    Block block;
    std::array<unsigned, 3> cells;
    std::array<Slab, 3> slab;
  };

  /// blockIdx: entries of a plane, planes, slabs.
  template <typename Number>
  __global__ void __launch_bounds__(threads)
      copy_kernel(const __grid_constant__ Slabs s, const Number *x, Number *y)
  {
    const Slab &slab = s.slab[blockIdx.z];
    const unsigned n = static_cast<unsigned>(s.block.n);
    const unsigned nz = static_cast<unsigned>(s.block.nz());
    const unsigned per_plane = slab.count[0] * n * slab.count[1] * n;
    for (unsigned plane = blockIdx.y; plane < slab.count[2] * nz; plane += gridDim.y)
    {
      const unsigned cz = (slab.first[2] + plane / nz) % s.cells[2];
      for (unsigned at = blockIdx.x * threads + threadIdx.x; at < per_plane;
           at += gridDim.x * threads)
      {
        const unsigned line = at / slab.count[0], row = line / n;
        const unsigned cx = (slab.first[0] + at % slab.count[0]) % s.cells[0];
        const unsigned cy = (slab.first[1] + row / n) % s.cells[1];
        const std::int64_t to = s.block.index(cx, cy, cz, static_cast<int>(line % n),
            static_cast<int>(row % n), static_cast<int>(plane % nz));
        y[to] = x[to];
      }
    }
  }
} // namespace

template <typename Number>
void copy_uncovered_cuda(
    const Block &block, const Patches &patches, const Number *x, Number *y, Stream stream)
{
  Slabs slabs{block, {}, {}};
  std::array<unsigned, 3> first_covered{}, covered{};
  for (int d = 0; d < 3; ++d)
  {
    slabs.cells[d] = static_cast<unsigned>(block.cells[d]);
    first_covered[d] = static_cast<unsigned>(patches.first_cell[d]);
    covered[d] = static_cast<unsigned>(patches.covered[d]);
  }
  unsigned most_entries = 0, most_planes = 0;
  for (int d = 0; d < 3; ++d)
  {
    Slab &slab = slabs.slab[d];
    for (int e = 0; e < 3; ++e)
    {
      slab.first[e] = e < d ? 0
          : e == d          ? (first_covered[e] + covered[e]) % slabs.cells[e]
                            : first_covered[e];
      slab.count[e] = e < d ? slabs.cells[e] : e == d ? slabs.cells[e] - covered[e] : covered[e];
    }
    if (slab.count[0] == 0 || slab.count[1] == 0 || slab.count[2] == 0)
      slab.count = {0, 0, 0};
    most_entries = std::max(most_entries, slab.count[0] * slab.count[1] * block.n * block.n);
    most_planes = std::max(most_planes, slab.count[2] * block.nz());
  }
  if (most_planes == 0)
    return;
  const dim3 grid(
      std::min((most_entries + threads - 1) / threads, 1024u), std::min(most_planes, 256u), 3);
  launch("copying what no patch has", &copy_kernel<Number>, grid, dim3(threads), 0, stream, slabs,
      x, y);
}

template void copy_uncovered_cuda(const Block &, const Patches &, const double *, double *, Stream);
template void copy_uncovered_cuda(const Block &, const Patches &, const float *, float *, Stream);
template void copy_uncovered_cuda(const Block &, const Patches &, const Half *, Half *, Stream);
} // namespace tensormg::patch
