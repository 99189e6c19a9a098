// The passes in host memory: the lines of a group of neighbouring places at a time, so that inner loops run over memory.
#include <algorithm>
#include <vector>

#include "kernels/line_inverse/line_inverse.h"

namespace tensormg::line_inverse
{
namespace
{
  /// Neighbouring places whose lines are worked on at once.
  constexpr std::int64_t group = 64;

  /// f(first place, places, sums[unknown of the line][place]) for all lines; in x a place is a row by itself.
  template <typename C, typename Src, typename F>
  void for_each_group(const Block &block, int direction, const C *matrix, const Src *src, F &&f)
  {
    const LineStrides strides(block, direction);
    const int size = static_cast<int>(block.cells[direction]) * block.n;
    const std::int64_t line = direction == 0 ? block.row() : size * strides.mode;
    const std::int64_t places = direction == 0 ? 1 : strides.mode;
    std::vector<C> sums(static_cast<std::size_t>(size * std::min(group, places)));
    for (std::int64_t first = 0; first < block.size(); first += line)
      for (std::int64_t place = 0; place < places; place += group)
      {
        const std::int64_t count = std::min(group, places - place);
        std::fill(sums.begin(), sums.end(), C(0));
        for (int e = 0; e < size; ++e)
          for (int u = 0; u < size; ++u)
          {
            const C weight = matrix[e * size + u];
            const Src *from = src + first + place + strides.offset(u);
            C *sum = sums.data() + e * count;
            for (std::int64_t at = 0; at < count; ++at)
              sum[at] += weight * static_cast<C>(from[at]);
          }
        f(first + place, count, sums.data());
      }
  }

  /// Zeros in the padding of all rows.
  template <typename T>
  void clear_padding(const Block &block, T *x)
  {
    for (std::int64_t at = 0; at < block.size(); at += block.pitch)
      std::fill(x + at + block.cells[0], x + at + block.pitch, T(0.f));
  }
} // namespace

template <typename Src, typename C>
void rotate(const Rotate<Src, C> &a)
{
  const Block &block = a.block;
  const LineStrides strides(block, a.direction);
  const int size = static_cast<int>(block.cells[a.direction]) * block.n;
  for_each_group<C>(block, a.direction, a.matrix, a.src,
      [&](std::int64_t first, std::int64_t count, const C *sums) {
        for (int e = 0; e < size; ++e)
        {
          C *to = a.dst + first + strides.offset(e);
          std::copy_n(sums + e * count, count, to);
        }
      });
  if (a.direction == 0)
    clear_padding(block, a.dst);
  if (a.diagonal[0] == nullptr)
    return;
  for (std::int64_t z = 0; z < block.planes(); ++z)
    for (std::int64_t y = 0; y < block.rows_per_plane(); ++y)
    {
      C *row = a.dst + (z * block.rows_per_plane() + y) * block.row();
      const C others = a.diagonal[1][y] + a.diagonal[2][z];
      for (std::int64_t x = 0; x < block.row(); ++x)
      {
        const C sum = a.diagonal[0][x] + others;
        row[x] = sum == C(0) ? C(0) : row[x] / sum;
      }
    }
}

template <typename Number>
void rotate_and_add(const RotateAndAdd<Number> &a)
{
  using C = Compute<Number>;
  const Block &block = a.block;
  const LineStrides strides(block, a.direction);
  const int size = static_cast<int>(block.cells[a.direction]) * block.n;
  const C alpha = static_cast<C>(a.alpha), theta = static_cast<C>(a.theta);
  for_each_group<C>(block, a.direction, a.matrix, a.src,
      [&](std::int64_t first, std::int64_t count, const C *sums) {
        for (int e = 0; e < size; ++e)
          for (std::int64_t at = 0; at < count; ++at)
          {
            const std::int64_t to = first + strides.offset(e) + at;
            const C start = a.start != nullptr ? static_cast<C>(a.start[to]) : C(0);
            const C old = a.old != nullptr ? static_cast<C>(a.old[to]) : C(0);
            a.dst[to] = Number(start + theta * (start - old) + alpha * sums[e * count + at]);
          }
      });
  if (a.direction == 0)
    clear_padding(block, a.dst);
}

template void rotate(const Rotate<double, double> &);
template void rotate(const Rotate<float, float> &);
template void rotate(const Rotate<Half, float> &);
template void rotate_and_add(const RotateAndAdd<double> &);
template void rotate_and_add(const RotateAndAdd<float> &);
template void rotate_and_add(const RotateAndAdd<Half> &);
} // namespace tensormg::line_inverse
