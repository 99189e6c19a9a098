// Where the tensor-core layer kernel keeps numbers, and which it reads at a time: every one of them once, and from how many banks of shared memory.
#include <algorithm>
#include <array>
#include <set>

#include <gtest/gtest.h>

#include "kernels/laplace/tiles/sm90.h"

namespace tensormg::laplace
{
namespace
{
  /// Of the lanes' addresses, as many as lie in different words of the bank that has most of them: cycles of shared memory.
  template <typename Addresses>
  int cycles(const Addresses &bytes)
  {
    std::array<std::set<int>, 32> words;
    for (const int at : bytes)
      words.at(std::size_t(at / 4 % 32)).insert(at / 4);
    std::size_t most = 0;
    for (const auto &of_bank : words)
      most = std::max(most, of_bank.size());
    return int(most);
  }

  template <typename Tile>
  void check_ends()
  {
    using Slots = EndSlots<Tile::n>;
    std::multiset<int> modes;
    for (int word = 0; word < Slots::words; ++word)
      for (int t = 0; t < 4; ++t)
        if (Slots::mode(word, t) >= 0)
          modes.insert(Slots::mode(word, t));
    ASSERT_EQ(modes.size(), std::size_t(Tile::n));
    for (int i = 0; i < Tile::n; ++i)
      EXPECT_EQ(modes.count(i), 1u) << "mode " << i;

    // Of each cell and warp.
    for (int cell = 0; cell < Tile::cells_x; cell += 5)
      for (int share = 0; share < Tile::split; ++share)
      {
        int sum = 0;
        for (int word = 0; word < Slots::words; ++word)
        {
          std::set<int> bytes;
          for (int row = 0; row < Tile::lines; ++row)
            if (const int j = Tile::Own::line(share, row); j < Tile::n)
              for (int t = 0; t < 4; ++t)
                if (Slots::mode(word, t) >= 0)
                  bytes.insert(Tile::Rows::at(j * Tile::n + Slots::mode(word, t), cell));
          sum += cycles(bytes);
        }
        EXPECT_EQ(sum, Slots::template cycles<Tile::lines>(share)) << "cell " << cell;
      }
  }

  /// Lines in z by eights, four of them in a plane and four in another one: a matrix of ldmatrix takes one cycle.
  template <typename Tile>
  void check_lines_z()
  {
    for (int share = 0; share < Tile::split; ++share)
      for (int tile = 0; tile < Tile::tiles; ++tile)
        for (const int half : {0, 4})
        {
          std::set<int> bytes;
          for (int row = 0; row < 8; ++row)
            for (int word = 0; word < 4; ++word)
              bytes.insert(row / 4 * Tile::own_bytes +
                  Tile::Rows::at(Tile::Own::mode(share, 8 * tile + (row ^ half)), 8) + 4 * word);
          EXPECT_EQ(cycles(bytes), 1) << "share " << share << ", tile " << tile;
        }
  }

  /// Every mode of a plane is owned by one slot of one warp; eight lines that are read or written at once lie in different banks, those
  /// for which there is no mode included.
  template <typename Tile>
  void check_own_modes()
  {
    using Own = typename Tile::Own;
    std::multiset<int> modes;
    for (int share = 0; share < Tile::split; ++share)
      for (int block = 0; block < Tile::x_blocks; ++block)
        for (int matrix = 0; matrix < 2; ++matrix)
          for (const int cell : {0, 8, Tile::cells_x - 8})
          {
            std::set<int> read, written;
            for (int row = 0; row < 8; ++row)
            {
              const int slot = 16 * block + 8 * matrix + row, mode = Own::mode(share, slot);
              ASSERT_TRUE(mode >= 0 && mode < Tile::modes);
              const int at = Tile::Rows::at(mode, cell);
              const bool exists = Own::exists(share, slot);
              EXPECT_TRUE(exists || block >= Tile::x_blocks - Tile::partial_blocks);
              if (exists && cell == 0)
                modes.insert(mode);
              for (int byte = 0; byte < 16; byte += 4)
              {
                read.insert(at + byte);
                written.insert((exists ? at : Tile::spare_offset + Tile::in_spare(at)) + byte);
              }
              if (exists)
              {
                EXPECT_EQ(
                    mode, Own::line(share, Own::row(slot)) * Tile::n + Own::mode_of_line(slot));
              }
            }
            EXPECT_EQ(read.size(), 32u);
            EXPECT_EQ(written.size(), 32u);
            EXPECT_EQ(cycles(read), 1) << "share " << share << ", block " << block;
            EXPECT_EQ(cycles(written), 1) << "share " << share << ", block " << block;
          }
    EXPECT_EQ(modes.size(), std::size_t(Tile::modes));
    for (int mode = 0; mode < Tile::modes; ++mode)
      EXPECT_EQ(modes.count(mode), 1u) << mode;
    if (Own::by_parity) // of one parity per warp, a tile those of four modes i and of two lines
      for (int share = 0; share < Tile::split; ++share)
        for (int slot = 0; slot < Own::slots; ++slot)
          if (Own::exists(share, slot))
          {
            EXPECT_EQ(Own::line(share, Own::row(slot)) % 2, share);
            EXPECT_EQ(Own::mode_of_line(slot) / Tile::Lines::per_tile, slot / 8 % Tile::line_tiles);
            EXPECT_EQ(Own::row(slot) / 2, slot / 16);
          }
  }

  /// Traces on their way in y take the place of weights that all warps hold by then, of nothing else, and never of those that are read
  /// again and again.
  template <typename Tile>
  void check_mail()
  {
    EXPECT_EQ(Tile::shares_y, Tile::split > 1);
    const int barriers_end = Tile::barrier_offset + 8 * Tile::barriers;
    EXPECT_GE(Tile::barrier_offset, Tile::constant_offset + Tile::constant_bytes);
    EXPECT_GE(Tile::held_offset, barriers_end);
    EXPECT_GE(Tile::mail_offset, Tile::holds_all ? barriers_end : Tile::held_end);
    EXPECT_EQ(Tile::mail_offset % Tile::trace_bytes, 0);
    EXPECT_EQ(Tile::spare_offset % Tile::trace_bytes, 0);
    EXPECT_EQ(
        Tile::mail_end - Tile::mail_offset, Tile::shares_y ? Tile::strips * Tile::mail_bytes : 0);
    EXPECT_GE(Tile::shared_bytes, std::max(Tile::mail_end, Tile::held_end));
    EXPECT_LE(Tile::shared_bytes, Tile::most_shared_bytes);
  }

  /// All planes of a layer are in one pair, with those of one parity.
  template <int n>
  void check_plane_pairs()
  {
    using Planes = PlanePairs<n>;
    std::multiset<int> planes;
    for (int parity = 0; parity < 2; ++parity)
      for (int at = 0; at < Planes::count(parity); ++at)
        for (int second = 0; second < 2; ++second)
        {
          const int pair = Planes::pair(parity, at), k = Planes::plane(pair, second);
          EXPECT_LT(pair, Planes::pairs);
          EXPECT_EQ(k % 2, parity);
          EXPECT_TRUE(k < n || second == 1);
          if (k < n)
            planes.insert(k);
        }
    EXPECT_EQ(planes.size(), std::size_t(n));
    for (int k = 0; k < n; ++k)
      EXPECT_EQ(planes.count(k), 1u) << k;
  }

  /// Rows below and above and what lies beside have places of their own, where the copy engine may write, and lines of the row
  /// above lie where they would if they followed those of the row below.
  template <typename Tile>
  void check_halo()
  {
    std::set<int> places;
    const auto take = [&](int at) {
      EXPECT_TRUE(places.insert(at).second) << at;
      EXPECT_TRUE(at >= 0 && at + 2 <= Tile::halo_bytes) << at;
    };
    for (int row = 0; row < 2; ++row)
      for (int line = 0; line < Tile::modes; ++line)
        for (int cell = 0; cell < Tile::cells_x; ++cell)
        {
          const int at = Tile::Rows::at(row * Tile::upper_line + line, cell);
          EXPECT_EQ(at / Tile::row_bytes, row * Tile::upper_line + line);
          take(at);
        }
    for (const int side : {Tile::left_at, Tile::right_at})
      for (int at = 0; at < Tile::side_box; at += 2)
        take(side + at);
    EXPECT_EQ(Tile::upper_at, Tile::row_bytes * Tile::upper_line);
    for (const int at : {Tile::upper_at, Tile::left_at, Tile::right_at})
      EXPECT_EQ(at % 128, 0);
    EXPECT_EQ(Tile::halo_bytes % Tile::Rows::period, 0);
  }

  template <typename Tile>
  void check_tile()
  {
    check_ends<Tile>();
    check_halo<Tile>();
    check_lines_z<Tile>();
    check_own_modes<Tile>();
    check_mail<Tile>();
  }

  template <int n>
  void check_degree()
  {
    SCOPED_TRACE(testing::Message() << "n = " << n);
    check_tile<MmaTile<n>>();
    check_tile<MmaWideTile<n>>();
    if constexpr (n > 5)
      check_tile<MmaAccurateTile<n>>();
    check_plane_pairs<n>();
    // Blocks wait for each other as often in every layer as InStep is told.
    int begun = 0;
    for (int k = 0; k < n; ++k)
      begun += MmaTile<n>::begins_step(k);
    EXPECT_EQ(begun, (MmaTile<n>::steps));
  }

  TEST(MmaLayersTile, HasPlacesAndBanksForEveryNumber)
  {
    check_degree<5>();
    check_degree<6>();
    check_degree<7>();
    check_degree<8>();
    check_degree<9>();
  }

  TEST(MmaLayersTile, WideRowsWhereTheyCoverLittleMore)
  {
    EXPECT_TRUE(prefers_wide_tile(152)); // 19 times 16 bytes
    for (const int cells : {1, 32, 96, 160})
      EXPECT_FALSE(prefers_wide_tile(cells));
  }
} // namespace
} // namespace tensormg::laplace
