// Where the tensor-core layer kernel keeps numbers, and which it reads at a time: every one of them once, and from how many banks of shared memory.
#include <algorithm>
#include <array>
#include <set>

#include <gtest/gtest.h>

#include "kernels/laplace/mma_tiles.h"

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
      for (int first = 0; first + Tile::own_modes <= Tile::modes; first += Tile::own_modes)
      {
        int sum = 0;
        for (int word = 0; word < Slots::words; ++word)
        {
          std::set<int> bytes;
          for (int line = 0; line < Tile::lines; ++line)
            for (int t = 0; t < 4; ++t)
              if (Slots::mode(word, t) >= 0)
                bytes.insert(Tile::Rows::at(first + line * Tile::n + Slots::mode(word, t), cell));
          sum += cycles(bytes);
        }
        EXPECT_EQ(sum, Slots::cycles(Tile::lines)) << "cell " << cell << ", mode " << first;
      }
  }

  /// Lines in z by eights, four of them in a plane and four in the next one: a matrix of ldmatrix takes one cycle.
  template <typename Tile>
  void check_lines_z()
  {
    for (int first = 0; first + 8 <= Tile::modes; ++first)
      for (const int half : {0, 4})
      {
        std::set<int> bytes;
        for (int row = 0; row < 8; ++row)
          for (int word = 0; word < 4; ++word)
            bytes.insert(
                row / 4 * Tile::own_bytes + Tile::Rows::at(first + (row ^ half), 8) + 4 * word);
        EXPECT_EQ(cycles(bytes), 1) << "line " << first;
      }
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
    for (const int first : {0, Tile::upper_line})
      for (int line = 0; line < Tile::modes; ++line)
        for (int cell = 0; cell < Tile::cells_x; ++cell)
        {
          const int at = Tile::Rows::at(first + line, cell);
          EXPECT_EQ(at / Tile::row_bytes, first + line);
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

  template <int n>
  void check_degree()
  {
    SCOPED_TRACE(testing::Message() << "n = " << n);
    check_ends<MmaTile<n, false>>();
    check_ends<MmaWideTile<n, false>>();
    check_halo<MmaTile<n, false>>();
    check_halo<MmaWideTile<n, false>>();
    check_halo<MmaTile<n, true>>();
    check_halo<MmaWideTile<n, true>>();
    check_lines_z<MmaTile<n, false>>();
    check_lines_z<MmaWideTile<n, false>>();
    // Blocks wait for each other as often in every layer as InStep is told.
    int begun = 0;
    for (int k = 0; k < n; ++k)
      begun += MmaTile<n, false>::begins_step(k);
    EXPECT_EQ(begun, (MmaTile<n, false>::steps));
  }

  TEST(MmaLayersTile, HasPlacesAndBanksForEveryNumber)
  {
    check_degree<5>();
    check_degree<6>();
    check_degree<7>();
    check_degree<8>();
    check_degree<9>();
  }
} // namespace
} // namespace tensormg::laplace
