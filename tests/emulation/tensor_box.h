// Boxes of a tensor as the copy engine moves them.
#pragma once

#include <array>
#include <cstdint>

#include <cuda.h>

namespace tensormg::emulation
{
/// What a CUtensorMap holds here.
struct TensorBox
{
  const unsigned char *data;
  std::int64_t size[4];
  std::int64_t stride[4]; ///< bytes
  int box[4];
  int element_bytes;
  int swizzled_bytes; ///< of a row whose pieces are permuted; 0: none are
};
static_assert(sizeof(TensorBox) <= sizeof(CUtensorMap));

/// Copies the box that starts at `at`, zeros outside of the tensor; returns its bytes. Throws where the
/// device stops with an illegal instruction: a start that is not a multiple of 16 bytes.
int copy_box(void *to, const CUtensorMap *map, std::array<int, 4> at);

/// Copies a box the other way, without what lies outside of the tensor.
void store_box(const CUtensorMap *map, const void *from, std::array<int, 4> at);
} // namespace tensormg::emulation
