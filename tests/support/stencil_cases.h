// Stencils of all shapes with random weights, grids of odd sizes, and what the reference makes of them.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/diagnostics/stencil/stencil.h"

namespace tensormg::test
{
using stencil::Grid;
using stencil::make_stencil;
using stencil::Shape;
using stencil::shapes;
using stencil::Stencil;

/// In [-1, 1], never near zero.
inline double stencil_number(std::uint64_t i)
{
  std::uint64_t z = (i + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  const double x = static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
  return x < 0.5 ? -0.2 - 1.6 * x : 0.2 + 1.6 * (x - 0.5);
}

/// Different weights; the sum of their magnitudes is 1, so that nothing grows.
inline Stencil with_weights(Stencil stencil)
{
  double sum = 0.;
  for (int t = 0; t < stencil.n_taps; ++t)
    sum += std::abs(stencil.taps[static_cast<std::size_t>(t)].weight =
                        stencil_number(static_cast<std::uint64_t>(t) + 1000));
  for (int t = 0; t < stencil.n_taps; ++t)
    stencil.taps[static_cast<std::size_t>(t)].weight /= sum;
  return stencil;
}

/// Few taps at odd places, one twice, not even the own point among them.
inline Stencil irregular()
{
  Stencil stencil;
  stencil.dim = 3;
  stencil.radius = 2;
  for (const std::array<int, 3> &offset :
      {std::array<int, 3>{2, -1, 0}, {-2, 0, 1}, {0, 2, -2}, {1, 1, 1}, {1, 1, 1}, {0, -2, 0}})
    stencil.taps[static_cast<std::size_t>(stencil.n_taps++)] = {offset, 1.};
  return with_weights(stencil);
}

inline std::vector<Stencil> all_stencils()
{
  std::vector<Stencil> list{irregular()};
  for (const Shape &shape : shapes)
    list.push_back(with_weights(make_stencil(shape)));
  return list;
}

/// Aligned numbers.
template <typename Number>
class Aligned
{
public:
  Aligned(std::int64_t size, Number value)
    : memory_(static_cast<std::size_t>(size) + 16, value)
  {
    const auto place = reinterpret_cast<std::uintptr_t>(memory_.data()) / sizeof(Number);
    data_ = memory_.data() + (16 - place % 16) % 16;
  }
  Number *data() { return data_; }

private:
  std::vector<Number> memory_;
  Number *data_;
};

template <typename Number>
void fill(Number *array, const Grid &grid)
{
  for (std::int64_t i = 0; i < grid.size(); ++i)
    array[i] = static_cast<Number>(stencil_number(static_cast<std::uint64_t>(i)));
}

/// The reference, `depth` times.
template <typename Number>
std::vector<double> expected(
    const Stencil &stencil, const Grid &grid, int depth, const Number *from)
{
  std::vector<double> a(static_cast<std::size_t>(grid.size())), b(a.size());
  reference(stencil, grid, from, a.data());
  for (int step = 1; step < depth; ++step)
  {
    reference(stencil, grid, a.data(), b.data());
    std::swap(a, b);
  }
  return a;
}

inline std::vector<Grid> grids(int dim)
{
  if (dim == 2)
    return {{{1, 1, 1}}, {{3, 2, 1}}, {{5, 40, 1}}, {{37, 1, 1}}, {{64, 17, 1}}, {{101, 67, 1}}};
  return {{{1, 1, 1}}, {{2, 3, 4}}, {{19, 1, 5}}, {{33, 7, 1}}, {{40, 21, 13}}};
}
} // namespace tensormg::test
