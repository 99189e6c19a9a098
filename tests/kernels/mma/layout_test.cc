// Shared-memory layouts and their bank conflicts without a GPU: swizzles against their definition,
// known conflict counts, and the table in docs/diagnostics.md.
#include "kernels/mma/bank_conflicts.h"
#include "kernels/mma/shared_layout.h"

#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

namespace tensormg
{
namespace
{
  using namespace mma;

  static_assert(is_injective<RowMajor<8>, 16, 8>());
  static_assert(is_injective<RowMajor<12>, 16, 8>());
  static_assert(is_injective<Rotated<7>, 7, 7>() && is_injective<Rotated<10, 3>, 10, 10>());
  static_assert(is_injective<Transposed<RowMajor<16>>, 16, 16>());
  static_assert(is_injective<Fp64Tile<8>, 64, 8>() && is_injective<Fp64Tile<16>, 64, 16>());
  static_assert(is_injective<TmaTile<Half, Swizzle128B>, 64, 64>());
  static_assert(is_injective<TmaTile<float, Swizzle64B>, 64, 16>());
  static_assert(is_injective<TmaTile<double, Swizzle32B>, 64, 4>());
  static_assert(!is_injective<RowMajor<7>, 2, 8>());

  // A permutation fills the tile: no padding.
  static_assert(extent<Fp64Tile<8>>(8, 8) == 64 && extent<Fp64Tile<16>>(8, 16) == 128);
  static_assert(extent<TmaTile<Half, Swizzle128B>>(8, 64) == 512);
  static_assert(extent<RowMajor<12>>(8, 8) == 92);

  // Pairs stay together under a permutation that leaves the lowest bit alone.
  static_assert(is_vectorizable<Fp64Tile<8>>(8, 8, 2) && is_vectorizable<Fp64Tile<8>>(8, 8, 4));
  static_assert(!is_vectorizable<Fp64Tile<8>>(8, 8, 8) && !is_vectorizable<RowMajor<9>>(8, 8, 2));
  static_assert(is_vectorizable<TmaTile<Half, Swizzle128B>>(8, 64, 8));

  // By the definition of the tensor map: 16-byte units of a row of 128 bytes, 8 rows per period.
  TEST(SharedLayout, TmaSwizzlesPermuteUnitsOf16Bytes)
  {
    for (int address = 0; address < 4096; ++address)
    {
      const int unit = address / 16 % 8;
      const int line = address / 128;
      const auto expected = [&](int new_unit) { return line * 128 + new_unit * 16 + address % 16; };
      EXPECT_EQ(Swizzle128B()(address), expected(unit ^ line % 8));
      EXPECT_EQ(Swizzle64B()(address), expected(unit ^ line % 4));
      EXPECT_EQ(Swizzle32B()(address), expected(unit ^ line % 2));
      EXPECT_EQ(Swizzle128B()(Swizzle128B()(address)), address);
    }
    for (int row = 0; row < 16; ++row)
      for (int column = 0; column < 64; ++column)
        EXPECT_EQ((TmaTile<Half, Swizzle128B>()(row, column)),
            row * 64 + (column / 8 ^ row % 8) * 8 + column % 8);
  }

  TEST(SharedLayout, Formulas)
  {
    EXPECT_EQ(RowMajor<12>()(3, 5), 41);
    EXPECT_EQ((Rotated<7, 2>()(4, 6)), 28);
    EXPECT_EQ(Transposed<RowMajor<12>>()(3, 5), 63);
    EXPECT_EQ(Fp64Tile<8>()(2, 1), 16 + 5);
    EXPECT_EQ(Fp64Tile<8>()(1, 1), 8 + 1);
    // A swizzle is a BitXor.
    for (int offset = 0; offset < 2048; ++offset)
      EXPECT_EQ(
          Swizzle128B()(offset), (BitXor<BitMove{7, 4}, BitMove{8, 5}, BitMove{9, 6}>()(offset)));
  }

  Wavefronts strided(int stride, int bytes)
  {
    return wavefronts(make_addresses([=](int lane) { return lane * stride; }), bytes);
  }

  TEST(BankConflicts, Strides)
  {
    EXPECT_EQ(strided(4, 4), (Wavefronts{1, 1}));
    EXPECT_EQ(strided(8, 4), (Wavefronts{2, 1}));
    EXPECT_EQ(strided(12, 4), (Wavefronts{1, 1})); // odd strides reach all banks
    EXPECT_EQ(strided(128, 4), (Wavefronts{32, 1}));
    EXPECT_EQ(strided(132, 4), (Wavefronts{1, 1}));
    EXPECT_EQ(strided(8, 8), (Wavefronts{2, 2})); // two half-warps
    EXPECT_EQ(strided(16, 8), (Wavefronts{4, 2}));
    EXPECT_EQ(strided(24, 8), (Wavefronts{2, 2}));
    EXPECT_EQ(strided(128, 8), (Wavefronts{32, 2}));
    EXPECT_EQ(strided(16, 16), (Wavefronts{4, 4})); // four quarter-warps
    EXPECT_EQ(strided(32, 16), (Wavefronts{8, 4}));
    EXPECT_EQ(strided(128, 16), (Wavefronts{32, 4}));
    EXPECT_EQ(strided(144, 16), (Wavefronts{4, 4}));
    EXPECT_EQ(strided(2, 2), (Wavefronts{1, 1})); // two lanes per word
    EXPECT_EQ(strided(4, 4).conflicts(), 0);
    EXPECT_EQ(strided(128, 4).conflicts(), 31);
  }

  TEST(BankConflicts, SameWordIsBroadcast)
  {
    EXPECT_EQ(strided(0, 4), (Wavefronts{1, 1}));
    EXPECT_EQ(strided(0, 8), (Wavefronts{2, 2}));
    EXPECT_EQ(
        wavefronts(make_addresses([](int lane) { return lane / 4 * 4; }), 4), (Wavefronts{1, 1}));
    // Two rows of the same banks, each wanted by half of the lanes.
    EXPECT_EQ(
        wavefronts(make_addresses([](int lane) { return lane % 2 * 128; }), 4), (Wavefronts{2, 1}));
  }

  TEST(BankConflicts, InactiveLanesCostNothing)
  {
    const auto every_second = [](int lane) { return lane % 2 == 0 ? lane * 8 : inactive; };
    EXPECT_EQ(wavefronts(make_addresses(every_second), 4), (Wavefronts{2, 1}));
    const auto first_half = [](int lane) { return lane < 16 ? lane * 8 : inactive; };
    EXPECT_EQ(wavefronts(make_addresses(first_half), 4), (Wavefronts{1, 1}));
    EXPECT_EQ(wavefronts(make_addresses(first_half), 8), (Wavefronts{1, 1}));
    EXPECT_EQ(wavefronts(make_addresses([](int) { return inactive; }), 16), (Wavefronts{0, 0}));
  }

  // Accesses that cannot be made are not counted as good.
  TEST(BankConflicts, RefusesWhatIsNotInOnePiece)
  {
    EXPECT_EQ((fragment_wavefronts<M8N8K4<double>, Operand::c, 2>(RowMajor<9>()).count), -1);
    EXPECT_EQ(
        (fragment_wavefronts<M8N8K4<double>, Operand::c, 2>(Transposed<RowMajor<8>>()).count), -1);
    EXPECT_EQ((ldmatrix_wavefronts<M16N8K16<Half>, Operand::a>(RowMajor<20>(), LdmatrixForm::plain)
                      .count),
        -1);
    EXPECT_EQ(
        (ldmatrix_wavefronts<M16N8K16<Half>, Operand::a>(RowMajor<24>(), LdmatrixForm::transposed)
                .count),
        -1);
  }

  // FP64 operands are free of conflicts if and only if ld = 4 or 12 modulo 16.
  template <int ld>
  constexpr bool fp64_is_free()
  {
    return fragment_wavefronts<M16N8K8<double>, Operand::a>(RowMajor<ld>()).conflicts() == 0 &&
        fragment_wavefronts<M16N8K8<double>, Operand::b>(RowMajor<ld>()).conflicts() == 0 &&
        fragment_wavefronts<M16N8K8<double>, Operand::b>(Transposed<RowMajor<ld>>()).conflicts() ==
        0;
  }
  static_assert(fp64_is_free<12>() && fp64_is_free<20>() && fp64_is_free<28>());
  static_assert(!fp64_is_free<8>() && !fp64_is_free<9>() && !fp64_is_free<10>() &&
      !fp64_is_free<14>() && !fp64_is_free<16>() && !fp64_is_free<17>() && !fp64_is_free<18>());

  static_assert(fragment_wavefronts<M16N8K8<double>, Operand::b>(Fp64Tile<8>()).conflicts() == 0 &&
      fragment_wavefronts<M16N8K8<double>, Operand::b>(Transposed<Fp64Tile<8>>()).conflicts() ==
          0 &&
      fragment_wavefronts<M16N8K8<double>, Operand::c, 2>(Fp64Tile<8>()).conflicts() == 0);
  static_assert(
      fragment_wavefronts<M16N8K16<double>, Operand::a>(Fp64Tile<16>()).conflicts() == 0 &&
      fragment_wavefronts<M16N8K16<double>, Operand::b>(Transposed<Fp64Tile<16>>()).conflicts() ==
          0 &&
      fragment_wavefronts<M16N8K16<double>, Operand::c, 2>(Fp64Tile<16>()).conflicts() == 0);

  // A tile may start anywhere in a larger permuted array: all planes of a cell of 8 x 8 x 8.
  constexpr bool all_planes_are_free()
  {
    for (int plane = 0; plane < 8; ++plane)
      if (fragment_wavefronts<M8N8K4<double>, Operand::a>(Fp64Tile<8>(), {8 * plane, 4})
              .conflicts() != 0)
        return false;
    return true;
  }
  static_assert(all_planes_are_free());

  // TF32 and FP16 with rows of plain numbers, padded ones and the swizzles of TMA; by 4 and 2 bytes and by ldmatrix.
  TEST(BankConflicts, KnownCounts)
  {
    const auto tf32_a = [](auto layout) {
      return fragment_wavefronts<M16N8K8<Tf32>, Operand::a>(layout);
    };
    EXPECT_EQ(tf32_a(RowMajor<8>()), (Wavefronts{8, 4}));
    EXPECT_EQ(tf32_a(RowMajor<12>()), (Wavefronts{4, 4}));
    EXPECT_EQ(tf32_a(RowMajor<32>()), (Wavefronts{32, 4}));
    EXPECT_EQ(tf32_a(TmaTile<Tf32, Swizzle128B>()), (Wavefronts{4, 4}));
    EXPECT_EQ((fragment_wavefronts<M16N8K8<Tf32>, Operand::b>(RowMajor<32>())), (Wavefronts{8, 2}));
    const auto half_a = [](auto layout) {
      return ldmatrix_wavefronts<M16N8K16<Half>, Operand::a>(layout, LdmatrixForm::plain);
    };
    EXPECT_EQ(half_a(RowMajor<16>()), (Wavefronts{8, 4}));
    EXPECT_EQ(half_a(RowMajor<64>()), (Wavefronts{32, 4}));
    EXPECT_EQ(half_a(RowMajor<72>()), (Wavefronts{4, 4}));
    EXPECT_EQ(half_a(TmaTile<Half, Swizzle32B>()), (Wavefronts{4, 4}));
    EXPECT_EQ(
        (fragment_wavefronts<M16N8K16<Half>, Operand::b>(RowMajor<16>())), (Wavefronts{8, 4}));
    EXPECT_EQ(
        (ldmatrix_wavefronts<M16N8K16<Half>, Operand::b>(RowMajor<64>(), LdmatrixForm::transposed)),
        (Wavefronts{16, 2}));
  }

  std::string line(const char *layout, std::initializer_list<Wavefronts> costs)
  {
    std::string text = std::string("| ") + layout + " |";
    for (const Wavefronts &cost : costs)
      text += " " + std::to_string(cost.count) + " / " + std::to_string(cost.ideal) + " |";
    return text + "\n";
  }

  template <typename Layout>
  std::string fp64_line(const char *name, Layout layout)
  {
    using S = M16N8K8<double>;
    return line(name,
        {fragment_wavefronts<S, Operand::a>(layout), fragment_wavefronts<S, Operand::b>(layout),
            fragment_wavefronts<S, Operand::c>(layout),
            fragment_wavefronts<S, Operand::c, 2>(layout)});
  }

  // The table of the documentation is this. Where a line differs, the message is the right one.
  TEST(BankConflicts, DocumentedTable)
  {
    const char *source = std::getenv("TENSORMG_SOURCE_DIR");
    std::ifstream file(std::string(source ? source : ".") + "/docs/diagnostics.md");
    ASSERT_TRUE(file) << "docs/diagnostics.md: not found; run from the root of the repository";
    std::stringstream text;
    text << file.rdbuf();
    const std::string lines[] = {fp64_line("FP64, ld 8", RowMajor<8>()),
        fp64_line("FP64, ld 12", RowMajor<12>()), fp64_line("FP64, Fp64Tile<8>", Fp64Tile<8>()),
        fp64_line("FP64, Swizzle128B", TmaTile<double, Swizzle128B>())};
    for (const std::string &expected : lines)
      EXPECT_NE(text.str().find(expected), std::string::npos) << expected;
  }
} // namespace
} // namespace tensormg
