#include "operators/constant/start_vector.h"

#include "kernels/vector/cuda.h"
#include "kernels/vector/vector.h"

namespace tensormg
{
Vector<double> pseudo_random_vector(const LevelGrid &level, const HostContext & /*context*/)
{
  const Block &block = level.block;
  Vector<double> v(block);
  const std::int64_t rows = level.global_cells[1] * block.n;
  for (std::int64_t z = 0; z < block.planes(); ++z)
    for (std::int64_t y = 0; y < block.rows_per_plane(); ++y)
      for (int i = 0; i < block.n; ++i)
        for (std::int64_t cx = 0; cx < block.cells[0]; ++cx)
        {
          const std::int64_t line =
              (level.offset[2] * block.nz() + z) * rows + level.offset[1] * block.n + y;
          v[z * block.plane() + y * block.row() + i * block.pitch + cx] =
              vector_kernels::pseudo_random(static_cast<std::uint64_t>(
                  (line * block.n + i) * level.global_cells[0] + level.offset[0] + cx));
        }
  return v;
}

DeviceVector<double> pseudo_random_vector(const LevelGrid &level, const DeviceContext &context)
{
  DeviceVector<double> v(level.block, context.stream, Unset());
  const Block &block = level.block;
  vector_kernels::cuda::pseudo_random_vector(block,
      {level.offset[2] * block.nz(), level.offset[1] * block.n, level.global_cells[1] * block.n},
      v.data(), context.stream);
  return v;
}
} // namespace tensormg
