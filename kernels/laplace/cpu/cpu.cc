// Parts of the `cpu` backend that do not depend on dimension, degree and form.
#include "kernels/laplace/cpu/cpu.h"

#include <string>

#include <unistd.h>

namespace tensormg::laplace
{
RowRange clipped(const RowRange &range, const Block &block)
{
  return {range.y_begin, std::min(range.y_end, block.cells[1]), range.z_begin,
      std::min(range.z_end, block.cells[2])};
}

namespace
{
  /// What a tile may take. With a second-level cache of 1 MiB or more a tile serves best from the cache behind it: 3 MiB (1 to
  /// 12 differ by less than noise, 400 kB is slower); in one run with 512 kB a tile that fits there was faster.
  std::int64_t tile_budget()
  {
    constexpr std::int64_t large = 1 << 20, budget = 3 << 20;
    static const std::int64_t cache = sysconf(_SC_LEVEL2_CACHE_SIZE); // 0 or -1: unknown
    return cache <= 0 || cache >= large ? budget : cache * 4 / 5;
  }
} // namespace

std::int64_t tile_rows(
    const Block &block, std::int64_t rows, std::int64_t number_bytes, std::int64_t compute_bytes)
{
  if (block.dim == 2 || rows <= 0)
    return std::max<std::int64_t>(rows, 1);
  constexpr std::int64_t least = 8; // the halo is a row on each side
  const std::int64_t strip =
      block.n * block.row() * (block.n * 2 * number_bytes + 4 * compute_bytes);
  const std::int64_t fitting = std::max(tile_budget() / strip, least);
  const std::int64_t tiles = (rows + fitting - 1) / fitting;
  return (rows + tiles - 1) / tiles;
}

template <typename Number>
bool use_streaming_stores(const Arguments<Number> &a)
{
  constexpr std::int64_t cached_bytes = 8 << 20;
  constexpr auto number_bytes = static_cast<std::int64_t>(sizeof(Number));
  constexpr std::int64_t part_bytes = number_bytes * simd::native_width<Compute<Number>>;
  // A part of a line smaller than half of it costs more to stream than is saved.
  if (part_bytes < simd::line_bytes / 2)
    return false;
  // Reading old has brought the line, which a store past the caches would have to throw out first.
  if (a.dst == a.old)
    return false;
  constexpr std::int64_t streamed =
      simd::register_bytes < simd::line_bytes ? simd::line_bytes : part_bytes;
  return a.block.pitch * number_bytes % streamed == 0 &&
      reinterpret_cast<std::uintptr_t>(a.dst) % streamed == 0 &&
      a.block.size() * number_bytes > cached_bytes;
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
  return std::string(simd::instruction_set) + ", " + std::to_string(simd::register_bytes) +
      "-byte vectors";
}
} // namespace tensormg::laplace
