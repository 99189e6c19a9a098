// Which numbers the tensor-core layer kernel reads at a time: every one of them once, and from how many banks of shared memory.
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
        std::array<int, 32> bytes{};
        for (int row = 0; row < 8; ++row)
          for (int word = 0; word < 4; ++word)
            bytes.at(std::size_t(4 * row + word)) =
                row / 4 * Tile::own_bytes + Tile::Rows::at(first + (row ^ half), 8) + 4 * word;
        EXPECT_EQ(cycles(bytes), 1) << "line " << first;
      }
  }

  template <int n>
  void check_degree()
  {
    SCOPED_TRACE(testing::Message() << "n = " << n);
    check_ends<MmaTile<n, false>>();
    check_ends<MmaWideTile<n, false>>();
    check_lines_z<MmaTile<n, false>>();
    check_lines_z<MmaWideTile<n, false>>();
    // Blocks wait for each other as often in every layer as InStep is told.
    int begun = 0;
    for (int k = 0; k < n; ++k)
      begun += MmaTile<n, false>::begins_step(k);
    EXPECT_EQ(begun, (MmaTile<n, false>::steps));
  }

  TEST(MmaLayersTile, ReadsEveryNumberFromManyBanks)
  {
    check_degree<5>();
    check_degree<6>();
    check_degree<7>();
    check_degree<8>();
    check_degree<9>();
  }
} // namespace
} // namespace tensormg::laplace
