#include <stdexcept>
#include <type_traits>

#include "kernels/device/cuda_check.h"
#include "kernels/device/pipeline.cuh"
#include "kernels/device/shared_memory.cuh"
#include "kernels/diagnostics/peak/peak.h"
#include "kernels/mma/instructions.cuh"
#include "kernels/mma/warpgroup.cuh"

namespace tensormg::peak
{
namespace
{
  constexpr int threads = 256;
  constexpr int blocks_per_multiprocessor = 4;
  constexpr int chains = 8;
  constexpr int unrolled = 16; ///< steps of one round
  constexpr int products = 4;  ///< independent chains of mma.sync

  __device__ std::int64_t thread_index()
  {
    return static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  }

  template <typename Number>
  __global__ void __launch_bounds__(threads)
      fma_kernel(int rounds, Number factor, Number term, double *sink)
  {
    Number sums[chains];
#pragma unroll
    for (int c = 0; c < chains; ++c)
      sums[c] = static_cast<Number>(threadIdx.x + c);
    for (int r = 0; r < rounds; ++r)
#pragma unroll
      for (int u = 0; u < unrolled; ++u)
#pragma unroll
        for (int c = 0; c < chains; ++c)
          sums[c] = sums[c] * factor + term;
    Number sum = 0;
#pragma unroll
    for (int c = 0; c < chains; ++c)
      sum += sums[c];
    sink[thread_index()] = static_cast<double>(sum);
  }

  /// FMA and funnel shifts, half of the instructions each.
  __global__ void __launch_bounds__(threads)
      issue_kernel(int rounds, float factor, float term, double *sink)
  {
    constexpr int pairs = chains / 2;
    float sums[pairs];
    unsigned words[pairs];
#pragma unroll
    for (int c = 0; c < pairs; ++c)
    {
      sums[c] = static_cast<float>(threadIdx.x + c);
      words[c] = threadIdx.x + c;
    }
    for (int r = 0; r < rounds; ++r)
#pragma unroll
      for (int u = 0; u < unrolled; ++u)
#pragma unroll
        for (int c = 0; c < pairs; ++c)
        {
          sums[c] = sums[c] * factor + term;
          asm volatile("shf.l.wrap.b32 %0, %0, %1, 7;"
                       : "+r"(words[c])
                       : "r"(words[(c + 1) % pairs]));
        }
    float sum = 0.F;
#pragma unroll
    for (int c = 0; c < pairs; ++c)
      sum += sums[c] + static_cast<float>(words[c] & 1u);
    sink[thread_index()] = static_cast<double>(sum);
  }

  /// A register of numbers 1/16.
  template <typename Multiplicand>
  constexpr unsigned sixteenth = std::is_same_v<Multiplicand, Half> ? 0x2c002c00u
      : std::is_same_v<Multiplicand, Bf16>                          ? 0x3d803d80u
                                                                    : 0x3d800000u;

  template <typename S>
  __global__ void __launch_bounds__(threads) mma_kernel(int rounds, double *sink)
  {
    // Never launched on a GPU without the instruction.
    if constexpr (mma::is_available<S>)
    {
      mma::FragmentA<S> a{};
      mma::FragmentB<S> b{};
      mma::FragmentC<S> c[products]{};
      // 1/16 in whatever the register holds: zeros would draw less power.
      const auto fill = [](auto &registers) {
        using Register = std::remove_reference_t<decltype(registers[0])>;
        for (auto &r : registers)
          if constexpr (std::is_floating_point_v<Register>)
            r = Register(0.0625);
          else
            r = sixteenth<typename S::Multiplicand>;
      };
      fill(a.registers);
      fill(b.registers);
      for (int r = 0; r < rounds; ++r)
#pragma unroll
        for (int u = 0; u < unrolled; ++u)
#pragma unroll
          for (int p = 0; p < products; ++p)
            mma::mma_sync(c[p], a, b);
      double sum = 0.;
#pragma unroll
      for (int p = 0; p < products; ++p)
        for (const auto x : c[p].registers)
          sum += static_cast<double>(x);
      sink[thread_index()] = sum;
    }
  }
  /// Every lane reads 16 bytes beside its neighbour's: four wavefronts without a conflict.
  __global__ void __launch_bounds__(threads) shared_kernel(int rounds, double *sink)
  {
    constexpr int parts = 4;
    __shared__ uint4 words[parts * threads];
#pragma unroll
    for (int p = 0; p < parts; ++p)
      words[p * threads + threadIdx.x] = make_uint4(threadIdx.x, p, 1u, 2u);
    __syncthreads();
    const auto address = static_cast<unsigned>(__cvta_generic_to_shared(words + threadIdx.x));
    unsigned sum[parts]{};
    for (int r = 0; r < rounds; ++r)
#pragma unroll
      for (int u = 0; u < unrolled; ++u)
      {
        uint4 word;
        asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(word.x), "=r"(word.y), "=r"(word.z), "=r"(word.w)
                     : "r"(address + (u % parts) * threads * 16));
        sum[u % parts] += word.x ^ word.y ^ word.z ^ word.w;
      }
    sink[thread_index()] = static_cast<double>(sum[0] ^ sum[1] ^ sum[2] ^ sum[3]);
  }

  /// Two warpgroups per block; both read the same operands, 1/16 each, as the copy engine would leave them.
  template <typename Multiplicand>
  __global__ void __launch_bounds__(threads) wgmma_kernel(int rounds, double *sink)
  {
    constexpr bool is_tf32 = std::is_same_v<Multiplicand, Tf32>;
    constexpr int words_a = 64 * 32, words_b = 256 * 32, block_bytes = 64 * 128;
    auto *const words = reinterpret_cast<unsigned *>(dynamic_shared());
    for (int i = static_cast<int>(threadIdx.x); i < words_a + words_b; i += threads)
      words[i] = sixteenth<Multiplicand>;
    pipeline::fence_copies(); // wgmma reads shared memory as the copy engine does
    __syncthreads();
    const mma::SharedMatrix a = mma::rows_of_k(words),
                            b = is_tf32 ? mma::rows_of_k(words + words_a)
                                        : mma::rows_of_n(words + words_a, block_bytes);
    float sums[128]{};
    for (int r = 0; r < rounds; ++r)
    {
      mma::warpgroup_begin();
#pragma unroll
      for (int u = 0; u < unrolled; ++u)
        if constexpr (is_tf32)
          mma::multiply_64x256x8_tf32(sums, a.after(32 * (u % 4)), b.after(32 * (u % 4)), true);
        else if constexpr (std::is_same_v<Multiplicand, Bf16>)
          mma::multiply_64x256x16_bf16(sums, a.after(32 * (u % 4)), b.after(2048 * (u % 4)), true);
        else
          mma::multiply_64x256x16(sums, a.after(32 * (u % 4)), b.after(2048 * (u % 4)), true);
      mma::warpgroup_commit();
      mma::warpgroup_wait<0>(sums);
    }
    double sum = 0.;
#pragma unroll
    for (const float x : sums)
      sum += static_cast<double>(x);
    sink[thread_index()] = sum;
  }
  constexpr int wgmma_shared_bytes = (64 + 256) * 128;

  /// By a query of a microsecond, a part of what is measured.
  int attribute(cudaDeviceAttr which)
  {
    int device = 0, value = 0;
    check_cuda(cudaGetDevice(&device), "asking for the device");
    check_cuda(cudaDeviceGetAttribute(&value, which, device), "asking for the device");
    return value;
  }

  unsigned n_blocks()
  {
    return static_cast<unsigned>(
        attribute(cudaDevAttrMultiProcessorCount) * blocks_per_multiprocessor);
  }

  template <typename S>
  double run_mma(int rounds, double *sink, Stream stream)
  {
    mma_kernel<S><<<n_blocks(), threads, 0, stream>>>(rounds, sink);
    return static_cast<double>(S::flops) * products * unrolled / mma::warp_size;
  }

  template <typename Multiplicand>
  double run_wgmma(int rounds, double *sink, Stream stream)
  {
    wgmma_kernel<Multiplicand><<<n_blocks(), threads, wgmma_shared_bytes, stream>>>(rounds, sink);
    constexpr int k = std::is_same_v<Multiplicand, Tf32> ? 8 : 16;
    return 2. * 64 * 256 * k * unrolled / 128;
  }

  double run_tensor_cores(Unit unit, int rounds, double *sink, Stream stream)
  {
    switch (unit)
    {
      case Unit::fp64_tensor:
        return device_properties().code_capability >= 90
            ? run_mma<mma::M16N8K16<double>>(rounds, sink, stream)
            : run_mma<mma::M8N8K4<double>>(rounds, sink, stream);
      case Unit::fp64_tensor_m8n8k4:
        return run_mma<mma::M8N8K4<double>>(rounds, sink, stream);
      case Unit::fp64_tensor_m16n8k4:
        return run_mma<mma::M16N8K4<double>>(rounds, sink, stream);
      case Unit::fp64_tensor_m16n8k8:
        return run_mma<mma::M16N8K8<double>>(rounds, sink, stream);
      case Unit::tf32_tensor_m16n8k4:
        return run_mma<mma::M16N8K4<Tf32>>(rounds, sink, stream);
      case Unit::fp16_tensor_m16n8k8:
        return run_mma<mma::M16N8K8<Half>>(rounds, sink, stream);
      case Unit::bf16_tensor_m16n8k8:
        return run_mma<mma::M16N8K8<Bf16>>(rounds, sink, stream);
      case Unit::fp16_wgmma:
        return run_wgmma<Half>(rounds, sink, stream);
      case Unit::bf16_wgmma:
        return run_wgmma<Bf16>(rounds, sink, stream);
      case Unit::tf32_wgmma:
        return run_wgmma<Tf32>(rounds, sink, stream);
      case Unit::tf32_tensor:
        return run_mma<mma::M16N8K8<Tf32>>(rounds, sink, stream);
      case Unit::fp16_tensor:
        return run_mma<mma::M16N8K16<Half>>(rounds, sink, stream);
      case Unit::bf16_tensor:
        return run_mma<mma::M16N8K16<Bf16>>(rounds, sink, stream);
      default:
        return 0.;
    }
  }
} // namespace

bool device_has(Unit unit)
{
  switch (unit)
  {
    case Unit::fp64_tensor_m16n8k4:
    case Unit::fp64_tensor_m16n8k8:
      return device_properties().code_capability >= 90;
    case Unit::fp16_wgmma:
    case Unit::bf16_wgmma:
    case Unit::tf32_wgmma:
      return device_properties().code_capability / 10 == 9;
    default:
      return true;
  }
}

std::int64_t cuda_sink_size() { return static_cast<std::int64_t>(n_blocks()) * threads; }

double cuda(Unit unit, int rounds, double *sink, Stream stream)
{
  const unsigned blocks = n_blocks();
  double per_thread = 0.; // of one round
  switch (unit)
  {
    case Unit::fp64:
      fma_kernel<double><<<blocks, threads, 0, stream>>>(rounds, 0.5, 0.5, sink);
      per_thread = 2. * chains * unrolled;
      break;
    case Unit::fp32:
      fma_kernel<float><<<blocks, threads, 0, stream>>>(rounds, 0.5F, 0.5F, sink);
      per_thread = 2. * chains * unrolled;
      break;
    case Unit::shared_memory:
      shared_kernel<<<blocks, threads, 0, stream>>>(rounds, sink);
      per_thread = 16. * unrolled;
      break;
    case Unit::issue:
      issue_kernel<<<blocks, threads, 0, stream>>>(rounds, 0.5F, 0.5F, sink);
      per_thread = 1. * chains * unrolled;
      break;
    default:
      per_thread = run_tensor_cores(unit, rounds, sink, stream);
  }
  check_launch("peak kernel");
  return per_thread * rounds * blocks * threads;
}
} // namespace tensormg::peak
