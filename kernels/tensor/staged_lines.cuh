// The lines of a block's tensors (staged_tile.h) as a warp takes them, one column tile after the other: in shared
// memory, from global memory and to it. Regular tiles have their addresses from constants and their next group
// of tensors on the way while they work on one; others do as staged.cuh says.
#pragma once

#include <algorithm>

#include "kernels/tensor/staged.cuh"

namespace tensormg::tensor
{
/// f(round) for the column tiles of a warp.
template <typename Tile, typename Function>
__device__ inline void for_each_round(int warp, Function f)
{
  if constexpr (Tile::is_regular)
  {
#pragma unroll
    for (int round = 0; round < Tile::rounds; ++round)
      f(round);
  }
  else
    for (int round = 0; warp + round * Tile::warps < Tile::columns; ++round)
      f(round);
}

/// Lines along d of a field in shared memory.
template <typename P, typename Tile, int d, bool regular = Tile::is_regular>
class FieldLines
{
public:
  using C = typename P::C;

  __device__ FieldLines(int lane, int warp)
    : lane_(lane)
    , warp_(warp)
  {}
  __device__ auto load(const C *field, int round) const
  {
    return load_lines<P, Tile, d>(field, warp_ + round * Tile::warps, lane_);
  }
  /// Results for entries i + g of the lane's two lines; none beyond the end.
  __device__ void store(C *field, int round, int i, C even, C odd) const
  {
    store_lines<Tile, d>(field, warp_ + round * Tile::warps, lane_, i, even, odd);
  }

private:
  int lane_, warp_;
};

template <typename P, typename Tile, int d>
class FieldLines<P, Tile, d, true>
{
public:
  using C = typename P::C;
  static constexpr int steps = StagedRows<typename P::S, Tile::n>::steps;

  __device__ FieldLines(int lane, int warp)
    : read_(lane, warp)
    , write_(lane, warp)
  {}
  __device__ auto load(const C *field, int round) const
  {
    LineOperand<P, steps> lines;
#pragma unroll
    for (int step = 0; step < steps; ++step)
      lines.step[step] =
          make_terms<P, mma::Operand::b>([&](int e) { return field[read_.at(round, step, e)]; });
    return lines;
  }
  __device__ void store(C *field, int round, int i, C even, C odd) const
  {
    if constexpr (d > 0 && has_pairs<typename Tile::Layout>(Tile::planes, Tile::n))
    {
      Pack<C, 2> pack;
      pack.at[0] = even;
      pack.at[1] = odd;
      write_pack(field + write_.at(round, i, 0), pack);
    }
    else
    {
      field[write_.at(round, i, 0)] = even;
      field[write_.at(round, i, 1)] = odd;
    }
  }

private:
  ReadOffset<typename P::S, Tile, d> read_;
  WriteOffset<Tile, d> write_;
};

/// The groups of tensors that a block works on, one after the other.
template <typename Tile>
class StagedGroups
{
public:
  __device__ int box() const { return box_; }
  /// First tensor of the group in its box, and where it is.
  __device__ unsigned first() const { return first_; }
  __device__ std::int64_t position() const { return position_; }

protected:
  __device__ explicit StagedGroups(const Placement &placement)
    : placement_(placement)
    , next_(blockIdx.x)
  {}
  __device__ bool find_next()
  {
    if (next_ >= placement_.n_groups())
      return false;
    next_box_ = placement_.box_of(next_, next_box_);
    next_first_ = (next_ - placement_.begin[next_box_]) * Tile::tensors;
    next_position_ = placement_.position(next_box_, next_first_);
    return true;
  }
  __device__ void advance()
  {
    box_ = next_box_;
    first_ = next_first_;
    position_ = next_position_;
    next_ += gridDim.x;
  }

  const Placement &placement_;
  std::int64_t position_ = 0, next_position_ = 0;

private:
  unsigned next_;
  int box_ = 0, next_box_ = 0;
  unsigned first_ = 0, next_first_ = 0;
};

/// Their lines along x in global memory.
template <typename P, typename Tile, typename Number, bool regular = Tile::is_regular>
class SourceLines : public StagedGroups<Tile>
{
  using Base = StagedGroups<Tile>;

public:
  __device__ SourceLines(const Placement &placement, const Number *src, int lane, int warp)
    : Base(placement)
    , src_(src)
    , lane_(lane)
    , warp_(warp)
  {}
  /// Goes on to the next group; false if there is none.
  __device__ bool go_on()
  {
    if (!this->find_next())
      return false;
    this->advance();
    return true;
  }
  /// The lines of a round, each once.
  __device__ auto take(int round) const
  {
    return load_global_lines<P, Tile, 0>(
        this->placement_, this->box(), this->first(), src_, warp_ + round * Tile::warps, lane_);
  }

private:
  const Number *src_;
  int lane_, warp_;
};

/// As soon as the numbers of a round were taken, those of the round that is `ahead` further are asked for, be it of
/// the next group.
template <typename P, typename Tile, typename Number>
class SourceLines<P, Tile, Number, true> : public StagedGroups<Tile>
{
  using Base = StagedGroups<Tile>;
  using Base::placement_;
  using B = mma::FragmentB<typename P::S>;
  static constexpr int steps = StagedRows<typename P::S, Tile::n>::steps;
  static constexpr int per_register = B::n_elements / B::n_registers;
  /// What fills a register: one number, or two neighbours in x.
  struct Numbers
  {
    Number at[per_register];
  };
  using Word = typename WordOf<sizeof(Numbers)>::type;
  /// As many as fit into 8 registers.
  static constexpr int ahead =
      std::min(Tile::rounds, 32 / (steps * B::n_registers * static_cast<int>(sizeof(Numbers))));
  static_assert(Tile::rounds % ahead == 0);

public:
  __device__ SourceLines(const Placement &placement, const Number *src, int lane, int warp)
    : Base(placement)
    , src_(src)
    , line_(8 * warp + lane / 4)
    , entry_(mma::entry_of<typename P::S, mma::Operand::b>(lane, 0).row)
  {
    find();
#pragma unroll
    for (int round = 0; round < ahead; ++round)
      ask_for(round);
  }
  __device__ bool go_on()
  {
    if (!there_is_next_)
      return false;
    this->advance();
    return true;
  }
  __device__ auto take(int round)
  {
    LineOperand<P, steps> lines;
#pragma unroll
    for (int step = 0; step < steps; ++step)
    {
      const auto &numbers = numbers_[round % ahead][step];
      if constexpr (std::is_same_v<Number, Half>)
      {
        static_assert(P::is_packed && P::terms == 1);
        std::memcpy(lines.step[step].term[0].registers, numbers, sizeof(numbers));
      }
      else
        lines.step[step] = make_terms<P, mma::Operand::b>(
            [&](int e) { return numbers[e / per_register].at[e % per_register]; });
    }
    if (round + ahead == Tile::rounds)
      find();
    ask_for((round + ahead) % Tile::rounds);
    return lines;
  }

private:
  /// Where the lane's numbers of the next group start.
  __device__ void find()
  {
    there_is_next_ = this->find_next();
    if (there_is_next_)
      from_ = src_ + this->next_position_ + entry_ + line_ % Tile::n * placement_.stride[1] +
          line_ / Tile::n * placement_.stride[2];
  }

  __device__ void ask_for(int round)
  {
    if (!there_is_next_)
      return;
    const Number *from = from_ + round * Tile::slow_per_round * placement_.stride[2];
#pragma unroll
    for (int step = 0; step < steps; ++step)
#pragma unroll
      for (int r = 0; r < B::n_registers; ++r)
      {
        // Numbers beyond N are others of the line: the matrix is zero there.
        const int at = (step * P::S::k +
                           mma::entry_of<typename P::S, mma::Operand::b>(0, r * per_register).row) %
            Tile::n;
        Numbers &numbers = numbers_[round % ahead][step][r];
        if (per_register == 1 || placement_.pairs)
        {
          const Word word = *reinterpret_cast<const Word *>(from + at);
          std::memcpy(&numbers, &word, sizeof(word));
        }
        else
#pragma unroll
          for (int v = 0; v < per_register; ++v)
            numbers.at[v] = from[at + v];
      }
  }

  const Number *src_;
  const Number *from_ = nullptr;
  int line_, entry_;
  bool there_is_next_ = false;
  Numbers numbers_[ahead][steps][B::n_registers];
};

/// Lines along the last direction in global memory, to write.
template <typename Tile, typename Number, bool regular = Tile::is_regular>
class TargetLines
{
public:
  __device__ TargetLines(
      const Placement &placement, Number *dst, const StagedGroups<Tile> &group, int lane, int warp)
    : placement_(placement)
    , dst_(dst)
    , box_(group.box())
    , first_(group.first())
    , lane_(lane)
    , warp_(warp)
  {}
  /// Writes or adds the results for entries i + g of the lane's two lines of a round.
  template <typename C>
  __device__ void store(bool add, int round, int i, C even, C odd) const
  {
    const int entry = i + lane_ / 4;
    if (entry < Tile::n)
      GlobalPair<Tile>(placement_, box_, first_, warp_ + round * Tile::warps, lane_)
          .store(placement_, dst_, add, entry, even, odd);
  }

private:
  const Placement &placement_;
  Number *dst_;
  int box_;
  unsigned first_;
  int lane_, warp_;
};

template <typename Tile, typename Number>
class TargetLines<Tile, Number, true>
{
public:
  __device__ TargetLines(
      const Placement &placement, Number *dst, const StagedGroups<Tile> &group, int lane, int warp)
    : placement_(placement)
  {
    const int line = 8 * warp + lane % 4 * 2;
    to_ = dst + group.position() + line % Tile::n + line / Tile::n * placement.stride[1] +
        lane / 4 * placement.stride[2];
  }
  template <typename C>
  __device__ void store(bool add, int round, int i, C even, C odd) const
  {
    Number *to =
        to_ + round * Tile::slow_per_round * placement_.stride[1] + i * placement_.stride[2];
    if (placement_.pairs)
    {
      Pack<C, 2> pack;
      pack.at[0] = even;
      pack.at[1] = odd;
      store_pack(to, add ? pack + load_pack<2>(to) : pack);
    }
    else
    {
      store_pack(to, Pack<C, 1>(add ? even + load_pack<1>(to).at[0] : even));
      store_pack(to + 1, Pack<C, 1>(add ? odd + load_pack<1>(to + 1).at[0] : odd));
    }
  }

private:
  const Placement &placement_;
  Number *to_;
};
} // namespace tensormg::tensor
