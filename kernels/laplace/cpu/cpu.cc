// Parts of the `cpu` backend that do not depend on dimension, degree and form.
#include "kernels/laplace/cpu/cpu.h"

#include <string>

namespace tensormg::laplace
{
RowRange clipped(const RowRange &range, const Block &block)
{
  return {range.y_begin, std::min(range.y_end, block.cells[1]), range.z_begin,
      std::min(range.z_end, block.cells[2])};
}

std::int64_t tile_rows(
    const Block &block, std::int64_t rows, std::int64_t number_bytes, std::int64_t compute_bytes)
{
  if (block.dim == 2 || rows <= 0)
    return std::max<std::int64_t>(rows, 1);
  constexpr std::int64_t cache_budget = 3 << 20; // 1..12 MB differ by less than noise
  const std::int64_t strip =
      block.n * block.row() * (block.n * 2 * number_bytes + 4 * compute_bytes);
  const std::int64_t fitting = std::max<std::int64_t>(cache_budget / strip, 8);
  const std::int64_t tiles = (rows + fitting - 1) / fitting;
  return (rows + tiles - 1) / tiles;
}

template <typename Number>
bool use_streaming_stores(const Arguments<Number> &a)
{
  constexpr std::int64_t cached_bytes = 8 << 20, line_bytes = 64;
  constexpr auto width = simd::native_width<Compute<Number>>;
  constexpr auto vector_bytes = width * static_cast<std::int64_t>(sizeof(Number));
  // Half a line here, the other half after n - 1 other places: processors with registers of 32 bytes cannot combine them on their
  // way past the caches.
  if (simd::register_bytes < line_bytes)
    return false;
  // A part of a line that bypasses the caches first throws out the line that reading old has brought.
  if (a.dst == a.old && vector_bytes < line_bytes)
    return false;
  return a.block.pitch % width == 0 &&
      reinterpret_cast<std::uintptr_t>(a.dst) % vector_bytes == 0 &&
      a.block.size() * static_cast<std::int64_t>(sizeof(Number)) > cached_bytes;
}

void streaming_fence()
{
#if defined(__AVX__)
  _mm_sfence();
#endif
}

template bool use_streaming_stores(const Arguments<double> &);
template bool use_streaming_stores(const Arguments<float> &);
template bool use_streaming_stores(const Arguments<Half> &);
template bool use_streaming_stores(const Arguments<WideFloat> &);

std::string cpu_instruction_set()
{
  const std::string name = simd::register_bytes == 64 ? "AVX-512"
      : simd::register_bytes == 32                    ? "AVX2"
                                                      : "SSE2";
  return name + ", " + std::to_string(simd::register_bytes) + "-byte vectors";
}
} // namespace tensormg::laplace
