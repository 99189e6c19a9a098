// mma_registers.cuh for FP16, 3D, N = 8 with two tensors per warp, side by side in a lane's accesses: rows of 8 halves
// are half a sector of memory each, so a lane takes 8 bytes and a warp's rows are as good as 32.
//
//   lane 4 g + t   row y = g; t < 2: x = 4 t, ..., 4 t + 3 of the first tensor, else x = 4 t - 8, ... of the second
//
//   u      operand B of m16n8k16 as it is read, 8 entries of each tensor along k
//   P, Q   two such products: the first gives the entries whose x is 0, 1 modulo 4, of both tensors, the second
//          the others; their matrices have zeros where the tensors differ
//   V, W   m16n8k8 for each of them, as there; accumulators are then four neighbours in x, as they were read
//   z      CUDA cores, a coefficient serves both tensors
#pragma once

#include "kernels/diagnostics/nodal/mma_registers.cuh"

namespace tensormg::nodal
{
/// Which number is element `i` (row or column, 0, ..., 7) of half `half` of the operands.
struct PairEntry
{
  int tensor, x;
  constexpr PairEntry(int half, int i)
    : tensor(i / 4)
    , x(i % 4 / 2 * 4 + 2 * half + i % 2)
  {}
};

/// The tables of mma_registers.cuh, whose y and z serve here too, then [End][half] fragments of x.
struct PairTables
{
  using Tile = tensor::PlaneTile<3, 8>;
  using P = tensor::Product<mma::M16N8K8<Half>, 1>;        ///< along y
  using Along_x = tensor::Product<mma::M16N8K16<Half>, 1>; ///< k: both tensors
  using Single = RegisterTables<P, Tile>;
  static constexpr int fragment_bytes = tensor::FragmentBytes<Along_x, mma::Operand::a>::of_warp;
  static constexpr int z_begin = 2 * Single::direction_bytes;
  static constexpr int x_begin = z_begin + Single::z_size * static_cast<int>(sizeof(float));

  static std::vector<std::byte> pack(const Matrices &matrices, int n)
  {
    std::vector<std::byte> table = Single::pack(matrices, n);
    for (const LineMatrices &line : matrices[0])
      for (int half = 0; half < 2; ++half)
        tensor::append_fragment<Along_x, mma::Operand::a>(table, [&](int i, int k) {
          const auto &matrix = i < 8 ? line.mass : line.stiffness;
          const PairEntry to(half, i % 8), from(k / 8, k % 8);
          return matrix.empty() || to.tensor != from.tensor ? 0. : matrix[to.x * n + from.x];
        });
    return table;
  }
};

/// The groups of two tensors that a warp works on, and their planes, as tensor::PlaneStream.
class PairStream
{
public:
  __device__ PairStream(const tensor::GroupParameters<Half> &p, int lane)
    : p_(p)
    , lane_(lane)
    , group_(blockIdx.x * PairTables::Tile::warps + threadIdx.x / 32)
  {
    find();
#pragma unroll
    for (int z = 0; z < 8; ++z)
      ask_for(z);
  }
  /// Goes on to the next group; false if there is none.
  __device__ bool go_on()
  {
    if (group_ >= p_.placement.n_groups())
      return false;
    is_in_other_box_ = box_ != next_box_;
    box_ = next_box_;
    position_ = next_position_;
    group_ += gridDim.x * PairTables::Tile::warps;
    find();
    return true;
  }
  /// The lane's entries of a plane as operand B.
  __device__ PairTables::Along_x::B plane(int z) const
  {
    PairTables::Along_x::B u;
    u.term[0].registers[0] = u_[z].x;
    u.term[0].registers[1] = u_[z].y;
    return u;
  }
  /// Asks for this plane of the next group, in its place; the planes in their order.
  __device__ void ask_for(int z)
  {
    if (z == 0)
      from_ = p_.src + next_position_;
    else
      from_ += p_.placement.stride[2];
    u_[z] = next_position_ >= 0 ? *reinterpret_cast<const uint2 *>(from_) : uint2{};
  }
  __device__ int box() const { return box_; }
  __device__ bool is_in_other_box() const { return is_in_other_box_; }

  /// Writes or adds [z][half][neighbour] of this group.
  __device__ void store(float (&y)[8][2][2]) const
  {
    if (position_ < 0)
      return;
    if (p_.add)
    {
      const Half *from = p_.dst + position_;
#pragma unroll
      for (int z = 0; z < 8; ++z, from += p_.placement.stride[2])
      {
        const auto before = load_pack<4>(from);
#pragma unroll
        for (int i = 0; i < 4; ++i)
          y[z][i / 2][i % 2] += before.at[i];
      }
    }
    Half *to = p_.dst + position_;
#pragma unroll
    for (int z = 0; z < 8; ++z, to += p_.placement.stride[2])
    {
      Pack<float, 4> pack;
#pragma unroll
      for (int i = 0; i < 4; ++i)
        pack.at[i] = y[z][i / 2][i % 2];
      store_pack(to, pack);
    }
  }

private:
  /// Where the lane's entries of group_ are; -1 without a tensor.
  __device__ void find()
  {
    next_position_ = -1;
    if (group_ >= p_.placement.n_groups())
      return;
    next_box_ = p_.placement.box_of(group_, next_box_);
    const unsigned tensor = 2 * (group_ - p_.placement.begin[next_box_]) + lane_ % 4 / 2;
    if (tensor < p_.placement.boxes[next_box_].n_tensors())
      next_position_ = p_.placement.position(next_box_, tensor) + lane_ % 2 * 4 +
          lane_ / 4 * p_.placement.stride[1];
  }

  const tensor::GroupParameters<Half> &p_;
  int lane_;
  unsigned group_; ///< the one that next_position_ has
  std::int64_t position_ = -1, next_position_ = -1;
  int box_ = -1, next_box_ = 0;
  bool is_in_other_box_ = false;
  const Half *from_ = nullptr;
  uint2 u_[8]; ///< zero where there is no tensor
};

/// Blocks that registers must leave room for: 128 per thread.
inline constexpr int pair_blocks = 4;

__global__ void __launch_bounds__(PairTables::Tile::threads, pair_blocks)
    pairs_kernel(const __grid_constant__ tensor::GroupParameters<Half> p)
{
  using P = PairTables::P;
  using Along_x = PairTables::Along_x;
  using Single = PairTables::Single;
  auto *z_tables = reinterpret_cast<float *>(dynamic_shared());
  copy_z_tables<Single, PairTables::Tile>(z_tables, p.tables + PairTables::z_begin);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  PairStream planes(p, lane);
  Along_x::A x[2];
  LinePair<P> y;
  const float *z_table = z_tables;
  while (planes.go_on())
  {
    if (planes.is_in_other_box())
    {
      const tensor::Box &b = p.placement.boxes[planes.box()];
#pragma unroll
      for (int half = 0; half < 2; ++half)
        x[half] = tensor::load_terms<Along_x, mma::Operand::a>(
            p.tables + PairTables::x_begin + (2 * b.end[0] + half) * PairTables::fragment_bytes,
            lane);
      y.load(p.tables + Single::direction_bytes, b.end[1], lane);
      z_table = z_tables + b.end[2] * 8 * Single::row;
    }
    float sum[8][2][2] = {};
#pragma unroll
    for (int z = 0; z < 8; ++z)
    {
      const Along_x::B u = planes.plane(z);
      float v[2][2], w[2][2];
#pragma unroll
      for (int half = 0; half < 2; ++half)
      {
        tensor::Sum<Along_x> pq;
        pq.add(x[half], u);
        contract_rows<P>(y, pq, v[half], w[half]);
      }
      planes.ask_for(z);
#pragma unroll
      for (int to = 0; to < 8; to += 2)
      {
        const auto coefficients = load_pack<4>(z_table + z * Single::row + 2 * to);
#pragma unroll
        for (int i = 0; i < 8; ++i)
          sum[to + i / 4][i / 2 % 2][i % 2] = fma(coefficients.at[i / 4 * 2], v[i / 2 % 2][i % 2],
              fma(coefficients.at[i / 4 * 2 + 1], w[i / 2 % 2][i % 2],
                  sum[to + i / 4][i / 2 % 2][i % 2]));
      }
    }
    planes.store(sum);
  }
}

inline void apply_pairs(const Arguments<Half> &a)
{
  using Tile = PairTables::Tile;
  bool has_quads = a.batch.first % 4 == 0;
  for (int d = 0; d < 3; ++d)
    has_quads = has_quads && a.batch.step[d] % 4 == 0 && (d == 0 || a.batch.stride[d] % 4 == 0);
  if (!has_quads)
    return apply_registers<PairTables::P, Tile, Half>(a);
  tensor::launch_groups("launching the nodal operator on pairs in registers", &pairs_kernel,
      Tile::threads, PairTables::Single::z_size * sizeof(float), a.stream,
      tensor::GroupParameters<Half>(a, 2), Tile::warps);
}

inline tensor::Resources pair_resources()
{
  return tensor::device_resources(
      &pairs_kernel, PairTables::Tile::threads, PairTables::Single::z_size * sizeof(float), 0.);
}
} // namespace tensormg::nodal
