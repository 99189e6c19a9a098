// Tiles of eight lines of tensors (staged_tile.h) as operands of tensor-core instructions: from global and
// shared memory, and back.
#pragma once

#include "kernels/tensor/placement.h"
#include "kernels/tensor/product.cuh"
#include "kernels/tensor/staged_tile.h"

namespace tensormg::tensor
{
/// Operand B: eight whole lines.
template <typename P, int steps>
struct LineOperand
{
  typename P::B step[steps];
};

/// sum += A B
template <typename P, int steps>
__device__ inline void add_lines(
    Sum<P> &sum, const typename P::A (&a)[steps], const LineOperand<P, steps> &lines)
{
#pragma unroll
  for (int step = 0; step < steps; ++step)
    sum.add(a[step], lines.step[step]);
}

/// m = 16: zero above, the upper half of the operand below.
template <typename P>
__device__ inline typename P::A shifted_down(const typename P::A &a)
{
  static_assert(P::S::m == 16);
  typename P::A result{};
#pragma unroll
  for (int term = 0; term < P::terms; ++term)
#pragma unroll
    for (int r = 0; r < mma::FragmentA<typename P::S>::n_registers; r += 2)
      result.term[term].registers[r + 1] = a.term[term].registers[r];
  return result;
}

/// The lane's line of a column tile; those beyond the end repeat the last.
template <typename Tile>
__device__ inline int line_of(int column, int lane)
{
  const int line = 8 * column + lane / 4;
  return line < Tile::lines ? line : Tile::lines - 1;
}

/// Entry of the line that a lane holds as element e; those beyond the end repeat the last.
template <typename P, int n>
__device__ inline int entry_of_line(int step, int lane, int e)
{
  const int k = step * P::S::k + mma::entry_of<typename P::S, mma::Operand::b>(lane, e).row;
  return (step + 1) * P::S::k <= n || k < n ? k : n - 1;
}

/// Lines along d from a field in shared memory.
template <typename P, typename Tile, int d>
__device__ inline auto load_lines(const typename P::C *field, int column, int lane)
{
  constexpr int steps = StagedRows<typename P::S, Tile::n>::steps;
  const int line = line_of<Tile>(column, lane);
  LineOperand<P, steps> lines;
#pragma unroll
  for (int step = 0; step < steps; ++step)
    lines.step[step] = make_terms<P, mma::Operand::b>([&](int e) {
      return field[Tile::template offset<d>(line, entry_of_line<P, Tile::n>(step, lane, e))];
    });
  return lines;
}

/// Lines along d (x or the last direction) from global memory. Of a group with fewer tensors the last one is
/// repeated.
template <typename P, typename Tile, int d, typename Number>
__device__ inline auto load_global_lines(
    const Placement &placement, int box, unsigned first, const Number *src, int column, int lane)
{
  constexpr int n = Tile::n;
  constexpr int steps = StagedRows<typename P::S, n>::steps;
  const int line = line_of<Tile>(column, lane);
  const int slow = line / n, fast = line % n;
  const unsigned tensor = first + static_cast<unsigned>(Tile::dim == 3 ? 0 : slow);
  const unsigned n_tensors = placement.boxes[box].n_tensors();
  const Number *from = src + placement.position(box, tensor < n_tensors ? tensor : n_tensors - 1);
  if constexpr (d == 0)
    from += fast * placement.stride[1] + (Tile::dim == 3 ? slow * placement.stride[2] : 0);
  else
    from += fast + (Tile::dim == 3 ? slow * placement.stride[1] : 0);
  const std::int64_t stride = d == 0 ? 1 : placement.stride[d];
  LineOperand<P, steps> lines;
  if constexpr (P::is_packed && d == 0 && n % 2 == 0)
    if (placement.pairs) // elements 2 r and 2 r + 1 are neighbours in x
    {
      constexpr int n_elements = mma::FragmentB<typename P::S>::n_elements;
#pragma unroll
      for (int step = 0; step < steps; ++step)
      {
        float entries[n_elements];
#pragma unroll
        for (int e = 0; e < n_elements; e += 2)
        {
          const int k = entry_of_line<P, n>(step, lane, e);
          const auto pair = load_pack<2>(from + (k < n - 1 ? k : n - 2));
          entries[e] = pair.at[0];
          entries[e + 1] = pair.at[1];
        }
        lines.step[step] = make_terms<P, mma::Operand::b>([&](int e) { return entries[e]; });
      }
      return lines;
    }
#pragma unroll
  for (int step = 0; step < steps; ++step)
    lines.step[step] = make_terms<P, mma::Operand::b>([&](int e) {
      return load_pack<1>(from + entry_of_line<P, n>(step, lane, e) * stride).at[0];
    });
  return lines;
}

/// Results for lines along d to a field: entry i + g of the lane's two lines.
template <typename Tile, int d, typename C>
__device__ inline void store_lines(C *field, int column, int lane, int i, C even, C odd)
{
  const int entry = i + lane / 4;
  const int line = 8 * column + lane % 4 * 2;
  if (entry >= Tile::n || line >= Tile::lines)
    return;
  constexpr bool pairs =
      d > 0 && Tile::n % 2 == 0 && has_pairs<typename Tile::Layout>(Tile::planes, Tile::n);
  C *to = field + Tile::template offset<d>(line, entry);
  if constexpr (pairs)
  {
    Pack<C, 2> pack;
    pack.at[0] = even;
    pack.at[1] = odd;
    write_pack(to, pack);
  }
  else
  {
    *to = even;
    if (line + 1 < Tile::lines)
      field[Tile::template offset<d>(line + 1, entry)] = odd;
  }
}

/// Where in global memory the results for a lane's two lines along the last direction go.
template <typename Tile>
struct GlobalPair
{
  std::int64_t position[2]; ///< of entry 0; -1: no such line

  __device__ GlobalPair(const Placement &placement, int box, unsigned first, int column, int lane)
  {
    constexpr int n = Tile::n;
    const unsigned n_tensors = placement.boxes[box].n_tensors();
#pragma unroll
    for (int v = 0; v < 2; ++v)
    {
      const int line = 8 * column + lane % 4 * 2 + v;
      const int slow = line / n;
      const unsigned tensor = first + static_cast<unsigned>(Tile::dim == 3 ? 0 : slow);
      position[v] = line < Tile::lines && tensor < n_tensors ? placement.position(box, tensor) +
              (Tile::dim == 3 ? slow * placement.stride[1] : 0) + line % n
                                                             : -1;
    }
  }

  template <typename Number, typename C>
  __device__ void store(
      const Placement &placement, Number *dst, bool add, int entry, C even, C odd) const
  {
    const std::int64_t at = entry * placement.stride[Tile::dim - 1];
    if (Tile::n % 2 == 0 && placement.pairs)
    {
      if (position[0] < 0)
        return;
      Pack<C, 2> pack;
      pack.at[0] = even;
      pack.at[1] = odd;
      Number *to = dst + position[0] + at;
      store_pack(to, add ? pack + load_pack<2>(to) : pack);
      return;
    }
#pragma unroll
    for (int v = 0; v < 2; ++v)
      if (position[v] >= 0)
      {
        Number *to = dst + position[v] + at;
        const C before = add ? load_pack<1>(to).at[0] : C(0);
        store_pack(to, Pack<C, 1>((v == 0 ? even : odd) + before));
      }
  }
};
} // namespace tensormg::tensor
