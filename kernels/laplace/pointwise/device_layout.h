// Where the numbers of pointwise.h lie on a device: cell by cell, so that the threads of a cell (brick.h), one for each line of points in x, read all of
// them by wide accesses side by side.
//   volume    [cell][chunk][line][chunk_numbers]: numbers of a line one after the other, [point][G_xx, ...], in chunks
//   face      [cell][side][chunk][q][chunk_numbers]: those of a point likewise
//   reaction  [cell][x][line]
//   powers    [cell][number]
// cell = cx + pitch row, line = q / n, x = q % n. The sizes are those of the arrays of the host.
#pragma once

#include <numeric>

#include "kernels/laplace/pointwise/pointwise.h"

namespace tensormg::laplace
{
struct DeviceLayout
{
  Block block;
  int bytes; ///< of a number

  /// Of `numbers` one after the other: what one access reads, of 16 bytes at most.
  static constexpr int chunk_numbers(int numbers, int bytes)
  {
    int result = 16 / bytes;
    while (numbers % result != 0)
      result /= 2;
    return result;
  }
  /// Points of a line that begin and end with a chunk.
  static constexpr int points_together(int n, int bytes) { return std::gcd(n, bytes == 2 ? 4 : 2); }
  static constexpr int volume_chunk(int dim, int n, int bytes)
  {
    return chunk_numbers(volume_numbers(dim) * points_together(n, bytes), bytes);
  }
  static constexpr int face_chunk(int dim, int bytes)
  {
    return chunk_numbers(face_numbers(dim), bytes);
  }
  constexpr std::int64_t cell(std::int64_t row, std::int64_t cx) const
  {
    return row * block.pitch + cx;
  }

  constexpr std::int64_t volume_index(
      std::int64_t row, std::int64_t q, int number, std::int64_t cx) const
  {
    const int numbers = volume_numbers(block.dim), chunk = volume_chunk(block.dim, block.n, bytes);
    const std::int64_t in_line = q % block.n * numbers + number;
    return cell(row, cx) * points_of_cell(block) * numbers +
        (in_line / chunk * points_of_face(block) + q / block.n) * chunk + in_line % chunk;
  }
  constexpr std::int64_t face_index(
      std::int64_t row, int side, std::int64_t q, int number, std::int64_t cx) const
  {
    const int numbers = face_numbers(block.dim), chunk = face_chunk(block.dim, bytes);
    return ((cell(row, cx) * 2 * block.dim + side) * numbers + number / chunk * chunk) *
        points_of_face(block) +
        q * chunk + number % chunk;
  }
  constexpr std::int64_t reaction_index(std::int64_t row, std::int64_t q, std::int64_t cx) const
  {
    return cell(row, cx) * points_of_cell(block) + q % block.n * points_of_face(block) +
        q / block.n;
  }
  constexpr std::int64_t power_index(std::int64_t row, int number, std::int64_t cx) const
  {
    return cell(row, cx) * powers_of_cell(block.dim) + number;
  }

  std::int64_t rows() const { return block.cells[1] * block.cells[2]; }
  /// Calls move(place on the device, place on the host) for each number of a row of cells, padding included. On the device rows follow one another.
  template <typename Move>
  void for_volume(std::int64_t row, const Move &move) const
  {
    for (std::int64_t cx = 0; cx < block.pitch; ++cx)
      for (std::int64_t q = 0; q < points_of_cell(block); ++q)
        for (int number = 0; number < volume_numbers(block.dim); ++number)
          move(volume_index(row, q, number, cx), laplace::volume_index(block, row, q, number, cx));
  }
  template <typename Move>
  void for_face(std::int64_t row, const Move &move) const
  {
    for (std::int64_t cx = 0; cx < block.pitch; ++cx)
      for (int side = 0; side < 2 * block.dim; ++side)
        for (std::int64_t q = 0; q < points_of_face(block); ++q)
          for (int number = 0; number < face_numbers(block.dim); ++number)
            move(face_index(row, side, q, number, cx),
                laplace::face_index(block, row, side, q, number, cx));
  }
  template <typename Move>
  void for_reaction(std::int64_t row, const Move &move) const
  {
    for (std::int64_t cx = 0; cx < block.pitch; ++cx)
      for (std::int64_t q = 0; q < points_of_cell(block); ++q)
        move(reaction_index(row, q, cx), laplace::reaction_index(block, row, q, cx));
  }
  template <typename Move>
  void for_powers(std::int64_t row, const Move &move) const
  {
    for (std::int64_t cx = 0; cx < block.pitch; ++cx)
      for (int number = 0; number < powers_of_cell(block.dim); ++number)
        move(power_index(row, number, cx), laplace::power_index(block, row, number, cx));
  }
};
} // namespace tensormg::laplace
