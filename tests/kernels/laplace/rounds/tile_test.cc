// The kernel that works on a layer in rounds: every line of a round is somebody's, and nothing overlaps in shared memory.
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/laplace/tiles/sm90.h"

namespace tensormg::laplace
{
namespace
{
  template <typename Tile>
  void check_lines()
  {
    std::set<std::pair<int, int>> seen;
    int alone = 0; // units whose neighbour in the warp has other faces in y, or no line
    for (int unit = 0; unit < Tile::lines; ++unit)
    {
      const auto [m, j] = Tile::line_in_x(unit);
      EXPECT_TRUE(m >= 0 && m < Tile::planes && j >= 0 && j < Tile::n)
          << "unit " << unit << ": " << m << " " << j;
      EXPECT_TRUE(seen.insert({m, j}).second) << "unit " << unit << ": " << m << " " << j;
      if ((unit ^ 1) >= Tile::lines)
        ++alone;
      else
      {
        const auto other = Tile::line_in_x(unit ^ 1);
        alone += other.m != m || other.j % 2 != j % 2 ? 1 : 0;
      }
    }
    EXPECT_EQ(int(seen.size()), Tile::planes * Tile::n);
    if (Tile::pairs_lines)
    {
      // One mode of each parity that has an odd number of them.
      EXPECT_EQ(alone, ((Tile::n + 1) / 2 % 2 + Tile::n / 2 % 2) * Tile::planes);
    }
    EXPECT_EQ(Tile::planes * Tile::rounds, Tile::n);
    EXPECT_GE(Tile::strips * Tile::units, Tile::modes);
  }

  template <typename Tile>
  void check_memory()
  {
    // Begin and end of everything, in the order of memory.
    const std::vector<std::pair<int, int>> parts{
        {0, Tile::own_ring * Tile::own_box},
        {Tile::halo_offset, Tile::halo_ring * Tile::halo_bytes},
        {Tile::mail_offset, 2 * Tile::mail_bytes},
        {Tile::faces_offset, Tile::lines * Tile::line_mail},
        {Tile::edge_offset, 2 * Tile::edge_numbers * int(sizeof(typename Tile::C))},
        {Tile::place_offset, Tile::warps * Tile::place_bytes},
        {Tile::barrier_offset, 8 * Tile::barriers},
        {Tile::worker_offset, int(sizeof(int))},
    };
    int end = 0;
    for (const auto &[offset, bytes] : parts)
    {
      EXPECT_GE(offset, end);
      EXPECT_EQ(offset % 8, 0);
      end = offset + bytes;
    }
    EXPECT_LE(end, Tile::shared_bytes);
    EXPECT_LE(Tile::shared_bytes, shared_memory_limit::of_block_on_90);
    // The copy engine writes boxes to multiples of 128 bytes, letters have 16.
    for (const int offset : {Tile::own_box, Tile::halo_offset, Tile::halo_bytes, Tile::left_at,
             Tile::right_at, Tile::mail_offset, Tile::faces_offset, Tile::edge_offset})
      EXPECT_EQ(offset % 128, 0);
    // Boxes are dense: what the engine writes for the planes of a round.
    constexpr int round = Tile::planes * Tile::n * Tile::n * int(sizeof(typename Tile::Number));
    EXPECT_EQ(Tile::own_box, round * Tile::cells_x);
    EXPECT_EQ(Tile::side_box, round * Tile::halo_x);
    EXPECT_GE(Tile::left_at, Tile::own_box);
    EXPECT_GE(Tile::halo_bytes - Tile::right_at, Tile::side_box);
    EXPECT_GE(Tile::right_at - Tile::left_at, Tile::side_box);
  }

  /// Others than those in use.
  constexpr RoundsShape not_in_pairs{
      .modes = 9, .warps = 14, .planes = 3, .own_ring = 4, .halo_ring = 2, .pairs_lines = false};
  constexpr RoundsShape of_eight{
      .modes = 8, .warps = 8, .planes = 2, .own_ring = 6, .halo_ring = 3, .pairs_lines = true};
  constexpr RoundsShape of_seven{
      .modes = 7, .warps = 4, .planes = 1, .own_ring = 8, .halo_ring = 6, .pairs_lines = true};
  constexpr RoundsShape of_six{
      .modes = 6, .warps = 9, .planes = 3, .own_ring = 4, .halo_ring = 2, .pairs_lines = true};
  constexpr RoundsShape of_five{
      .modes = 5, .warps = 13, .planes = 5, .own_ring = 2, .halo_ring = 1, .pairs_lines = true};

  TEST(RoundsTile, EveryLineOfARoundIsTakenOnce)
  {
    check_lines<CudaTile<double, 9, Form::residual>>();
    check_lines<CudaTile<float, 9, Form::residual>>();
    check_lines<RoundsTile<double, not_in_pairs>>();
    check_lines<RoundsTile<double, of_eight>>();
    check_lines<RoundsTile<double, of_seven>>();
    check_lines<RoundsTile<float, of_six>>();
    check_lines<RoundsTile<float, of_five>>();
  }

  TEST(RoundsTile, NothingOverlaps)
  {
    check_memory<CudaTile<double, 9, Form::residual>>();
    check_memory<CudaTile<float, 9, Form::residual>>();
    check_memory<RoundsTile<double, of_seven>>();
  }
} // namespace
} // namespace tensormg::laplace
