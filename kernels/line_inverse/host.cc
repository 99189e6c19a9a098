// The passes in host memory.
#include <algorithm>
#include <vector>

#include "kernels/core/host_blas.h"
#include "kernels/line_inverse/line_inverse.h"

namespace tensormg::line_inverse
{
namespace
{
  /// Lines that are worked on at once.
  constexpr std::int64_t most_lines = 256;

  /// f(position, value) for every number of the product along the lines, padding of rows in x excluded. Lines are packed as columns
  /// and multiplied by BLAS.
  template <typename C, typename Src, typename F>
  void for_each_product(const Block &block, int direction, const C *matrix, const Src *src, F &&f)
  {
    const LineStrides strides(block, direction);
    const std::int64_t size = block.cells[direction] * block.n;
    // Neighbouring lines are neighbours in memory, or in x rows.
    const std::int64_t step = direction == 0 ? block.row() : 1;
    const std::int64_t lines =
        direction == 0 ? block.planes() * block.rows_per_plane() : strides.mode;
    const std::int64_t jump = direction == 1 ? block.plane() : block.size();
    std::vector<C> in(static_cast<std::size_t>(size * std::min(most_lines, lines))), out(in.size());
    for (std::int64_t begin = 0; begin < block.size(); begin += jump)
      for (std::int64_t line = 0; line < lines; line += most_lines)
      {
        const std::int64_t count = std::min(most_lines, lines - line);
        const std::int64_t first = begin + line * step;
        for (std::int64_t u = 0; u < size; ++u)
          for (std::int64_t at = 0; at < count; ++at)
            in[u * count + at] =
                static_cast<C>(src[first + strides.offset(static_cast<int>(u)) + at * step]);
        host_blas::multiply<C>(size, count, size, matrix, in.data(), out.data());
        for (std::int64_t e = 0; e < size; ++e)
          for (std::int64_t at = 0; at < count; ++at)
            f(first + strides.offset(static_cast<int>(e)) + at * step, out[e * count + at]);
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
  for_each_product<C>(
      block, a.direction, a.matrix, a.src, [&](std::int64_t at, C value) { a.dst[at] = value; });
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
  const C alpha = static_cast<C>(a.alpha), theta = static_cast<C>(a.theta);
  for_each_product<C>(block, a.direction, a.matrix, a.src, [&](std::int64_t at, C value) {
    const C start = a.start != nullptr ? static_cast<C>(a.start[at]) : C(0);
    const C old = a.old != nullptr ? static_cast<C>(a.old[at]) : C(0);
    a.dst[at] = Number(start + theta * (start - old) + alpha * value);
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
