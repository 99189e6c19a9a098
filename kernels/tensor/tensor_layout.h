// Where entry (z, y, x) of the tensors of a block lies in shared memory: padded, and permuted by XOR of
// bits of y and z into the offset. Several tensors of n planes follow one another: z = tensor n + plane.
//
//   offset = (z plane + y ld + x) ^ (bit `from` of y or z) << to ^ ...
//
// The XOR must keep the entries apart: is_injective() proves it, tests/kernels/tensor/layout_test.cc lists
// the layouts and counts their bank conflicts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tensormg::tensor
{
enum class Axis : std::uint8_t
{
  y,
  z
};

/// XOR bit `from` of an index into bit `to` of the offset.
struct BitOf
{
  Axis axis;
  int from;
  int to;
};

template <int ld_, int plane_, BitOf... bits>
struct TensorLayout
{
  static constexpr int ld = ld_;       ///< from row to row
  static constexpr int plane = plane_; ///< from plane to plane
  static constexpr bool is_permuted = sizeof...(bits) > 0;

  constexpr int operator()(int z, int y, int x) const
  {
    int offset = z * plane + y * ld + x;
    ((offset ^= ((bits.axis == Axis::y ? y : z) >> bits.from & 1) << bits.to), ...);
    return offset;
  }
};

/// Proof that no two entries of n_planes planes share an offset, and that all lie in n_planes planes.
template <typename Layout>
constexpr bool is_injective(int n_planes, int n)
{
  constexpr std::size_t largest = 1 << 16;
  std::array<bool, largest> taken{};
  for (int z = 0; z < n_planes; ++z)
    for (int y = 0; y < n; ++y)
      for (int x = 0; x < n; ++x)
      {
        const int offset = Layout()(z, y, x);
        if (offset < 0 || offset >= n_planes * Layout::plane || taken[offset])
          return false;
        taken[offset] = true;
      }
  return true;
}

/// Do entries x and x + 1 of every row, x even, lie side by side at an even offset?
template <typename Layout>
constexpr bool has_pairs(int n_planes, int n)
{
  for (int z = 0; z < n_planes; ++z)
    for (int y = 0; y < n; ++y)
      for (int x = 0; x + 1 < n; x += 2)
        if (Layout()(z, y, x) % 2 != 0 || Layout()(z, y, x + 1) != Layout()(z, y, x) + 1)
          return false;
  return true;
}
} // namespace tensormg::tensor
