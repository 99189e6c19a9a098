#include "operators/output/vtu_array.h"

#include <stdexcept>

#include <zlib.h>

namespace tensormg
{
namespace
{
  void write_base64(std::ostream &out, const unsigned char *bytes, std::size_t size)
  {
    constexpr const char *letters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (std::size_t i = 0; i < size; i += 3)
    {
      const std::size_t left = size - i;
      const unsigned int word = unsigned(bytes[i]) << 16 |
          (left > 1 ? unsigned(bytes[i + 1]) << 8 : 0U) | (left > 2 ? unsigned(bytes[i + 2]) : 0U);
      out.put(letters[word >> 18]);
      out.put(letters[word >> 12 & 63U]);
      out.put(left > 1 ? letters[word >> 6 & 63U] : '=');
      out.put(left > 2 ? letters[word & 63U] : '=');
    }
  }
} // namespace

void VtuArray::compress_block()
{
  const std::size_t before = compressed_.size();
  uLongf size = compressBound(block_.size());
  compressed_.resize(before + size);
  if (compress2(compressed_.data() + before, &size, block_.data(), block_.size(), Z_BEST_SPEED) !=
      Z_OK)
    throw std::runtime_error("zlib cannot compress a part of a VTU file");
  compressed_.resize(before + size);
  sizes_.push_back(size);
  block_.clear();
}

void VtuArray::write(std::ostream &out)
{
  const std::uint64_t last = block_.size(); // 0: all blocks are full
  if (last > 0)
    compress_block();
  std::vector<std::uint64_t> header{sizes_.size(), block_bytes, last};
  header.insert(header.end(), sizes_.begin(), sizes_.end());
  write_base64(out, reinterpret_cast<const unsigned char *>(header.data()),
      header.size() * sizeof(std::uint64_t));
  write_base64(out, compressed_.data(), compressed_.size());
}
} // namespace tensormg
