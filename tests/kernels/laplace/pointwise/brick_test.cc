// Every brick of the device kernel of curved cells: each line of a cell has a thread, each point a place of its own, no two arrays that are in use at once
// overlap, conflicts of banks are as few as strides permit, and shared memory of GPUs of compute capability 9.0 suffices for two of them. And the order of the metric on the device: each number has a place of its own.
#include "kernels/laplace/pointwise/brick.h"

#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/core/shared_memory_limit.h"
#include "kernels/laplace/pointwise/device_layout.h"
#include "kernels/mma/bank_conflicts.h"

namespace tensormg
{
namespace
{
  /// Of a warp whose threads have these places, beginning at `offset` of their cells.
  template <typename Brick, typename Place, typename At>
  mma::Wavefronts wavefronts(int bytes, const Place &place, const At &at)
  {
    mma::Wavefronts all;
    const int of_cell = Brick::cell_numbers(Brick::used_numbers);
    for (int first = 0; first < Brick::threads; first += 32)
      all += mma::wavefronts(mma::make_addresses([&](int lane) {
        const auto [cell, line] = place(first + lane);
        return int(sizeof(typename Brick::C)) * (cell * of_cell + at(line));
      }),
          bytes);
    return all;
  }

  template <typename Brick>
  void check_threads()
  {
    for (const auto place : {&Brick::place, &Brick::place_in_memory})
    {
      std::multiset<std::pair<int, int>> places;
      for (int thread = 0; thread < Brick::threads; ++thread)
        if (const auto [cell, line] = place(thread); cell < Brick::all_cells)
          places.insert({cell, line});
      for (int cell = 0; cell < Brick::all_cells; ++cell)
        for (int line = 0; line < Brick::lines; ++line)
          EXPECT_EQ(places.count({cell, line}), 1u);
      EXPECT_EQ(int(places.size()), Brick::all_cells * Brick::lines);
    }
    if (!Brick::in_warps)
      return;
    for (int thread = 1; thread < Brick::threads; ++thread)
      if (Brick::place(thread - 1).cell == Brick::place(thread).cell &&
          Brick::place(thread).cell < Brick::all_cells)
      {
        EXPECT_EQ((thread - 1) / 32, thread / 32);
      }
  }

  template <typename Brick>
  void check()
  {
    using C = typename Brick::C;
    SCOPED_TRACE(testing::Message()
        << Brick::dim << "D, n " << Brick::n << ", " << sizeof(C) << " bytes, brick of "
        << Brick::cells_x << "x" << Brick::cells_y << "x" << Brick::cells_z);
    EXPECT_LE(Brick::threads, 512);
    EXPECT_LE(Brick::shared_bytes(Brick::cell_numbers(Brick::used_numbers + Brick::test_numbers)),
        shared_memory_limit::of_block / 2);
    check_threads<Brick>();
    mma::Wavefronts all;
    for (int d = 0; d < Brick::dim; ++d)
    {
      std::set<int> places;
      for (int line = 0; line < Brick::lines; ++line)
        for (int q = 0; q < Brick::n; ++q)
        {
          const int place = Brick::first_of_line(d, line) + q * Brick::stride(d);
          EXPECT_LT(place, Brick::array_numbers);
          places.insert(place);
        }
      EXPECT_EQ(int(places.size()), Brick::lines * Brick::n);
      const mma::Wavefronts found = wavefronts<Brick>(int(sizeof(C)) * (d == 0 ? Brick::vector : 1),
          &Brick::place, [&](int line) { return Brick::first_of_line(d, line); });
      // Lines in x, read by wide accesses, pay for those in y and z.
      if (Brick::dim == 3 && Brick::n == 4 && d > 0)
      {
        EXPECT_EQ(found.conflicts(), 0);
      }
      all += found;
    }
    // For most n no strides are without: in twelfths.
    const bool in_double = sizeof(C) == sizeof(double);
    const int most = Brick::dim == 2 ? (in_double ? 16 : 27)
        : Brick::n % 4 == 0          ? 8
                                     : (in_double ? 10 : 18);
    EXPECT_LE(12 * all.conflicts(), most * all.ideal);
    // Arrays follow one another; ends of halos lie before the derivative that is written next to them.
    EXPECT_LE(Brick::array_numbers, Brick::u_numbers);
    for (int d = 1; d < Brick::dim; ++d)
      EXPECT_LE(
          Brick::derivative_offset(d - 1) + Brick::array_numbers, Brick::derivative_offset(d));
    EXPECT_LE(
        Brick::dim == 3 ? Brick::end_modes_offset(Brick::halos) : Brick::ends_numbers(Brick::halos),
        Brick::derivative_offset(Brick::dim - 1));
    EXPECT_LE(Brick::ends_numbers(Brick::halos), Brick::used_numbers);
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

  TEST(PointwiseDeviceLayout, HasAPlaceForEachNumber)
  {
    for (int dim : {2, 3})
      for (int degree = 1; degree <= max_degree; ++degree)
        for (int bytes : {2, 4, 8})
        {
          const laplace::DeviceLayout layout{Block(dim, degree, {3, 2, dim == 3 ? 2 : 1}), bytes};
          const auto check = [&](std::int64_t size, const auto &for_numbers) {
            std::vector<int> there(std::size_t(size), 0), here = there;
            const std::int64_t of_row = size / layout.rows();
            for (std::int64_t row = 0; row < layout.rows(); ++row)
              for_numbers(row, [&](std::int64_t to, std::int64_t from) {
                EXPECT_EQ(to / of_row, row);
                ++there.at(std::size_t(to));
                ++here.at(std::size_t(from));
              });
            EXPECT_EQ(there, std::vector<int>(std::size_t(size), 1));
            EXPECT_EQ(here, there);
          };
          check(laplace::volume_size(layout.block),
              [&](auto row, const auto &move) { layout.for_volume(row, move); });
          check(laplace::face_size(layout.block),
              [&](auto row, const auto &move) { layout.for_face(row, move); });
          check(laplace::reaction_size(layout.block),
              [&](auto row, const auto &move) { layout.for_reaction(row, move); });
          check(laplace::power_size(layout.block),
              [&](auto row, const auto &move) { layout.for_powers(row, move); });
        }
  }
} // namespace
} // namespace tensormg
