// Layouts of tensors in shared memory without a GPU: no two entries share a place, and the bank conflicts of
// the accesses that the kernels make.
#include <array>

#include <gtest/gtest.h>

#include "kernels/diagnostics/nodal/chained_tile.h"
#include "kernels/tensor/plane_tile.h"
#include "kernels/tensor/shared_accesses.h"
#include "kernels/tensor/sizes_dispatch.h"

namespace tensormg
{
namespace
{
  using mma::Wavefronts;
  using tensor::all_line_wavefronts;
  using tensor::staged_accesses;
  using tensor::StagedAccesses;

  /// Calls check(SizeConstant<dim, n>()) for every size.
  template <typename Check>
  void for_each_size(Check check)
  {
    for (const int dim : {2, 3})
      for (int n = 2; n <= tensor::max_size; ++n)
        tensor::dispatch_size<int, tensor::Sizes::all>(dim, n, [&](auto size) {
          SCOPED_TRACE(testing::Message() << dim << "D, N = " << n);
          check(size);
          return 0;
        });
  }

  // ---- CUDA cores: whole lines per thread

  template <typename Tile>
  void check_line_tile()
  {
    EXPECT_TRUE(tensor::is_injective<typename Tile::Layout>(Tile::planes, Tile::n));
    EXPECT_LE(Tile::threads, 352);
    EXPECT_GE(Tile::threads * Tile::lines_per_thread, Tile::lines);
    // At most a quarter of the threads has nothing to do.
    EXPECT_GE(4 * Tile::lines, 3 * Tile::threads * Tile::lines_per_thread);
    EXPECT_LE(2 * Tile::field_size * sizeof(typename Tile::C), 100000u);
  }

  TEST(LineTile, LayoutsAreInjectiveAndThreadsBusy)
  {
    for_each_size([](auto size) {
      check_line_tile<tensor::LineTile<double, size.dim, size.n>>();
      check_line_tile<tensor::LineTile<float, size.dim, size.n>>();
    });
  }

  TEST(LineTile, PowersOfTwoAreFreeOfConflicts)
  {
    for_each_size([](auto size) {
      if constexpr ((size.n & (size.n - 1)) == 0)
      {
        EXPECT_EQ(
            (all_line_wavefronts<tensor::LineTile<double, size.dim, size.n>>().conflicts()), 0);
        EXPECT_EQ(
            (all_line_wavefronts<tensor::LineTile<float, size.dim, size.n>>().conflicts()), 0);
      }
    });
  }

  // ---- tensor cores: tiles of eight lines in shared memory

  template <int n, int bytes>
  using Plain = tensor::StagedTile<3, n, tensor::PlainLayout<n>>;
  template <int n, int bytes>
  using Padded = tensor::StagedTile<3, n, typename tensor::PaddedLayoutOf<n, bytes>::type>;
  template <int n, int bytes>
  using Permuted = tensor::StagedTile<3, n, typename tensor::PermutedLayoutOf<n, bytes>::type>;

  template <typename S, int n>
  void check_compared()
  {
    constexpr int bytes = sizeof(typename S::Accumulator);
    const Wavefronts plain = staged_accesses<S, Plain<n, bytes>>().sum();
    const Wavefronts padded = staged_accesses<S, Padded<n, bytes>>().sum();
    const Wavefronts permuted = staged_accesses<S, Permuted<n, bytes>>().sum();
    EXPECT_EQ(permuted.conflicts(), 0);
    EXPECT_LT(0, padded.conflicts());
    EXPECT_LT(padded.count, plain.count);
  }

  TEST(StagedTile, PermutedIsFreeOfConflictsWherePaddedIsNot)
  {
    check_compared<mma::M8N8K4<double>, 8>();
    check_compared<mma::M16N8K4<double>, 8>();
    check_compared<mma::M16N8K8<double>, 8>();
    check_compared<mma::M16N8K16<double>, 8>();
    check_compared<mma::M8N8K4<double>, 16>();
    check_compared<mma::M16N8K4<double>, 16>();
    check_compared<mma::M16N8K8<double>, 16>();
    check_compared<mma::M16N8K16<double>, 16>();
    check_compared<mma::M16N8K8<Tf32>, 8>();
    check_compared<mma::M16N8K8<Tf32>, 16>();
    check_compared<mma::M16N8K16<Half>, 8>();
    check_compared<mma::M16N8K16<Half>, 16>();
  }

  template <typename Tile>
  void check_staged_tile()
  {
    EXPECT_TRUE(tensor::is_injective<typename Tile::Layout>(Tile::planes, Tile::n));
    EXPECT_LE(2 * Tile::field_size * 8, 232448);
    // At most a sixth of the warps waits in the last round of column tiles.
    const int rounds = (Tile::columns + Tile::warps - 1) / Tile::warps;
    EXPECT_GE(6 * Tile::columns, 5 * rounds * Tile::warps);
  }

  TEST(StagedTile, LayoutsAreInjectiveAndWarpsBusy)
  {
    for_each_size([](auto size) {
      if constexpr (size.n >= 8)
      {
        constexpr int dim = size.dim, n = size.n;
        check_staged_tile<tensor::StagedTile<dim, n, tensor::PlainLayout<n>>>();
        check_staged_tile<
            tensor::StagedTile<dim, n, typename tensor::PermutedLayoutOf<n, 8>::type>>();
        check_staged_tile<
            tensor::StagedTile<dim, n, typename tensor::PermutedLayoutOf<n, 4>::type>>();
      }
    });
  }

  /// A lane's offset and constants give the place of every entry: lines along d, read and written.
  template <typename S, typename Tile, int d>
  void check_lane_offsets()
  {
    for (int thread = 0; thread < Tile::threads; ++thread)
    {
      const int warp = thread / 32, lane = thread % 32;
      const tensor::ReadOffset<S, Tile, d> read(lane, warp);
      const tensor::WriteOffset<Tile, d> write(lane, warp);
      for (int round = 0; round < Tile::rounds; ++round)
      {
        const int column = warp + round * Tile::warps;
        for (int step = 0; step < tensor::StagedRows<S, Tile::n>::steps; ++step)
          for (int e = 0; e < mma::OperandOf<S, mma::Operand::b>::n_elements; ++e)
          {
            const mma::Entry entry = mma::entry_of<S, mma::Operand::b>(lane, e);
            const int k = (step * S::k + entry.row) % Tile::n;
            ASSERT_EQ(
                read.at(round, step, e), (Tile::template offset<d>(8 * column + entry.column, k)))
                << "direction " << d << ", warp " << warp << ", lane " << lane;
          }
        for (int i = 0; i < Tile::n; i += 8)
          for (int v = 0; v < 2; ++v)
            ASSERT_EQ(write.at(round, i, v),
                (Tile::template offset<d>(8 * column + lane % 4 * 2 + v, i + lane / 4)))
                << "direction " << d << ", warp " << warp << ", lane " << lane;
      }
    }
  }

  template <typename S, int n>
  void check_lane_offsets_of()
  {
    constexpr int bytes = sizeof(typename S::Accumulator);
    const auto check = []<typename Tile>(const Tile &) {
      static_assert(Tile::is_regular);
      check_lane_offsets<S, Tile, 0>();
      check_lane_offsets<S, Tile, 1>();
      check_lane_offsets<S, Tile, 2>();
    };
    check(Plain<n, bytes>());
    check(Padded<n, bytes>());
    check(Permuted<n, bytes>());
  }

  TEST(StagedTile, AddressesFromConstants)
  {
    check_lane_offsets_of<mma::M8N8K4<double>, 8>();
    check_lane_offsets_of<mma::M16N8K4<double>, 8>();
    check_lane_offsets_of<mma::M16N8K8<double>, 8>();
    check_lane_offsets_of<mma::M16N8K16<double>, 8>();
    check_lane_offsets_of<mma::M8N8K4<double>, 16>();
    check_lane_offsets_of<mma::M16N8K4<double>, 16>();
    check_lane_offsets_of<mma::M16N8K8<double>, 16>();
    check_lane_offsets_of<mma::M16N8K16<double>, 16>();
    check_lane_offsets_of<mma::M16N8K8<Tf32>, 8>();
    check_lane_offsets_of<mma::M16N8K8<Tf32>, 16>();
    check_lane_offsets_of<mma::M16N8K16<Half>, 8>();
    check_lane_offsets_of<mma::M16N8K16<Half>, 16>();
  }

  // ---- x and y in registers, halves in shared memory

  TEST(ChainedTile, EveryEntryHasOnePlace)
  {
    using Tile = nodal::ChainedTile;
    EXPECT_TRUE(tensor::is_injective<Tile::Layout>(Tile::n, Tile::n));
    EXPECT_LE(3 * Tile::shared_bytes, 227 * 1024);
    std::array<int, 16> times{};
    for (int i = 0; i < 16; ++i)
      ++times[Tile::in_memory(i)];
    for (const int count : times)
      EXPECT_EQ(count, 1);
    for (int thread = 0; thread < Tile::threads; ++thread)
    {
      const int warp = thread / 32, lane = thread % 32, g = lane / 4, t = lane % 4;
      // Registers 0 and 1 of operand B are four neighbours in memory.
      for (int e = 0; e < 4; ++e)
        EXPECT_EQ(Tile::in_memory(mma::entry_of<mma::M16N8K16<Half>, mma::Operand::b>(t, e).row),
            4 * t + e);
      const Tile::Write write(lane, warp);
      const Tile::Read read(lane, warp);
      for (int i = 0; i < 2; ++i)
        for (int second = 0; second < 2; ++second)
        {
          for (int half = 0; half < 2; ++half)
            EXPECT_EQ(write.at(second, half, i),
                Tile::Layout()(warp + 8 * second, g + 8 * half, 8 * i + 2 * t));
          EXPECT_EQ(read.at(second, i),
              Tile::Layout()(lane % 16, warp + 8 * second, 8 * i) + lane / 16 * Tile::field_size);
        }
    }
  }

  TEST(ChainedTile, IsFreeOfConflicts)
  {
    using Tile = nodal::ChainedTile;
    Wavefronts written, read;
    for (int warp = 0; warp < Tile::warps; ++warp)
      for (int second = 0; second < 2; ++second)
        for (int i = 0; i < 2; ++i)
        {
          for (int half = 0; half < 2; ++half)
            written += mma::wavefronts(mma::make_addresses([&](int lane) {
              return Tile::Write(lane, warp).at(second, half, i) * 2;
            }),
                4);
          for (int matrix = 0; matrix < 4; ++matrix) // ldmatrix: one wavefront for each
            read += mma::wavefronts(mma::make_addresses([&](int lane) {
              return lane < 8 ? Tile::Read(8 * matrix + lane, warp).at(second, i) * 2
                              : mma::inactive;
            }),
                16);
        }
    EXPECT_EQ(written.conflicts(), 0);
    EXPECT_EQ(read.conflicts(), 0);
    EXPECT_EQ(written.count, 64); // 4096 halves of a field
    EXPECT_EQ(read.count, 128);   // of both
  }
} // namespace
} // namespace tensormg
