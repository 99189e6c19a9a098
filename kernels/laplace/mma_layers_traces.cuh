// What lies beside a segment and between its layers, in the tensor-core layer kernel: ends of the block, ghosts, traces
// in z. See mma_layers.cuh.
#pragma once

#include "kernels/laplace/mma_layers_cells.cuh"

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
  const int mode = first_mode + 4 * group + lane % 4;
  return ghost(
      side, unsigned(p.block.cells[1]) * n, (s.y0 + cy) * n + mode / n, mode % n, mode < modes);
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
  result.left = closed != upper;
  result.flip = closed ? flip(side) : 0;
  const int row = closed ? cy : edge ? 0 : upper ? cy + 1 : cy - 1;
  const int slot = lane / 16 * 8 + lane % 8;
#pragma unroll
  for (int block = 0; block < y_blocks; ++block)
  {
    // Where there is no mode the line of one that is as much modulo 8: its weights are zero, but it must be a number.
    const int mode = p.y_modes[16 * (first_y_block() + block) + slot];
    const int line = row * modes + (mode < 0 ? slot % 8 : mode);
    result.at[block] = Tile::Rows::at(line, cell0 + lane / 8 % 2 * 8) +
        (result.in_halo && upper ? Tile::upper_at : 0);
  }
  return result;
}

/// Addresses, the traces below the first layer, and those at its top if they are held.
template <typename Tile, Form form>
__device__ __forceinline__ void Cells<Tile, form>::begin_segment()
{
  const bool last = s.last_x < cell0 + 16; // the last cell of the tile is one of this warp's
  last_cell = last ? s.last_x - cell0 : 15;
  scale[0] = lane / 4 <= last_cell ? p.scale : 0.f;
  scale[1] = lane / 4 + 8 <= last_cell ? p.scale : 0.f;
  // Lanes of the right ends of lines (t = lane % 4 < 2) ask for the first, those of the left ends for the second.
  const int t = lane % 4;
  left_end.closed = s.left_closed && cell0 == 0;
  left_end.from = left_end.closed ? t + 2 : 4 * (cell0 == 0 ? s.left_cell : 7) + t;
  left_end.flip = left_end.closed ? flip(0) : 0;
  right_end.closed = s.right_closed && last;
  right_end.from = right_end.closed ? (4 * (last_cell % 8) + t + 30) % 32 : t;
  right_end.flip = right_end.closed ? flip(1) : 0;
  first_row = t < 2 && lane < 4;
  last_row = t >= 2 && lane >= 28;
  low_ends = t >= 2 && lane / 4 == last_cell;
  high_ends = t >= 2 && lane / 4 + 8 == last_cell;
  left_closed = left_end.closed;
  right_closed = right_end.closed;
  ends_low = last_cell < 8;
  beside[0] = beside_y(false);
  beside[1] = beside_y(true);
  if constexpr (Tile::holds_weights)
    hold_weights();
  // The cells beside this warp's: from a box beside the tile, or from the tile.
  const bool right = lane / 8 % 2 == 1;
  beside_in_halo = right ? last || cell0 + 16 == Tile::cells_x : cell0 == 0;
#pragma unroll
  for (int block = 0; block < x_blocks; ++block)
  {
    const int mode = min(first_mode + 16 * block + lane / 16 * 8 + lane % 8, modes - 1);
    beside_at[block] = beside_in_halo
        ? (right ? Tile::right_at : Tile::left_at) + 16 * (cy * modes + mode)
        : Tile::Rows::at(cy * modes + mode, right ? cell0 + 16 : cell0 - 8);
  }
  if (s.before)
  {
    wait_layer(0);
    sum_z<false, true>(
        0, [&](int group, const D &, const D &upper) { below[group] = Trace(upper); });
    release_layer();
  }
  wait_layer(0);
  if (Tile::keeps_top || !s.before)
    sum_z<true, Tile::keeps_top>(0, [&](int group, const D &lower, const D &upper) {
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

/// Lines 4 group .. 4 group + 3 in z of the layer whose planes begin at `from`.
template <typename Tile, Form form>
__device__ __forceinline__ A Cells<Tile, form>::load_lines_z(int group, int block, int from) const
{
  // Slot of the multiplicand: mode k = at / 4 of line at % 4.
  const int at = block * 16 + lane / 16 * 8 + lane % 8;
  const int line = cy * modes + min(first_mode + 4 * group + at % 4, modes - 1);
  return load_cells(shared.own(own_slot(from + min(at / 4, n - 1))) +
      Tile::Rows::at(line, cell0 + lane / 8 % 2 * 8));
}
/// Passes sums at the ends of own lines in z that are wanted to use(group, lower, upper).
template <typename Tile, Form form>
template <bool at_lower, bool at_upper, typename Use>
__device__ __forceinline__ void Cells<Tile, form>::sum_z(int from, const Use &use) const
{
  typename W::Held left[Tile::z_blocks], right[Tile::z_blocks];
#pragma unroll
  for (int block = 0; block < Tile::z_blocks; ++block)
  {
    if constexpr (at_lower)
      left[block] = weights.hold(W::z_trace(true, block));
    if constexpr (at_upper)
      right[block] = weights.hold(W::z_trace(false, block));
  }
#pragma unroll
  for (int group = 0; group < groups; ++group)
  {
    D lower{}, upper{};
#pragma unroll
    for (int block = 0; block < Tile::z_blocks; ++block)
    {
      const A u = load_lines_z(group, block, from);
      if constexpr (at_lower)
        add_numbers(lower, u, left[block].part);
      if constexpr (at_upper)
        add_numbers(upper, u, right[block].part);
    }
    use(group, lower, upper);
  }
}

/// Traces in z above layer c, of which the faces in z are then known. The last plane there may be late: its place was
/// that of the plane just finished.
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
    wait_layer(n);
    sum_z<true, Tile::keeps_top>(n, [&](int group, const D &lower, const D &upper) {
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
  if constexpr (Tile::parts == 1)
  {
    even.of[group] = below[group].with_values(Trace(above));
    odd.of[group] = below[group].with_derivatives(Trace(above));
  }
  else
  {
    float plus[4], minus[4];
#pragma unroll
    for (int r = 0; r < 4; ++r)
    {
      const float a = below[group].number(r), b = number_of(above, r);
      plus[r] = a + b;
      minus[r] = a - b;
    }
    even.of[group] = Trace(plus[0], minus[1], plus[2], minus[3]);
    odd.of[group] = Trace(minus[0], plus[1], minus[2], plus[3]);
  }
}
} // namespace tensormg::laplace::mma_layers
