#include "kernels/diagnostics/precision/methods.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "kernels/diagnostics/precision/block_sum.h"
#include "kernels/diagnostics/precision/formats.h"

namespace tensormg::precision
{
namespace
{
  using Rounding = float(float);

  /// Products at once as an H200 adds them by mma.sync: all of an instruction (adder_probe.h finds them).
  constexpr Adder tf32_adder{8, 2}, narrow_adder{16, 2};

  double fp64(std::int64_t length, const float *a, const float *b)
  {
    double sum = 0.;
    for (std::int64_t k = 0; k < length; ++k)
      sum = std::fma(static_cast<double>(a[k]), static_cast<double>(b[k]), sum);
    return sum;
  }

  template <Rounding round>
  double fma_chain(std::int64_t length, const float *a, const float *b)
  {
    float sum = 0.F;
    for (std::int64_t k = 0; k < length; ++k)
      sum = std::fma(round(a[k]), round(b[k]), sum);
    return sum;
  }

  constexpr float as_it_is(float value) { return value; }

  /// The terms of one block.
  template <Adder adder>
  class Block
  {
  public:
    void add(float a, float b)
    {
      terms_[count_++] = static_cast<double>(a) * static_cast<double>(b);
    }
    std::span<const double> terms() const { return {terms_.data(), count_}; }

  private:
    std::array<double, adder.block> terms_;
    std::size_t count_ = 0;
  };

  /// function(first, last) for one block of factors after the other.
  template <Adder adder, typename Function>
  void for_blocks(std::int64_t length, Function &&function)
  {
    for (std::int64_t k = 0; k < length; k += adder.block)
      function(k, std::min<std::int64_t>(length, k + adder.block));
  }

  template <Rounding round, Adder adder>
  double in_blocks(std::int64_t length, const float *a, const float *b)
  {
    float sum = 0.F;
    for_blocks<adder>(length, [&](std::int64_t first, std::int64_t last) {
      Block<adder> block;
      for (std::int64_t k = first; k < last; ++k)
        block.add(round(a[k]), round(b[k]));
      sum = add_block(sum, block.terms(), adder);
    });
    return sum;
  }

  /// A factor as big + small / scale.
  struct Split
  {
    float big, small;
  };
  template <Rounding round, int scale_bits>
  Split split(float value)
  {
    const float big = round(value);
    return {big, round((value - big) * static_cast<float>(1 << scale_bits))};
  }

  /// The three products into one accumulator: small times big, big times small, big times big.
  template <Rounding round, Adder adder>
  double three_products(std::int64_t length, const float *a, const float *b)
  {
    float sum = 0.F;
    for_blocks<adder>(length, [&](std::int64_t first, std::int64_t last) {
      std::array<Block<adder>, 3> blocks;
      for (std::int64_t k = first; k < last; ++k)
      {
        const Split x = split<round, 0>(a[k]), y = split<round, 0>(b[k]);
        blocks[0].add(x.small, y.big);
        blocks[1].add(x.big, y.small);
        blocks[2].add(x.big, y.big);
      }
      for (const Block<adder> &block : blocks)
        sum = add_block(sum, block.terms(), adder);
    });
    return sum;
  }

  /// Each block of big products starts from zero and is added to the sum to nearest; the corrections have an
  /// accumulator of their own.
  template <Rounding round, int scale_bits, Adder adder>
  double corrected(std::int64_t length, const float *a, const float *b)
  {
    float sum = 0.F, correction = 0.F;
    for_blocks<adder>(length, [&](std::int64_t first, std::int64_t last) {
      std::array<Block<adder>, 3> blocks;
      for (std::int64_t k = first; k < last; ++k)
      {
        const Split x = split<round, scale_bits>(a[k]), y = split<round, scale_bits>(b[k]);
        blocks[0].add(x.small, y.big);
        blocks[1].add(x.big, y.small);
        blocks[2].add(x.big, y.big);
      }
      correction = add_block(correction, blocks[0].terms(), adder);
      correction = add_block(correction, blocks[1].terms(), adder);
      sum += add_block(0.F, blocks[2].terms(), adder);
    });
    return sum + correction / static_cast<float>(1 << scale_bits);
  }

  constexpr float largest_float = std::numeric_limits<float>::max();
  constexpr float smallest_float = std::numeric_limits<float>::min();
  constexpr float largest_half = 65504.F;

  // Additions: 2^-24 to nearest, 2^-23 towards zero; the adder cuts off all terms of a block and the sum.
  constexpr double nearest = 0x1p-24, cut = 0x1p-23;

  constexpr std::array table{
      Method{"FP64", 0., 0x1p-53, 0.F, largest_float, fp64},
      Method{"FP32", 0., nearest, smallest_float, largest_float, fma_chain<as_it_is>},
      Method{"TF32", 0x1p-11, cut, smallest_float, largest_float, in_blocks<to_tf32, tf32_adder>},
      Method{"FP16", 0x1p-11, cut, 0x1p-14F, largest_half, in_blocks<to_fp16, narrow_adder>},
      Method{"FP16, RN", 0x1p-11, nearest, 0x1p-14F, largest_half, fma_chain<to_fp16>},
      Method{"BF16", 0x1p-8, cut, smallest_float, largest_float, in_blocks<to_bf16, narrow_adder>},
      // Of a factor remain 2^-22 (two times 11 bits), of a product small times small is lost.
      Method{"3xTF32", 0x1p-21, 3. * cut, 0x1p-103F, largest_float,
          three_products<to_tf32, tf32_adder>},
      Method{"TF32 corrected", 0x1p-21, cut, 0x1p-103F, largest_float,
          corrected<to_tf32, 0, tf32_adder>},
      Method{"FP16 corrected", 0x1p-21, cut, 0x1p-14F, largest_half,
          corrected<to_fp16, 11, narrow_adder>},
      Method{"3xBF16", 0x1p-15, 3. * cut, 0x1p-110F, largest_float,
          three_products<to_bf16, narrow_adder>},
  };
} // namespace

std::span<const Method> methods() { return table; }

Exact exact_dot(std::int64_t length, const float *a, const float *b)
{
  // Products of floats are exact in double; their sum is kept with its error (D. Knuth's two-sum).
  Exact result;
  double rest = 0.;
  for (std::int64_t k = 0; k < length; ++k)
  {
    const double term = static_cast<double>(a[k]) * static_cast<double>(b[k]);
    const double sum = result.product + term, part = sum - result.product;
    rest += (result.product - (sum - part)) + (term - part);
    result.product = sum;
    result.magnitude += std::abs(term);
  }
  result.product += rest;
  return result;
}
} // namespace tensormg::precision
