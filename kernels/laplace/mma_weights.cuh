// What the tensor-core kernels in FP16 share: multiplicands of cells, and constant ones made of the weights of traces
// and faces (mma_column/, mma_layers/).
#pragma once

#include <bit>

#include <cuda_fp16.h>

#include "kernels/mma/instructions.cuh"

namespace tensormg::laplace::mma_weights
{
using Shape = mma::M16N8K16<Half>;
using A = mma::FragmentA<Shape>;
using B = mma::FragmentB<Shape>;
using D = mma::FragmentC<Shape>;
/// Half as many rows of the weights, the same accumulators.
using SmallShape = mma::M16N8K8<Half>;
using SmallA = mma::FragmentA<SmallShape>;
using SmallB = mma::FragmentB<SmallShape>;

/// Word `at` of an array of multiplicands: elements 2 piece and 2 piece + 1 of a lane, by value(row, column).
template <typename S, typename Value>
__device__ inline void write_pair(
    unsigned char *base, int at, int lane, int piece, const Value &value)
{
  std::uint32_t both = 0;
  for (int e = 0; e < 2; ++e)
  {
    const mma::Entry here = mma::entry_of<S, mma::Operand::b>(lane, 2 * piece + e);
    both |= std::uint32_t(std::bit_cast<std::uint16_t>(value(here.row, here.column))) << (16 * e);
  }
  reinterpret_cast<std::uint32_t *>(base)[at] = both;
}

/// The multiplicand at this address, 256 bytes in which a lane's words are neighbours.
__device__ __forceinline__ B read_weights(const unsigned char *from)
{
  const uint2 both = *reinterpret_cast<const uint2 *>(from + 8 * (threadIdx.x % 32));
  return B{{both.x, both.y}};
}
/// The same in 128 bytes.
__device__ __forceinline__ SmallB read_small_weights(const unsigned char *from)
{
  return SmallB{{*reinterpret_cast<const std::uint32_t *>(from + 4 * (threadIdx.x % 32))}};
}

/// Part 0: the first 11 bits, part 1: what they leave, to 11 bits.
__device__ inline Half rounded(float value, int part)
{
  const Half first = mma::to_half(value);
  return part == 0 ? first : mma::to_half(value - __half2float(std::bit_cast<__half>(first)));
}

/// Weight of mode m of a line in its traces at the left or the right end (CellBasis).
template <typename Parameters>
__device__ inline float at_end(const Parameters &p, bool left, int m, int derivative)
{
  const float weight = derivative ? p.h[m] : p.v[m];
  return left && m % 2 != derivative ? -weight : weight;
}

/// What a trace beside the line adds to mode m, in units of p.scale.
template <typename Parameters>
__device__ inline float beside(
    const Parameters &p, int direction, bool above, int m, int derivative)
{
  const float weight = (derivative ? p.vd[direction][m] : p.gd[direction][m]) / p.scale;
  return (above ? derivative == 1 : m % 2 == 1) ? -weight : weight;
}

/// Reads 16 cells and 16 modes from eight and eight lines; each lane gives the address of one of them.
template <typename Address>
__device__ __forceinline__ A load_cells(Address line)
{
  A a;
  mma::ldmatrix<mma::LdmatrixForm::transposed>(a, line);
  return a;
}

/// sum += products of the small shape, whose accumulators are the same registers: multiply(accumulators) adds them.
template <typename Multiply>
__device__ __forceinline__ void add_small(D &sum, const Multiply &multiply)
{
  mma::FragmentC<SmallShape> same;
#pragma unroll
  for (int r = 0; r < D::n_registers; ++r)
    same.registers[r] = sum.registers[r];
  multiply(same);
#pragma unroll
  for (int r = 0; r < D::n_registers; ++r)
    sum.registers[r] = same.registers[r];
}
} // namespace tensormg::laplace::mma_weights
