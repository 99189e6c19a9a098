// kernels/device/l2_halves.cu of the emulation: halves of different size, for those who deal out work by them.
#include "kernels/device/l2_halves.h"

#include <array>

namespace tensormg
{
const std::uint8_t *l2_halves(Stream)
{
  static const std::array<std::uint8_t, l2_halves_size> halves = [] {
    std::array<std::uint8_t, l2_halves_size> result{};
    for (std::size_t i = 0; i < result.size(); i += 3)
      result[i] = 1;
    return result;
  }();
  return halves.data();
}
} // namespace tensormg
