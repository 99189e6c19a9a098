// What the references share: their numbers in double, and the entries of a result one by one.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "kernels/laplace/laplace.h"

namespace tensormg::laplace
{
inline double to_double(double x) { return x; }
inline double to_double(float x) { return x; }
inline double to_double(Half x) { return static_cast<float>(x); }
inline double to_double(WideFloat x) { return x.value; }
inline void assign(double &to, double x) { to = x; }
inline void assign(float &to, double x) { to = static_cast<float>(x); }
inline void assign(Half &to, double x) { to = Half(static_cast<float>(x)); }
inline void assign(WideFloat &to, double x) { to = WideFloat(x); }

/// A mode of a cell.
struct Entry
{
  std::array<std::int64_t, 3> cell;
  std::array<int, 3> mode;
};
inline std::int64_t index(const Block &block, const Entry &e)
{
  return block.index(e.cell[0], e.cell[1], e.cell[2], e.mode[0], e.mode[1], e.mode[2]);
}
/// Of the entry's line in a ghost buffer of side s: V; D lies half of the buffer further.
inline std::int64_t ghost_index(const Block &block, const Entry &e, int s)
{
  const std::int64_t z = e.cell[2] * block.nz() + e.mode[2], y = e.cell[1] * block.n + e.mode[1];
  return (s < 4 ? z : y) * block.row() + e.mode[0] * block.pitch + e.cell[0];
}

/// dst = result(entry) for all entries of the range, zero in the padding.
template <typename Number, typename Result>
void set_entries(const Arguments<Number> &a, const Result &result)
{
  const Block &block = a.block;
  const std::int64_t y_end = std::min(a.range.y_end, block.cells[1]);
  const std::int64_t z_end = std::min(a.range.z_end, block.cells[2]);
  for (std::int64_t cz = a.range.z_begin; cz < z_end; ++cz)
    for (std::int64_t cy = a.range.y_begin; cy < y_end; ++cy)
      for (std::int64_t cx = 0; cx < block.pitch; ++cx)
        for (int line = 0; line < block.n * block.nz(); ++line)
          for (int i = 0; i < block.n; ++i)
          {
            const Entry entry{{cx, cy, cz}, {i, line % block.n, line / block.n}};
            assign(a.dst[index(block, entry)], cx >= block.cells[0] ? 0. : result(entry));
          }
}
} // namespace tensormg::laplace
