#include "tests/emulation/tensor_box.h"

#include <cstring>
#include <stdexcept>

#include "kernels/device/tensor_map.h"

namespace tensormg
{
template <typename Number>
CUtensorMap make_box_map(
    const Block &block, const Number *data, int cells, int rows, BoxLayout layout, int planes)
{
  const int swizzled_bytes = layout == BoxLayout::swizzled_128 ? 128
      : layout == BoxLayout::swizzled_64                       ? 64
                                                               : 0;
  if (swizzled_bytes != 0 && cells * static_cast<int>(sizeof(Number)) != swizzled_bytes)
    throw std::runtime_error("a swizzled box whose rows have another length");
  emulation::TensorBox box{};
  box.data = reinterpret_cast<const unsigned char *>(data);
  const std::int64_t size[4] = {block.cells[0], block.n, block.rows_per_plane(), block.planes()};
  const std::int64_t stride[4] = {1, block.pitch, block.row(), block.plane()};
  const int extent[4] = {cells, block.n, rows, planes};
  for (int d = 0; d < 4; ++d)
  {
    box.size[d] = size[d];
    box.stride[d] = stride[d] * static_cast<std::int64_t>(sizeof(Number));
    box.box[d] = extent[d];
  }
  box.element_bytes = sizeof(Number);
  box.swizzled_bytes = swizzled_bytes;
  CUtensorMap map{};
  std::memcpy(&map, &box, sizeof(box));
  return map;
}

template CUtensorMap make_box_map(const Block &, const double *, int, int, BoxLayout, int);
template CUtensorMap make_box_map(const Block &, const float *, int, int, BoxLayout, int);
template CUtensorMap make_box_map(const Block &, const WideFloat *, int, int, BoxLayout, int);
template CUtensorMap make_box_map(const Block &, const Half *, int, int, BoxLayout, int);

namespace emulation
{
  namespace
  {
    /// Calls move(byte of the tensor, or nullptr outside; byte of shared memory; bytes) for all of a box: pieces of 16
    /// bytes, which stay together in shared memory, and elements of those that are inside in part.
    template <typename Move>
    int for_pieces(
        const CUtensorMap *map, const void *shared, std::array<int, 4> at, const Move &move)
    {
      constexpr int piece = 16;
      TensorBox box;
      std::memcpy(&box, map, sizeof(box));
      if (at[0] * box.element_bytes % 16 != 0)
        throw std::runtime_error("a box whose start is not a multiple of 16 bytes");
      const auto address = reinterpret_cast<std::uintptr_t>(shared);
      if (address % 128 != 0)
        throw std::runtime_error("a box whose place in shared memory is not aligned");
      const int bytes = box.element_bytes, elements = piece / bytes;
      if (box.box[0] % elements != 0)
        throw std::runtime_error("a box whose rows are not a multiple of 16 bytes");
      // Bits 4..6 of the address xor bits 7..9, or bits 4 and 5 xor bits 7 and 8.
      const int flipped = box.swizzled_bytes == 0 ? 0 : box.swizzled_bytes - piece;
      int at_byte = 0;
      for (int i3 = 0; i3 < box.box[3]; ++i3)
        for (int i2 = 0; i2 < box.box[2]; ++i2)
          for (int i1 = 0; i1 < box.box[1]; ++i1)
          {
            const std::int64_t c[4] = {0, at[1] + i1, at[2] + i2, at[3] + i3};
            bool inside = true;
            std::int64_t offset = 0;
            for (int d = 1; d < 4; ++d)
            {
              inside = inside && c[d] >= 0 && c[d] < box.size[d];
              offset += c[d] * box.stride[d];
            }
            for (int i0 = 0; i0 < box.box[0]; i0 += elements, at_byte += piece)
            {
              const std::int64_t first = at[0] + i0;
              const int to = at_byte ^ (static_cast<int>(address + at_byte) >> 3 & flipped);
              const unsigned char *const from = box.data + offset + first * bytes;
              const bool outside = !inside || first + elements <= 0 || first >= box.size[0];
              if (outside)
                move(nullptr, to, piece);
              else if (first >= 0 && first + elements <= box.size[0])
                move(from, to, piece);
              else
                for (int i = 0; i < elements; ++i)
                  move(first + i >= 0 && first + i < box.size[0] ? from + i * bytes : nullptr,
                      to + i * bytes, bytes);
            }
          }
      return at_byte;
    }
  } // namespace

  int copy_box(void *to, const CUtensorMap *map, std::array<int, 4> at)
  {
    auto *const begin = static_cast<unsigned char *>(to);
    return for_pieces(map, to, at, [&](const unsigned char *of_tensor, int of_shared, int bytes) {
      if (of_tensor != nullptr)
        std::memcpy(begin + of_shared, of_tensor, bytes);
      else
        std::memset(begin + of_shared, 0, bytes);
    });
  }

  void store_box(const CUtensorMap *map, const void *from, std::array<int, 4> at)
  {
    const auto *const begin = static_cast<const unsigned char *>(from);
    for_pieces(map, from, at, [&](const unsigned char *of_tensor, int of_shared, int bytes) {
      if (of_tensor != nullptr)
        std::memcpy(const_cast<unsigned char *>(of_tensor), begin + of_shared, bytes);
    });
  }
} // namespace emulation
} // namespace tensormg
