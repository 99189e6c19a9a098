// The work of one block of mma_chained.cu: one tensor of 16 x 16 x 16 halves, and where they lie in shared memory.
//
//   fields    V, W of a group, then those of the next one: [z][y][x] with x in the order in_memory
//   a lane writes 4 bytes of row y = g of a plane, eight rows of 16 bytes per warp (accumulators), and names
//   rows of 16 bytes of eight planes (ldmatrix)
//
// In units of 16 bytes: unit 2 y + x / 8 of a plane, bit 2 of y and bit 0 of z added (XOR) to bit 0, bits 1 and 2 of
// z to bits 1 and 2. So eight rows of a plane, and eight planes of a row, are eight different units modulo 8: no
// access has a conflict (tests/kernels/tensor/layout_test.cc).
#pragma once

#include "kernels/tensor/tensor_layout.h"

namespace tensormg::nodal
{
struct ChainedTile
{
  using Layout = tensor::TensorLayout<16, 256, tensor::BitOf{tensor::Axis::y, 2, 3},
      tensor::BitOf{tensor::Axis::z, 0, 3}, tensor::BitOf{tensor::Axis::z, 1, 4},
      tensor::BitOf{tensor::Axis::z, 2, 5}>;
  static constexpr int n = 16;
  static constexpr int tensors = 1;
  static constexpr int warps = 8;
  static constexpr int threads = 32 * warps;
  static constexpr int resident = 3; ///< blocks that registers must leave room for: 80 per thread
  static constexpr int field_size = 16 * Layout::plane;
  static constexpr int shared_bytes = 4 * field_size * 2;
  /// To shared memory, per entry.
  static constexpr int accesses = 4;

  /// Where entry i of an operand in the order of a lane's registers is in a row: lane t has 2 t, 2 t + 1 and
  /// 2 t + 8, 2 t + 9, which are the neighbours 4 t, ..., 4 t + 3.
  static constexpr int in_memory(int i) { return i % 8 / 2 * 4 + i / 8 * 2 + i % 2; }

  /// Offsets of a lane's accumulators in a field.
  class Write
  {
  public:
    constexpr Write(int lane, int warp)
      : first_(Layout()(warp, lane / 4, lane % 4 * 2))
    {}
    /// Of row y = g + 8 half, x = 8 i + 2 t of plane z = warp + 8 plane: the bits that are added are no others'
    /// source, and bit 3 is flipped.
    constexpr int at(int plane, int half, int i) const
    {
      return (first_ ^ i * 8) + half * 8 * Layout::ld + plane * 8 * Layout::plane;
    }

  private:
    int first_;
  };

  /// Offsets that a lane names for ldmatrix: row `lane % 8` of matrix lane / 8, which is z >= 8 of field matrix / 2.
  class Read
  {
  public:
    constexpr Read(int lane, int warp)
      : first_(Layout()(lane % 16, warp, 0) + lane / 16 * field_size)
    {}
    /// Of row y = warp + 8 row, x = 8 i, ..., 8 i + 7.
    constexpr int at(int row, int i) const { return (first_ ^ i * 8) + row * 8 * Layout::ld; }

  private:
    int first_;
  };
};
} // namespace tensormg::nodal
