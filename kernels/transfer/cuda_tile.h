// How the transfer kernels of the `cuda` backend divide their work.
#pragma once

#include "kernels/core/block.h"
#include "kernels/core/half.h"

namespace tensormg::transfer
{
/// One block of threads per tile: `lanes` coarse cells side by side in x; in 3D one coarse cell in y and z
/// with a group of lanes for each of the 2n fine planes, in 2D `groups` coarse cells in y.
template <typename Number_, int dim_, int n_>
struct TransferTile
{
  using Number = Number_;
  using C = Compute<Number>;
  static constexpr int dim = dim_, n = n_;
  static constexpr int nz = dim == 3 ? n : 1;

  /// Whole warps where that leaves room for several blocks on a multiprocessor (227 KiB of shared memory):
  /// the 2 n^3 numbers per coarse cell between the stage in z and those in x and y are the limit.
  static constexpr int lanes = [] {
    if (dim == 2)
      return 32;
    if (sizeof(C) == 8)
      return n <= 5 ? 32 : n <= 7 ? 16 : 8;
    return n <= 6 ? 32 : 16;
  }();
  static constexpr int groups = dim == 3 ? 2 * n : 4;

  /// Shared memory holds [fine plane][line (mode j, mode i)][lane]. Planes are padded so that the groups
  /// of one warp meet different banks (32 of 4 bytes).
  static constexpr int lines = n * n;
  static constexpr int numbers_of_all_banks = 128 / static_cast<int>(sizeof(C));
  static constexpr int plane_stride = [] {
    int stride = lines * lanes;
    if (lanes < numbers_of_all_banks)
      while (stride % numbers_of_all_banks != lanes)
        stride += lanes;
    return stride;
  }();
  static constexpr int shared_bytes =
      dim == 3 ? 2 * n * plane_stride * static_cast<int>(sizeof(C)) : 0;

  /// The n^2 numbers of a plane of a coarse cell are kept in registers by one thread or, where they are too
  /// many, in restriction by two of them (even and odd modes in x, the same loads); in prolongation they
  /// are then read where they are used.
  static constexpr int number_registers = static_cast<int>(sizeof(C)) / 4;
  static constexpr int plane_registers = lines * number_registers;
  static constexpr int parts = plane_registers > 96 ? 2 : 1;
  static constexpr bool plane_in_registers = plane_registers <= 64;

  static constexpr int restrict_threads = lanes * groups * parts;
  static constexpr int prolongate_threads = lanes * groups;
  // With the loads of one row ahead, and some for addresses.
  static constexpr int restrict_registers =
      plane_registers / parts + 6 * n * number_registers / parts + 40;
  static constexpr int prolongate_registers = plane_in_registers
      ? plane_registers + 4 * n * number_registers + 32
      : 6 * n * number_registers + (dim == 3 ? 56 : 120);

  /// Blocks per multiprocessor that shared memory and registers admit.
  static constexpr int blocks_for(int threads, int registers)
  {
    const int by_registers = 65536 / (threads * registers);
    const int by_shared = shared_bytes > 0 ? 232448 / (shared_bytes + 1024) : by_registers;
    const int by_threads = 2048 / threads;
    int blocks = by_registers < by_shared ? by_registers : by_shared;
    blocks = blocks < by_threads ? blocks : by_threads;
    return blocks < 1 ? 1 : blocks < 16 ? blocks : 16;
  }
};
} // namespace tensormg::transfer
