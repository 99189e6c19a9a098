// What lies beside a segment and between its layers, in the tensor-core layer kernel: ends of the block, ghosts, traces
// in z. See mma_layers.cuh.
#pragma once

#include "kernels/laplace/mma_layers/cells.cuh"

namespace tensormg::laplace::mma_layers
{
/// Traces of a ghost: `line` of `lines`, mode i.
template <typename Tile, Form form>
__device__ __forceinline__ typename Cells<Tile, form>::Trace Cells<Tile, form>::ghost(
    int side, unsigned lines, unsigned line, unsigned i, bool exists) const
{
  // The numbers of a side, a surface, are fewer than 2^32.
  const unsigned pitch = static_cast<unsigned>(p.block.pitch);
  const int cell = cell0 + lane / 4;
  const unsigned at = (line * n + i) * pitch + s.x0 + cell;
  const float *values = p.ghost[side], *derivatives = values + std::size_t(lines) * n * pitch;
  const bool here = exists && cell <= s.last_x, next = exists && cell + 8 <= s.last_x;
  return {here ? values[at] : 0.f, here ? derivatives[at] : 0.f, next ? values[at + 8] : 0.f,
      next ? derivatives[at + 8] : 0.f};
}
template <typename Tile, Form form>
__device__ __forceinline__ typename Cells<Tile, form>::Trace Cells<Tile, form>::ghost_z(
    int side, int group) const
{
  const int slot = 4 * group + lane % 4, mode = Own::mode(share, slot);
  return ghost(side, unsigned(p.block.cells[1]) * n, (s.y0 + cy) * n + mode / n, mode % n,
      Own::exists(share, slot));
}
template <typename Tile, Form form>
__device__ __forceinline__ typename Cells<Tile, form>::Trace Cells<Tile, form>::ghost_y(
    int side, int plane, int lines) const
{
  const int i = Lines::per_tile * lines + lane % 4;
  return ghost(side, unsigned(p.block.cells[2]) * n, plane, i, lane % 4 < Lines::per_tile && i < n);
}

template <typename Tile, Form form>
__device__ __forceinline__ typename Cells<Tile, form>::Beside Cells<Tile, form>::beside_y(
    bool upper) const
{
  const int side = upper ? 3 : 2;
  const bool edge = upper ? cy == s.last_y : cy == 0;
  const bool end = edge && (upper ? s.upper_end : s.lower_end);
  const bool closed = end && p.sides[side] != Side::ghost;
  Beside result;
  result.ghost = end && !closed;
  result.in_halo = edge && !closed;
  result.left = closed ? !upper : upper;
  result.flip = closed ? flip(side) : 0;
  const int row = closed ? cy : edge ? 0 : upper ? cy + 1 : cy - 1;
  const int slot = lane / 16 * 8 + lane % 8;
#pragma unroll
  for (int block = 0; block < y_blocks; ++block)
  {
    // Where there is no mode the line of one that is as much modulo 8: its weights are zero, but it must be a number.
    const int mode = p.y_modes[16 * (first_y_block() + block) + slot];
    const int line = row * modes + (mode < 0 ? slot % 8 : mode) +
        (result.in_halo && upper ? Tile::upper_line : 0);
    result.at[block] = lane_address(shared.base + Tile::Rows::at(line, cell0 + lane / 8 % 2 * 8));
  }
  return result;
}

/// Where the traces before and after the warp's cells in x come from: cells beside them, or behind a closed side its own ones.
template <typename Tile, Form form>
__device__ __forceinline__ void Cells<Tile, form>::find_ends()
{
  const bool last = s.last_x < cell0 + 16; // the last cell of the tile is one of this warp's
  const bool left_closed = s.left_closed && cell0 == 0, right_closed = s.right_closed && last;
  const int row = lane / 4, t = lane % 4;
  // Lanes of the right ends of lines (t < 2) want the cell before, those of the left ends the one after.
  first_row = t < 2 && row == 0;
  last_row = t >= 2 && row == 7;
  low_ends = t < 2 ? row == 0 : row == last_cell;
  high_ends = t >= 2 && row + 8 == last_cell;
  ends_from = 4 * (t % 2) + (t < 2 ? (left_closed ? 2 : 0) : right_closed ? 3 : 1);
  end_in_halo[0] = cell0 == 0 && !left_closed;
  end_in_halo[1] = (last || cell0 + 16 == Tile::cells_x) && !right_closed;
  const int before = left_closed ? 0 : cell0 - 1;
  const int after = right_closed ? s.last_x : cell0 + 16;
#pragma unroll
  for (int word = 0; word < Tile::end_words; ++word)
  {
    // Where there is no line or mode another one is read: its weights are zero, but it must be a number.
    const int mode = EndSlots<n>::mode(word, t), i = mode < 0 ? EndSlots<n>::mode(word, 0) : mode;
    const int j = min(Own::line(share, min(row, Tile::lines - 1)), n - 1);
    const int line = cy * modes + j * n + i;
    ends_at[0][word] = lane_address(shared.base +
        (end_in_halo[0] ? Tile::left_at + 16 * line + 2 * s.left_cell
                        : Tile::Rows::at(line, before)));
    ends_at[1][word] = lane_address(
        shared.base + (end_in_halo[1] ? Tile::right_at + 16 * line : Tile::Rows::at(line, after)));
  }
}

/// Addresses, the traces below the first layer, and those at its top if they are held.
template <typename Tile, Form form>
__device__ __forceinline__ void Cells<Tile, form>::begin_segment()
{
  const bool last = s.last_x < cell0 + 16; // the last cell of the tile is one of this warp's
  last_cell = last ? s.last_x - cell0 : 15;
  scale[0] = lane / 4 <= last_cell ? p.scale : 0.f;
  scale[1] = lane / 4 + 8 <= last_cell ? p.scale : 0.f;
  find_ends();
  beside[0] = beside_y(false);
  beside[1] = beside_y(true);
  if constexpr (Tile::holds_weights)
    hold_weights();
  if (s.before)
  {
    wait_layer(0);
    sum_z<false>(0, [&](int group, const D &, const D &upper) { below[group] = Trace(upper); });
    release_layer();
  }
  wait_layer(0);
  if (Tile::keeps_top || !s.before)
    sum_z<true>(0, [&](int group, const D &lower, const D &upper) {
      if constexpr (Tile::keeps_top)
        top[group] = Trace(upper);
      if (!s.before)
        below[group] = Trace(lower).flipped(flip(4));
    });
  if (!s.before && p.sides[4] == Side::ghost)
#pragma unroll
    for (int group = 0; group < groups; ++group)
      below[group] = ghost_z(4, group);
}

/// Where this lane finds its line in z, of the eight lines of a tile, in the planes of a pair of the layer whose
/// planes begin at `from`. Matrices 0 and 1 of ldmatrix are lines 0..3 in the first plane and 4..7 in the second one, 2 and 3 the
/// others: eight different lines of a plane lie in different banks, the same line of two planes does not.
template <typename Tile, Form form>
__device__ __forceinline__ SharedAddress Cells<Tile, form>::lines_z_at(
    int tile, int pair, int from) const
{
  const int row = lane % 8;
  const int mode = Own::mode(share, 8 * tile + 4 * (lane / 16 ^ row / 4) + row % 4);
  const int first = Planes::plane(pair, 0), second = Planes::plane(pair, 1);
  return shared_address(shared.base + Tile::Rows::at(cy * modes + mode, cell0 + lane / 8 % 2 * 8)) +
      Shared<Tile>::own_at(own_slot(from + (row / 4 == 0 || second >= n ? first : second)));
}
/// Passes sums at the upper end of own lines in z, and at the lower one if wanted, to use(group, lower, upper).
template <typename Tile, Form form>
template <bool at_lower, typename Use>
__device__ __forceinline__ void Cells<Tile, form>::sum_z(int from, const Use &use) const
{
  typename W::Held held_z[Planes::pairs];
#pragma unroll
  for (int pair = 0; pair < Planes::pairs; ++pair)
    held_z[pair] = weights.hold(W::z_trace(pair));
  SharedAddress planes_at[Planes::pairs];
#pragma unroll
  for (int pair = 0; pair < Planes::pairs; ++pair)
    planes_at[pair] = lines_z_at(0, pair, from);
#pragma unroll
  for (int tile = 0; tile < tiles; ++tile)
  {
    // Lines of a tile are permuted like those of the first one, if they follow one another.
    constexpr int last_warp = (Tile::split - 1) * Own::slots;
    const bool follows = !Own::by_parity && last_warp + 8 * tile + 7 < modes;
    A read[Planes::pairs];
#pragma unroll
    for (int pair = 0; pair < Planes::pairs; ++pair)
      read[pair] = load_cells(
          follows ? planes_at[pair] + 8 * tile * Tile::row_bytes : lines_z_at(tile, pair, from));
#pragma unroll
    for (int group = 2 * tile; group < 2 * tile + 2 && group < groups; ++group)
    {
      // The other group's lines are in the same products, with weights that are zero.
      const auto add = [&](D &sum, int parity) {
#pragma unroll
        for (int pair = Planes::pair(parity, 0);
             pair < Planes::pair(parity, 0) + Planes::count(parity); ++pair)
          add_numbers(
              sum, read[pair], (group % 2 == 0 ? held_z[pair] : W::swapped(held_z[pair])).part);
      };
      D of_even{}, lower{};
      add(of_even, 0);
      D upper = of_even;
      add(upper, 1);
      // Values at the left end have the other sign for odd modes, derivatives for even ones.
      if constexpr (at_lower)
#pragma unroll
        for (int r = 0; r < 4; ++r)
          lower.registers[r] = fmaf(r % 2 == 0 ? 2.f : -2.f, of_even.registers[r],
              r % 2 == 0 ? -upper.registers[r] : upper.registers[r]);
      use(group, lower, upper);
    }
  }
}

/// Traces in z above layer c, of which the faces in z are then known. The last plane there may be late: its place was
/// that of a plane finished a moment ago.
template <typename Tile, Form form>
template <int count>
__device__ __forceinline__ void Cells<Tile, form>::close_above(int c, const Trace (&at_top)[count])
{
  const auto of_this = [&](int group) {
    if constexpr (Tile::keeps_top)
      return top[group];
    else
      return at_top[group];
  };
  if (c + 1 < s.z1 || s.after)
  {
    wait_layer(1);
    sum_z<true>(n, [&](int group, const D &lower, const D &upper) {
      combine(group, lower);
      below[group] = of_this(group);
      if constexpr (Tile::keeps_top)
        top[group] = Trace(upper);
    });
  }
  else
#pragma unroll
    for (int group = 0; group < groups; ++group)
      combine(
          group, p.sides[5] == Side::ghost ? ghost_z(5, group) : of_this(group).flipped(flip(5)));
}
/// above: sums or traces of a group above the layer
template <typename Tile, Form form>
template <typename Above>
__device__ __forceinline__ void Cells<Tile, form>::combine(int group, const Above &above)
{
  even.of[group] = below[group].joined(above, true);
  odd.of[group] = below[group].joined(above, false);
}
} // namespace tensormg::laplace::mma_layers
