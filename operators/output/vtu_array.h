// The numbers of an array in a VTU file: compressed, as text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <type_traits>
#include <vector>

namespace tensormg
{
/// Takes numbers one after the other and writes them as VTK reads a DataArray of format "binary" with
/// vtkZLibDataCompressor and headers of UInt64: blocks compressed by zlib, in base64. Only what is compressed is kept.
class VtuArray
{
public:
  template <typename Number>
  void add(Number value)
  {
    static_assert(std::is_arithmetic_v<Number>);
    const auto *bytes = reinterpret_cast<const unsigned char *>(&value);
    block_.insert(block_.end(), bytes, bytes + sizeof(value));
    if (block_.size() >= block_bytes)
      compress_block();
  }

  /// Once, after the last number.
  void write(std::ostream &out);

private:
  static constexpr std::size_t block_bytes = std::size_t(1)
      << 18; // a multiple of all sizes of numbers

  void compress_block();

  std::vector<unsigned char> block_;      ///< not compressed yet
  std::vector<unsigned char> compressed_; ///< all blocks before it
  std::vector<std::uint64_t> sizes_;      ///< of those
};
} // namespace tensormg
