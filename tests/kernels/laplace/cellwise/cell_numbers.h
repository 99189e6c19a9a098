// Numbers of the cells of a block for tests of kernels that take some.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/core/block.h"
#include "kernels/laplace/cellwise/cellwise.h"

namespace tensormg::test
{
/// value(d, cx, cy, cz): c_d for d < 3, the reaction for d = 3. Behind closed sides lies a copy of the cell there; elsewhere value()
/// is called for cells outside. kappa(s, cx, cy, cz): behind sides s that are Side::neumann, of cells there; none: zero.
template <typename C>
struct CellNumbersFor
{
  std::array<std::vector<C>, 7> arrays;
  laplace::CellNumbers<C> view;

  using Kappa = std::function<double(int, std::int64_t, std::int64_t, std::int64_t)>;

  template <typename Value>
  CellNumbersFor(const Block &block, double penalty, const std::array<Side, 6> &sides,
      const Value &value, const Kappa &kappa = {})
  {
    view.row = block.pitch + 2;
    view.plane = view.row * (block.cells[1] + 2);
    first_ = 1 + view.row + view.plane;
    for (std::size_t i = 0; i < arrays.size(); ++i)
      arrays[i].assign(view.plane * (block.cells[2] + 2) + first_, i < 4 ? C(1) : C(0));
    for (int d = 0; d < 4; ++d)
      for_cells(block, 1, [&](std::int64_t x, std::int64_t y, std::int64_t z) {
        std::array<std::int64_t, 3> cell{x, y, z};
        for (int a = 0; a < 3; ++a)
          for (const int end : {0, 1})
            if (is_closed(sides[2 * a + end]))
              cell[a] = end == 0 ? std::max(cell[a], std::int64_t(0))
                                 : std::min(cell[a], block.cells[a] - 1);
        arrays[d][place(x, y, z)] = static_cast<C>(value(d, cell[0], cell[1], cell[2]));
      });
    for (int d = 0; d < 3; ++d)
      view.c[d] = arrays[d].data() + first_;
    for (int d = 0; d < block.dim; ++d)
      for_cells(block, 0, [&](std::int64_t x, std::int64_t y, std::int64_t z) {
        const C *c = arrays[d].data() + place(x, y, z);
        arrays[4 + d][place(x, y, z)] = static_cast<C>(penalty / 2. *
            (double(c[view.stride(d)]) + double(c[-view.stride(d)]) - 2. * double(c[0])));
      });
    for (int s = 0; kappa && s < 2 * block.dim; ++s)
      if (sides[s] == Side::neumann)
        set_robin(block, s, kappa);
    for (int d = 0; d < 3; ++d)
      view.jump[d] = arrays[4 + d].data() + first_;
    view.reaction = arrays[3].data() + first_;
  }

private:
  void set_robin(const Block &block, int s, const Kappa &kappa)
  {
    const int d = s / 2;
    for_cells(block, 0, [&](std::int64_t x, std::int64_t y, std::int64_t z) {
      if (std::array{x, y, z}[d] != (s % 2 == 0 ? 0 : block.cells[d] - 1))
        return;
      const std::size_t at = place(x, y, z),
                        behind = at + (s % 2 == 0 ? -view.stride(d) : view.stride(d));
      arrays[4 + d][behind] = static_cast<C>(kappa(s, x, y, z));
      arrays[4 + d][at] += arrays[4 + d][behind] * arrays[d][at];
    });
  }

  std::size_t place(std::int64_t x, std::int64_t y, std::int64_t z) const
  {
    return static_cast<std::size_t>(first_ + x + y * view.row + z * view.plane);
  }
  /// With so many layers around the block.
  template <typename Use>
  static void for_cells(const Block &block, std::int64_t around, const Use &use)
  {
    for (std::int64_t z = -around; z < block.cells[2] + around; ++z)
      for (std::int64_t y = -around; y < block.cells[1] + around; ++y)
        for (std::int64_t x = -around; x < block.cells[0] + around; ++x)
          use(x, y, z);
  }

  std::int64_t first_ = 0;
};
} // namespace tensormg::test
