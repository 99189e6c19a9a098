// Planes of tensors in registers (plane_tile.h): their way from global memory and back.
#pragma once

#include "kernels/tensor/placement.h"
#include "kernels/tensor/plane.cuh"

namespace tensormg::tensor
{
/// Where a lane's entries of the tensors of its warp are in a vector.
template <typename Tile>
class PlanePositions
{
public:
  /// Is a plane read and written by one access?
  __device__ static bool has_pairs(const Placement &placement)
  {
    return distinct == 1 && placement.pairs;
  }

  PlanePositions() = default;
  /// Of the tensors [first, ...) of a box.
  __device__ PlanePositions(const Placement &placement, int box, unsigned first, int lane)
  {
    const PlaneLane<Tile> place(lane);
    const int y = place.row, x = place.column;
    const unsigned n_tensors = placement.boxes[box].n_tensors();
#pragma unroll
    for (int at = 0; at < n_positions; ++at)
    {
      const int v = at % distinct;
      const int in_tile = y / Tile::n * Tile::side + (x + v) / Tile::n;
      const unsigned q = first + static_cast<unsigned>(at / distinct * Tile::per_tile + in_tile);
      const bool exists = y < Tile::used && x + v < Tile::used && q < n_tensors;
      position_[at] = exists || always_exists
          ? placement.position(box, q) + y % Tile::n * placement.stride[1] + (x + v) % Tile::n
          : -1;
    }
  }

  /// A pointer to the lane's pair of the first plane that next() moves on.
  template <typename Number>
  __device__ Number *begin(Number *vector) const
  {
    return vector + position_[0];
  }
  /// From plane z - 1 to plane z.
  template <typename Number>
  __device__ void next(const Placement &placement, int z, Number *&at) const
  {
    at += Tile::dim == 3 ? placement.stride[2] : position_[z % n_positions] - position_[z - 1];
  }

  /// The lane's entries of a plane by one access; zero where there is no tensor.
  template <typename Number>
  __device__ void load_pair(const Number *at, int z, Pair<Number> &u) const
  {
    using Word = typename WordOf<2 * sizeof(Number)>::type;
    Word word{};
    if (exists(z, 0))
      word = *reinterpret_cast<const Word *>(at);
    std::memcpy(&u, &word, sizeof(word));
  }

  /// The lane's entries of all planes one by one; zero where there is no tensor.
  template <typename Number>
  __device__ void load_singly(
      const Placement &placement, const Number *src, Pair<Number> (&u)[Tile::planes]) const
  {
    using Bits = typename WordOf<sizeof(Number)>::type;
#pragma unroll
    for (int z = 0; z < Tile::planes; ++z)
    {
      Bits bits[2] = {};
#pragma unroll
      for (int v = 0; v < 2; ++v)
        if (exists(z, v))
          bits[v] = *reinterpret_cast<const Bits *>(src + position(placement, z, v));
      std::memcpy(&u[z], bits, sizeof(bits));
    }
  }

  /// Writes or adds them.
  template <typename Number, typename C>
  __device__ void store(
      const Placement &placement, Number *dst, bool add, C (&y)[Tile::planes][2]) const
  {
    if (has_pairs(placement))
    {
      if (add)
      {
        const Number *from = begin(dst);
#pragma unroll
        for (int z = 0; z < Tile::planes; ++z)
        {
          if (z > 0)
            next(placement, z, from);
          if (!exists(z, 0))
            continue;
          const Pack<C, 2> before = load_pack<2>(from);
          y[z][0] += before.at[0];
          y[z][1] += before.at[1];
        }
      }
      Number *to = begin(dst);
#pragma unroll
      for (int z = 0; z < Tile::planes; ++z)
      {
        if (z > 0)
          next(placement, z, to);
        if (!exists(z, 0))
          continue;
        Pack<C, 2> pack;
        pack.at[0] = y[z][0];
        pack.at[1] = y[z][1];
        store_pack(to, pack);
      }
      return;
    }
#pragma unroll
    for (int z = 0; z < Tile::planes; ++z)
#pragma unroll
      for (int v = 0; v < 2; ++v)
        if (exists(z, v))
        {
          Number *to = dst + position(placement, z, v);
          const C before = add ? load_pack<1>(to).at[0] : C(0);
          store_pack(to, Pack<C, 1>(y[z][v] + before));
        }
  }

private:
  /// N even: both entries are neighbours in a row of one tensor.
  static constexpr int distinct = Tile::n % 2 == 0 ? 1 : 2;
  static constexpr int n_positions = distinct * (Tile::dim == 3 ? 1 : Tile::planes);
  /// One tensor fills the tile: every lane has entries of every group.
  static constexpr bool always_exists = Tile::tensors == 1 && Tile::used == 8;

  __device__ std::int64_t start(int plane, int v) const
  {
    return position_[(Tile::dim == 3 ? 0 : plane * distinct) + v % distinct];
  }
  __device__ bool exists(int plane, int v) const { return always_exists || start(plane, v) >= 0; }
  __device__ std::int64_t position(const Placement &placement, int plane, int v) const
  {
    return start(plane, v) + (Tile::dim == 3 ? plane * placement.stride[2] : 0) +
        (distinct == 1 ? v : 0);
  }

  std::int64_t position_[n_positions]; ///< -1: no such tensor
};

/// The groups of tensors that a warp works on, one after the other, and their planes. `ahead`: in 3D with N even,
/// where a plane is one access, that of the next group is asked for as soon as it was used; so every load has the
/// time of a whole group, and no registers of its own.
template <typename Tile, typename Number, bool ahead>
class PlaneStream
{
public:
  using Positions = PlanePositions<Tile>;

  /// Starts to read the first group, if there is one.
  __device__ PlaneStream(const Placement &placement, const Number *src, int lane)
    : placement_(placement)
    , src_(src)
    , lane_(lane)
    , group_(blockIdx.x * Tile::warps + threadIdx.x / 32)
  {
    if constexpr (may_read_ahead)
    {
      find();
#pragma unroll
      for (int z = 0; z < Tile::planes; ++z)
        ask_for_next(z);
    }
  }

  /// Goes on to the next group; false if there is none.
  __device__ bool go_on()
  {
    if (group_ >= placement_.n_groups())
      return false;
    const int box = may_read_ahead ? next_box_ : placement_.box_of(group_, next_box_);
    next_box_ = box;
    is_in_other_box_ = box_ != box;
    box_ = box;
    now_ = may_read_ahead ? next_ : positions_of(group_, box);
    group_ += gridDim.x * Tile::warps;
    if constexpr (may_read_ahead)
      find();
    if (!Positions::has_pairs(placement_))
      now_.load_singly(placement_, src_, u_);
    else if constexpr (!may_read_ahead)
    {
      const Number *from = now_.begin(src_);
#pragma unroll
      for (int z = 0; z < Tile::planes; ++z)
      {
        if (z > 0)
          now_.next(placement_, z, from);
        now_.load_pair(from, z, u_[z]);
      }
    }
    return true;
  }

  /// The lane's entries of all planes.
  __device__ const Pair<Number> (&planes() const)[Tile::planes] { return u_; }
  /// Nobody needs this plane any more; the planes in their order.
  __device__ void ask_for_next(int z)
  {
    if constexpr (may_read_ahead)
    {
      if (!reads_ahead_)
        return;
      if (z == 0)
        from_ = next_.begin(src_);
      else
        next_.next(placement_, z, from_);
      next_.load_pair(from_, z, u_[z]);
    }
  }

  __device__ int box() const { return box_; }
  /// Than the group before; true for the first one.
  __device__ bool is_in_other_box() const { return is_in_other_box_; }
  __device__ const Positions &positions() const { return now_; }

private:
  static constexpr bool may_read_ahead = ahead && Tile::dim == 3 && Tile::n % 2 == 0;

  __device__ Positions positions_of(unsigned group, int box) const
  {
    return Positions(placement_, box, (group - placement_.begin[box]) * Tile::tensors, lane_);
  }
  /// Where the tensors of group_ are.
  __device__ void find()
  {
    const bool there_is_one = group_ < placement_.n_groups();
    if (there_is_one)
    {
      next_box_ = placement_.box_of(group_, next_box_);
      next_ = positions_of(group_, next_box_);
    }
    reads_ahead_ = there_is_one && Positions::has_pairs(placement_);
  }

  const Placement &placement_;
  const Number *src_;
  int lane_;
  unsigned group_; ///< the one that next_ has, or is to have
  Positions now_, next_;
  int box_ = -1, next_box_ = 0;
  bool is_in_other_box_ = false;
  bool reads_ahead_ = false;
  const Number *from_ = nullptr;
  Pair<Number> u_[Tile::planes];
};
} // namespace tensormg::tensor
