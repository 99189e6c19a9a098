// a = q b as the matrix product A = B (q I). Numbers are multiplicands where they are loaded and come out of
// the accumulator at the same place, so no lane gives anything to another: registers of a lane hold columns
// 2 t and 2 t + 1 of a row of the accumulator (kernels/mma/fragment_maps.h), and the identity is permuted so
// that the product has them there.
#include "kernels/device/launch.cuh"
#include "kernels/diagnostics/scale/scale.h"
#include "kernels/diagnostics/scale/words.cuh"
#include "kernels/mma/instructions.cuh"
#include "kernels/tensor/device_resources.cuh"

namespace tensormg::scale
{
namespace
{
  using mma::FragmentA;
  using mma::FragmentB;
  using mma::FragmentC;
  using mma::Operand;

  __device__ int lane() { return static_cast<int>(threadIdx.x) % mma::warp_size; }

  /// k = 4: one product for the even columns, one for the odd ones.
  struct ByM8N8K4
  {
    using S = mma::M8N8K4<double>;
    static __device__ void scale(double q, Word (&words)[words_per_thread])
    {
      const auto even = mma::make_fragment<S, Operand::b>(
          lane(), [&](int k, int n) { return n == 2 * k ? q : 0.; });
      const auto odd = mma::make_fragment<S, Operand::b>(
          lane(), [&](int k, int n) { return n == 2 * k + 1 ? q : 0.; });
#pragma unroll
      for (Word &word : words)
      {
        Numbers<double> x = numbers_of<double>(word);
        FragmentC<S> product{};
        mma::mma_sync(product, FragmentA<S>{{x.values[0]}}, even);
        mma::mma_sync(product, FragmentA<S>{{x.values[1]}}, odd);
        x = {{product.registers[0], product.registers[1]}};
        word = word_of(x);
      }
    }
  };

  /// The same with two words, as rows g and g + 8.
  struct ByM16N8K4
  {
    using S = mma::M16N8K4<double>;
    static __device__ void scale(double q, Word (&words)[words_per_thread])
    {
      if constexpr (mma::is_available<S>)
      {
        const auto even = mma::make_fragment<S, Operand::b>(
            lane(), [&](int k, int n) { return n == 2 * k ? q : 0.; });
        const auto odd = mma::make_fragment<S, Operand::b>(
            lane(), [&](int k, int n) { return n == 2 * k + 1 ? q : 0.; });
#pragma unroll
        for (int w = 0; w < words_per_thread; w += 2)
        {
          const Numbers<double> x = numbers_of<double>(words[w]),
                                y = numbers_of<double>(words[w + 1]);
          FragmentC<S> product{};
          mma::mma_sync(product, FragmentA<S>{{x.values[0], y.values[0]}}, even);
          mma::mma_sync(product, FragmentA<S>{{x.values[1], y.values[1]}}, odd);
          words[w] = word_of(Numbers<double>{{product.registers[0], product.registers[1]}});
          words[w + 1] = word_of(Numbers<double>{{product.registers[2], product.registers[3]}});
        }
      }
    }
  };

  /// k = t is column 2 t, k = t + 4 is column 2 t + 1. A word is a row of two tiles.
  struct ByTf32
  {
    using S = mma::M16N8K8<Tf32>;
    static __device__ void scale(double q, Word (&words)[words_per_thread])
    {
      const Tf32 factor = mma::to_tf32(static_cast<float>(q)), zero{0};
      const auto identity = mma::make_fragment<S, Operand::b>(
          lane(), [&](int k, int n) { return n == 2 * (k % 4) + k / 4 ? factor : zero; });
#pragma unroll
      for (int w = 0; w < words_per_thread; w += 2)
      {
        Numbers<float> x = numbers_of<float>(words[w]), y = numbers_of<float>(words[w + 1]);
#pragma unroll
        for (int tile = 0; tile < 2; ++tile)
        {
          FragmentA<S> a;
#pragma unroll
          for (int column = 0; column < 2; ++column)
          {
            a.registers[2 * column] = mma::to_tf32(x.values[2 * tile + column]).bits;
            a.registers[2 * column + 1] = mma::to_tf32(y.values[2 * tile + column]).bits;
          }
          FragmentC<S> product{};
          mma::mma_sync(product, a, identity);
#pragma unroll
          for (int column = 0; column < 2; ++column)
          {
            x.values[2 * tile + column] = product.registers[column];
            y.values[2 * tile + column] = product.registers[2 + column];
          }
        }
        words[w] = word_of(x);
        words[w + 1] = word_of(y);
      }
    }
  };

  /// A and the accumulator are laid out alike. A word is a row of four tiles.
  struct ByFp16
  {
    using S = mma::M16N8K8<Half>;
    static __device__ void scale(double q, Word (&words)[words_per_thread])
    {
      const Half factor = mma::to_half(static_cast<float>(q)),
                 zero = std::bit_cast<Half>(std::uint16_t(0));
      const auto identity = mma::make_fragment<S, Operand::b>(
          lane(), [&](int k, int n) { return n == k ? factor : zero; });
#pragma unroll
      for (int w = 0; w < words_per_thread; w += 2)
#pragma unroll
        for (int tile = 0; tile < 4; ++tile)
        {
          FragmentC<S> product{};
          mma::mma_sync(
              product, FragmentA<S>{{words[w].parts[tile], words[w + 1].parts[tile]}}, identity);
          words[w].parts[tile] = pair(product.registers[0], product.registers[1]);
          words[w + 1].parts[tile] = pair(product.registers[2], product.registers[3]);
        }
    }

  private:
    static __device__ std::uint32_t pair(float low, float high)
    {
      const std::uint32_t bits = std::bit_cast<std::uint16_t>(mma::to_half(high));
      return bits << 16 | std::bit_cast<std::uint16_t>(mma::to_half(low));
    }
  };
} // namespace

void mma_m8n8k4(std::int64_t size, double q, const double *b, double *a, Stream stream)
{
  launch_words<ByM8N8K4>("launching the scale kernel with m8n8k4", size, q, b, a, stream);
}

void mma_m16n8k4(std::int64_t size, double q, const double *b, double *a, Stream stream)
{
  tensor::require_compiled_for(ByM16N8K4::S::min_capability, words_kernel<ByM16N8K4, double>);
  launch_words<ByM16N8K4>("launching the scale kernel with m16n8k4", size, q, b, a, stream);
}

void mma_tf32(std::int64_t size, double q, const float *b, float *a, Stream stream)
{
  launch_words<ByTf32>("launching the scale kernel in TF32", size, q, b, a, stream);
}

void mma_fp16(std::int64_t size, double q, const Half *b, Half *a, Stream stream)
{
  launch_words<ByFp16>("launching the scale kernel in FP16", size, q, b, a, stream);
}
} // namespace tensormg::scale
