// Every brick of the device kernel of curved cells: each point of a cell has a place of its own, lines in all directions are read (almost) without
// conflicts of banks, and shared memory of GPUs of compute capability 9.0 suffices for two of them, or one with high degrees.
#include "kernels/laplace/pointwise/brick.h"

#include <set>

#include <gtest/gtest.h>

#include "kernels/core/shared_memory_limit.h"
#include "kernels/mma/bank_conflicts.h"

namespace tensormg
{
namespace
{
  template <typename Brick>
  void check()
  {
    using C = typename Brick::C;
    SCOPED_TRACE(testing::Message()
        << Brick::dim << "D, n " << Brick::n << ", " << sizeof(C) << " bytes, brick of "
        << Brick::cells_x << "x" << Brick::cells_y << "x" << Brick::cells_z);
    EXPECT_LE(Brick::threads, 512);
    EXPECT_LE(Brick::shared_bytes, shared_memory_limit::of_block / (Brick::n < 7 ? 2 : 1));
    mma::Wavefronts all;
    for (int d = 0; d < Brick::dim; ++d)
    {
      std::set<int> places;
      for (int line = 0; line < Brick::lines; ++line)
        for (int q = 0; q < Brick::n; ++q)
        {
          const int place = Brick::first_of_line(d, line) + q * Brick::stride(d);
          EXPECT_LT(place, Brick::cell_numbers);
          places.insert(place);
        }
      EXPECT_EQ(int(places.size()), Brick::lines * Brick::n);
      // Warps whose lines are those of one row of cells.
      for (int first = 0; first + 32 <= Brick::lines * Brick::cells_x; first += 32)
      {
        const auto addresses = mma::make_addresses([&](int lane) {
          const int thread = first + lane;
          return int(sizeof(C)) *
              (Brick::first_of_line(d, thread / Brick::cells_x) * Brick::cells_x +
                  thread % Brick::cells_x);
        });
        all += mma::wavefronts(addresses, sizeof(C));
      }
    }
    // For some n no strides are without.
    const bool has_none = Brick::n == 4 || Brick::n == 5 || Brick::n >= 8;
    EXPECT_LE(all.conflicts(), has_none ? 0 : all.ideal / 3);
  }
  template <typename Number, int dim, int degree>
  void check_degrees()
  {
    check<laplace::PointwiseBrickOf<Number, Number, dim, degree>>();
    if constexpr (degree < max_degree)
      check_degrees<Number, dim, degree + 1>();
  }

  TEST(PointwiseBricks, HavePlacesOfTheirOwnAndFewConflicts)
  {
    check_degrees<double, 2, 1>();
    check_degrees<double, 3, 1>();
    check_degrees<float, 2, 1>();
    check_degrees<float, 3, 1>();
  }
} // namespace
} // namespace tensormg
