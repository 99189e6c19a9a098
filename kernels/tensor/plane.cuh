// Planes of tensors in registers (plane_tile.h): their way from and to memory, the product left(A, X), and sums
// over z on CUDA cores.
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

/// A lane's places in the tensors of its warp.
template <typename Tile>
class PlaneLane
{
public:
  int row, column; ///< of the lane's first entry in the tile
  __device__ explicit PlaneLane(int lane)
    : row(lane / 4)
    , column(lane % 4 * 2)
  {}

  /// Tensors [first, ...) of a box: where the entries of the lane are.
  __device__ void place(const Placement &placement, int box, unsigned first)
  {
    const unsigned n_tensors = placement.boxes[box].n_tensors();
#pragma unroll
    for (int at = 0; at < n_positions; ++at)
    {
      const int v = at % distinct;
      const int in_tile = row / Tile::n * Tile::side + (column + v) / Tile::n;
      const unsigned q = first + static_cast<unsigned>(at / distinct * Tile::per_tile + in_tile);
      const bool exists = row < Tile::used && column + v < Tile::used && q < n_tensors;
      position_[at] = exists ? placement.position(box, q) + row % Tile::n * placement.stride[1] +
              (column + v) % Tile::n
                             : -1;
    }
    stride_ = placement.stride[2];
    vector_access_ = placement.pairs;
  }

  /// The lane's entries of all planes; zero where there is no tensor.
  template <typename Number>
  __device__ void load(const Number *src, Pair<Number> (&u)[Tile::planes]) const
  {
    using Word = typename WordOf<2 * sizeof(Number)>::type;
    using Bits = typename WordOf<sizeof(Number)>::type;
    if (distinct == 1 && vector_access_)
    {
#pragma unroll
      for (int z = 0; z < Tile::planes; ++z)
      {
        Word word{};
        if (exists(z, 0))
          word = *reinterpret_cast<const Word *>(src + position(z, 0));
        std::memcpy(&u[z], &word, sizeof(word));
      }
      return;
    }
#pragma unroll
    for (int z = 0; z < Tile::planes; ++z)
    {
      Bits bits[2] = {};
#pragma unroll
      for (int v = 0; v < 2; ++v)
        if (exists(z, v))
          bits[v] = *reinterpret_cast<const Bits *>(src + position(z, v));
      std::memcpy(&u[z], bits, sizeof(bits));
    }
  }

  /// Writes or adds them.
  template <typename Number, typename C>
  __device__ void store(Number *dst, bool add, C (&y)[Tile::planes][2]) const
  {
    if (distinct == 1 && vector_access_)
    {
      if (add)
      {
#pragma unroll
        for (int z = 0; z < Tile::planes; ++z)
          if (exists(z, 0))
          {
            const Pack<C, 2> before = load_pack<2>(dst + position(z, 0));
            y[z][0] += before.at[0];
            y[z][1] += before.at[1];
          }
      }
#pragma unroll
      for (int z = 0; z < Tile::planes; ++z)
        if (exists(z, 0))
        {
          Pack<C, 2> pack;
          pack.at[0] = y[z][0];
          pack.at[1] = y[z][1];
          store_pack(dst + position(z, 0), pack);
        }
      return;
    }
#pragma unroll
    for (int z = 0; z < Tile::planes; ++z)
#pragma unroll
      for (int v = 0; v < 2; ++v)
        if (exists(z, v))
        {
          Number *to = dst + position(z, v);
          const C before = add ? load_pack<1>(to).at[0] : C(0);
          store_pack(to, Pack<C, 1>(y[z][v] + before));
        }
  }

private:
  /// N even: both entries are neighbours in a row of one tensor.
  static constexpr int distinct = Tile::n % 2 == 0 ? 1 : 2;
  static constexpr int n_positions = distinct * (Tile::dim == 3 ? 1 : Tile::planes);

  __device__ std::int64_t start(int plane, int v) const
  {
    return position_[(Tile::dim == 3 ? 0 : plane * distinct) + v % distinct];
  }
  __device__ bool exists(int plane, int v) const { return start(plane, v) >= 0; }
  __device__ std::int64_t position(int plane, int v) const
  {
    return start(plane, v) + (Tile::dim == 3 ? plane * stride_ : 0) + (distinct == 1 ? v : 0);
  }

  std::int64_t position_[n_positions]; ///< -1: no such tensor
  std::int64_t stride_;
  bool vector_access_;
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

  /// m = 16: zero above, the upper matrix below.
  __device__ PlaneMatrix shifted_down() const
  {
    static_assert(P::S::m == 16);
    PlaneMatrix result{};
#pragma unroll
    for (int s = 0; s < plane_steps<typename P::S>; ++s)
#pragma unroll
      for (int term = 0; term < P::terms; ++term)
#pragma unroll
        for (int r = 0; r < mma::FragmentA<typename P::S>::n_registers; r += 2)
          result.step[s].term[term].registers[r + 1] = step[s].term[term].registers[r];
    return result;
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
