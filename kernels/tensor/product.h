// Which tensor-core instruction multiplies, in how many terms; and constant matrices as fragments, rounded or
// split once on the host, in the order in which the lanes read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "kernels/mma/chaining.h"
#include "kernels/tensor/arithmetic.h"

namespace tensormg::tensor
{
/// Products by instruction S. terms = 1: multiplicands are rounded; 2: the two-term split of arithmetic.h.
template <typename S_, int terms_>
struct Product
{
  static_assert(terms_ == 1 || (terms_ == 2 && !std::is_same_v<typename S_::Multiplicand, double>));
  using S = S_;
  using C = typename S::Accumulator;
  static constexpr int terms = terms_;
  static constexpr bool is_packed = mma::is_packed<S>;

  template <mma::Operand operand>
  struct Terms
  {
    mma::Fragment<S, operand> term[terms];
  };
  using A = Terms<mma::Operand::a>;
  using B = Terms<mma::Operand::b>;

  static constexpr Arithmetic arithmetic = std::is_same_v<typename S::Multiplicand, double>
      ? Arithmetic::fp64
      : is_packed ? (terms == 2 ? Arithmetic::fp16x3 : Arithmetic::fp16)
                  : (terms == 2 ? Arithmetic::tf32x3 : Arithmetic::tf32);
  static constexpr float rest_scale = tensor::rest_scale(arithmetic);
};

/// Bytes of one term of an operand, per lane and per access.
template <typename P, mma::Operand operand>
struct FragmentBytes
{
  using O = mma::OperandOf<typename P::S, operand>;
  static constexpr int per_lane = O::n_registers * static_cast<int>(sizeof(typename O::Register));
  static constexpr int per_access = per_lane < 16 ? per_lane : 16;
  static constexpr int accesses = per_lane / per_access;
  static constexpr int of_warp = P::terms * per_lane * mma::warp_size;
};

/// Appends the fragments of the matrix with entries function(row, column) to a table:
/// [term][access][lane][bytes of an access].
template <typename P, mma::Operand operand, typename Function>
void append_fragment(std::vector<std::byte> &table, Function function)
{
  using Element = typename mma::OperandOf<typename P::S, operand>::Element;
  using Bytes = FragmentBytes<P, operand>;
  const std::size_t start = table.size();
  table.resize(start + Bytes::of_warp);
  for (int term = 0; term < P::terms; ++term)
    for (int lane = 0; lane < mma::warp_size; ++lane)
    {
      const auto fragment = mma::make_fragment<typename P::S, operand>(lane, [&](int i, int j) {
        const double entry = function(i, j);
        const Element rounded = mma::RoundTo<Element>()(entry);
        if (term == 0)
          return rounded;
        double rest = entry;
        if constexpr (std::is_same_v<Element, Half>)
          rest -= static_cast<double>(Half::to_float_portable(rounded.bits));
        else if constexpr (std::is_same_v<Element, Tf32>)
          rest -= static_cast<double>(static_cast<float>(rounded));
        return mma::RoundTo<Element>()(rest * static_cast<double>(P::rest_scale));
      });
      for (int access = 0; access < Bytes::accesses; ++access)
        std::memcpy(table.data() + start +
                ((term * Bytes::accesses + access) * mma::warp_size + lane) * Bytes::per_access,
            reinterpret_cast<const std::byte *>(fragment.registers) + access * Bytes::per_access,
            Bytes::per_access);
    }
}
} // namespace tensormg::tensor
