// The accesses to shared memory of the kernels on tensors, one by one, and their bank conflicts by the count of
// kernels/mma/bank_conflicts.h. Host only.
#pragma once

#include <algorithm>

#include "kernels/mma/bank_conflicts.h"
#include "kernels/tensor/line_tile.h"
#include "kernels/tensor/staged_tile.h"

namespace tensormg::tensor
{
/// CUDA cores: all warps of a block reading entry k of their lines along direction d.
template <typename Tile, int d>
mma::Wavefronts line_wavefronts()
{
  constexpr int bytes = sizeof(typename Tile::C);
  mma::Wavefronts sum;
  for (int first = 0; first < Tile::lines; first += 32)
    for (int k = 0; k < Tile::n; ++k)
      sum += mma::wavefronts(mma::make_addresses([&](int lane) {
        return first + lane < Tile::lines
            ? Tile::template offset<d>(Tile::line(first + lane), k) * bytes
            : mma::inactive;
      }),
          bytes);
  return sum;
}

/// The same along all directions.
template <typename Tile>
mma::Wavefronts all_line_wavefronts()
{
  mma::Wavefronts sum = line_wavefronts<Tile, 0>();
  sum += line_wavefronts<Tile, 1>();
  if constexpr (Tile::dim == 3)
    sum += line_wavefronts<Tile, 2>();
  return sum;
}

/// Tensor cores: reading all lines along d as operand B of the shape S.
template <typename S, typename Tile, int d>
mma::Wavefronts read_wavefronts()
{
  constexpr int bytes = sizeof(typename S::Accumulator);
  constexpr int steps = StagedRows<S, Tile::n>::steps;
  mma::Wavefronts sum;
  for (int column = 0; column < Tile::columns; ++column)
    for (int step = 0; step < steps; ++step)
      for (int e = 0; e < mma::OperandOf<S, mma::Operand::b>::n_elements; ++e)
        sum += mma::wavefronts(mma::make_addresses([&](int lane) {
          const mma::Entry entry = mma::entry_of<S, mma::Operand::b>(lane, e);
          const int line = std::min(8 * column + entry.column, Tile::lines - 1);
          return Tile::template offset<d>(line, std::min(step * S::k + entry.row, Tile::n - 1)) *
              bytes;
        }),
            bytes);
  return sum;
}

/// Writing all lines along d from accumulators: by pairs where the kernel does so.
template <typename S, typename Tile, int d>
mma::Wavefronts write_wavefronts()
{
  constexpr int bytes = sizeof(typename S::Accumulator);
  constexpr int rows =
      std::min(S::m, (Tile::n + 7) / 8 * 8); // a stacked operand writes both fields
  constexpr bool pairs =
      d > 0 && Tile::n % 2 == 0 && has_pairs<typename Tile::Layout>(Tile::planes, Tile::n);
  mma::Wavefronts sum;
  for (int column = 0; column < Tile::columns; ++column)
    for (int first = 0; first < Tile::n; first += rows)
      for (int half = 0; half < rows; half += 8)
        for (int v = 0; v < (pairs ? 1 : 2); ++v)
          sum += mma::wavefronts(mma::make_addresses([&](int lane) {
            const mma::Entry entry = mma::entry_of<S, mma::Operand::c>(lane, v);
            const int i = first + half + entry.row, line = 8 * column + entry.column;
            return i < Tile::n && line < Tile::lines ? Tile::template offset<d>(line, i) * bytes
                                                     : mma::inactive;
          }),
              pairs ? 2 * bytes : bytes);
  return sum;
}

/// Of one field of one tensor (3D) in one application of the nodal operator.
struct StagedAccesses
{
  mma::Wavefronts write_x, read_y, write_y, read_z;

  mma::Wavefronts sum() const
  {
    mma::Wavefronts all = write_x;
    for (const mma::Wavefronts &access : {read_y, write_y, read_z})
      all += access;
    return all;
  }
};

template <typename S, typename Tile>
StagedAccesses staged_accesses()
{
  return {write_wavefronts<S, Tile, 0>(), read_wavefronts<S, Tile, 1>(),
      write_wavefronts<S, Tile, 1>(), read_wavefronts<S, Tile, 2>()};
}
} // namespace tensormg::tensor
