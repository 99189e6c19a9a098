#include "operators/cellwise/vertex_splits.h"

#include <algorithm>
#include <array>
#include <limits>

#include <mpi.h>

namespace tensormg
{
namespace
{
  /// A number of every cell of the box: the mean of c_a over the directions.
  std::vector<double> strengths_of_box(
      const LevelGrid &level, const laplace::CellNumbers<double> &cells)
  {
    const auto &[nx, ny, nz] = level.global_cells;
    std::vector<double> result(static_cast<std::size_t>(nx * ny * nz), 0.);
    const Block &block = level.block;
    for (std::int64_t cz = 0; cz < block.cells[2]; ++cz)
      for (std::int64_t cy = 0; cy < block.cells[1]; ++cy)
        for (std::int64_t cx = 0; cx < block.cells[0]; ++cx)
        {
          const std::int64_t from = cx + cy * cells.row + cz * cells.plane;
          const std::int64_t to =
              ((cz + level.offset[2]) * ny + cy + level.offset[1]) * nx + cx + level.offset[0];
          result[static_cast<std::size_t>(to)] =
              cells.c[0][from] + cells.c[1][from] + cells.c[2][from];
        }
    if (level.communicator != MPI_COMM_SELF)
    {
      constexpr std::size_t most = std::numeric_limits<int>::max();
      for (std::size_t at = 0; at < result.size(); at += most)
        MPI_Allreduce(MPI_IN_PLACE, result.data() + at,
            static_cast<int>(std::min(most, result.size() - at)), MPI_DOUBLE, MPI_SUM,
            level.communicator);
    }
    return result;
  }

  /// The octant to split, or -1: its cell and the opposite one are so many times as stiff as the others.
  int octant_to_split(const std::array<double, 8> &strength)
  {
    constexpr double much = 5.;
    for (int octant = 0; octant < 4; ++octant)
    {
      double others = 0.;
      for (int o = 0; o < 8; ++o)
        if (o != octant && o != 7 - octant)
          others = std::max(others, strength[o]);
      if (std::min(strength[octant], strength[7 - octant]) > much * others)
        return octant;
    }
    return -1;
  }
} // namespace

VertexSplits::VertexSplits(
    const LevelGrid &level, const VertexGrid &grid, const laplace::CellNumbers<double> &cells)
{
  if (!grid.is_3d())
    return;
  const std::vector<double> all = strengths_of_box(level, cells);
  const auto &n = level.global_cells;
  at_.assign(static_cast<std::size_t>(grid.size()), -1);
  std::array<std::int64_t, 3> v{};
  for (v[2] = 0; v[2] < grid.count[2]; ++v[2])
    for (v[1] = 0; v[1] < grid.count[1]; ++v[1])
      for (v[0] = 0; v[0] < grid.count[0]; ++v[0])
      {
        bool is_inside = true;
        for (int d = 0; d < 3; ++d)
          is_inside = is_inside && (grid.periodic[d] || (v[d] > 0 && v[d] < n[d]));
        if (!is_inside)
          continue;
        std::array<double, 8> strength{};
        for (int o = 0; o < 8; ++o)
        {
          std::array<std::int64_t, 3> cell{};
          for (int d = 0; d < 3; ++d)
            cell[d] = (v[d] - 1 + (o >> d & 1) + n[d]) % n[d];
          strength[o] = all[static_cast<std::size_t>((cell[2] * n[1] + cell[1]) * n[0] + cell[0])];
        }
        if (const int octant = octant_to_split(strength); octant >= 0)
        {
          at_[static_cast<std::size_t>(grid.place(v[0], v[1], v[2]))] =
              static_cast<std::int32_t>(octants_.size());
          octants_.push_back(octant);
        }
      }
}
} // namespace tensormg
