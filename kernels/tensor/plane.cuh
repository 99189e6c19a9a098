// Planes of tensors in registers (plane_tile.h): the product left(A, X), its operand and constant matrix.
#pragma once

#include "kernels/tensor/placement.h"
#include "kernels/tensor/plane_tile.h"
#include "kernels/tensor/product.cuh"

namespace tensormg::tensor
{
/// Two neighbours of a row as they are stored.
template <typename Number>
struct Pair
{
  Number at[2];
};
/// FP16 stays packed, as the instruction wants it.
template <>
struct Pair<Half>
{
  std::uint32_t bits;
};

/// Of the lane's first entry in a tile.
template <typename Tile>
struct PlaneLane
{
  int row, column;
  __device__ explicit PlaneLane(int lane)
    : row(lane / 4)
    , column(lane % 4 * 2)
  {}
};

/// Operand B of all steps of left(A, X).
template <typename P>
struct PlaneOperand
{
  typename P::B step[plane_steps<typename P::S>];
};

template <typename P>
__device__ inline PlaneOperand<P> make_plane_operand(typename P::C first, typename P::C second)
{
  PlaneOperand<P> operand;
#pragma unroll
  for (int step = 0; step < plane_steps<typename P::S>; ++step)
    operand.step[step] = make_terms<P, mma::Operand::b>(
        [&](int e) { return element_of_pair<typename P::S>(step, e) == 0 ? first : second; });
  return operand;
}

template <typename P, typename Number>
__device__ inline PlaneOperand<P> make_plane_operand(const Pair<Number> &pair)
{
  if constexpr (std::is_same_v<Number, Half>)
  {
    static_assert(P::is_packed && P::terms == 1);
    PlaneOperand<P> operand;
    operand.step[0].term[0].registers[0] = pair.bits;
    return operand;
  }
  else
    return make_plane_operand<P>(pair.at[0], pair.at[1]);
}

/// A constant 8 x 8 matrix (m = 8), or two of them one above the other (m = 16), as operand A of left().
template <typename P>
struct PlaneMatrix
{
  typename P::A step[plane_steps<typename P::S>];

  static constexpr int bytes =
      plane_steps<typename P::S> * FragmentBytes<P, mma::Operand::a>::of_warp;

  __device__ void load(const std::byte *table, int lane)
  {
#pragma unroll
    for (int s = 0; s < plane_steps<typename P::S>; ++s)
      step[s] = load_terms<P, mma::Operand::a>(
          table + s * FragmentBytes<P, mma::Operand::a>::of_warp, lane);
  }
};

/// Appends what PlaneMatrix reads: rows matrix(i, k), i < m, k < 8.
template <typename P, typename Matrix>
void append_plane_matrix(std::vector<std::byte> &table, Matrix matrix)
{
  for (int step = 0; step < plane_steps<typename P::S>; ++step)
    append_fragment<P, mma::Operand::a>(
        table, [&](int i, int k) { return matrix(i, mma::source_column<typename P::S>(step, k)); });
}

/// sum += A X^T
template <typename P>
__device__ inline void add_left(Sum<P> &sum, const PlaneMatrix<P> &a, const PlaneOperand<P> &x)
{
#pragma unroll
  for (int step = 0; step < plane_steps<typename P::S>; ++step)
    sum.add(a.step[step], x.step[step]);
}
} // namespace tensormg::tensor
