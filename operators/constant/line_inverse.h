// The cell-wise fast diagonalisation with the exact operator in the exact directions of a level.
#pragma once

#include <array>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/basis/cell_basis.h"
#include "kernels/core/wide_float.h"
#include "kernels/line_inverse/line_inverse.h"
#include "operators/constant/line_operator.h"
#include "operators/mesh/grid.h"
#include "operators/vectors/context.h"

namespace tensormg
{
/// The number type of an operator's steps; those without every form have none, and this is never used.
template <typename Number>
using StepNumber = std::conditional_t<std::is_same_v<Number, WideFloat>, float, Number>;

/// The numbers of kernels/line_inverse/line_inverse.h; matrices of exact directions only.
struct LineTables
{
  std::array<std::vector<double>, 3> to_modes, from_modes; ///< V' and V
  std::array<std::vector<double>, 3> diagonal;
};
LineTables make_line_tables(const LevelGrid &level, const CellBasis &basis, LineSpectra &spectra);

/// D^-1 of a level with exact directions. Context: operators/vectors/context.h.
template <typename Number, typename Context>
class LineInverse
{
  using C = Compute<Number>;

public:
  LineInverse(const LevelGrid &level, const CellBasis &basis, LineSpectra &spectra, Context context)
    : block_(level.block)
    , context_(std::move(context))
  {
    const LineTables tables = make_line_tables(level, basis, spectra);
    for (int d = 0; d < 3; ++d)
    {
      diagonal_[d] = context_.template upload<C>(tables.diagonal[d]);
      if (!level.exact[d])
        continue;
      directions_.push_back(d);
      to_modes_.push_back(context_.template upload<C>(tables.to_modes[d]));
      from_modes_.push_back(context_.template upload<C>(tables.from_modes[d]));
      scratch_.push_back(context_.template make_array<C>(block_.size()));
    }
    if (directions_.empty())
      throw std::logic_error("a level without exact directions has no line inverse");
  }

  /// dst = start + theta (start - old) + alpha D^-1 r; start and old may be nullptr, which is zero; dst may be any of the others.
  void step(Number *dst, const Number *start, const Number *old, const Number *r, double theta,
      double alpha)
  {
    const std::size_t last = directions_.size() - 1;
    for (std::size_t k = 0; k <= last; ++k)
    {
      const auto rotate = [&](const auto *src) {
        using Src = std::remove_cvref_t<decltype(*src)>;
        line_inverse::Rotate<Src, C> pass{
            block_, directions_[k], to_modes_[k].data(), src, scratch_[k].data(), {}};
        if (k == last)
          pass.diagonal = {diagonal_[0].data(), diagonal_[1].data(), diagonal_[2].data()};
        rotate_lines(pass);
      };
      if (k == 0)
        rotate(r);
      else
        rotate(static_cast<const C *>(scratch_[k - 1].data()));
    }
    for (std::size_t k = last; k > 0; --k)
      rotate_lines(line_inverse::Rotate<C, C>{block_, directions_[k], from_modes_[k].data(),
          scratch_[k].data(), scratch_[k - 1].data(), {}});
    const line_inverse::RotateAndAdd<Number> pass{block_, directions_[0], from_modes_[0].data(),
        scratch_[0].data(), alpha, theta, start, old, dst};
    if constexpr (Context::on_device)
      line_inverse::rotate_and_add_cuda(pass, context_.stream);
    else
      line_inverse::rotate_and_add(pass);
  }

  /// Of its vectors on their way and its matrices, those in FP64 that levels share included.
  static std::int64_t bytes(const LevelGrid &level)
  {
    std::int64_t sum = 0;
    for (int d = 0; d < level.block.dim; ++d)
      if (level.exact[d])
      {
        const std::int64_t line = level.block.cells[d] * level.block.n;
        sum += level.block.size() * std::int64_t{sizeof(C)} +
            line * line * std::int64_t{2 * sizeof(C) + sizeof(double)};
      }
    return sum;
  }

private:
  template <typename T>
  using Array = typename Context::template Array<T>;

  template <typename Src>
  void rotate_lines(const line_inverse::Rotate<Src, C> &pass) const
  {
    if constexpr (Context::on_device)
      line_inverse::rotate_cuda(pass, context_.stream);
    else
      line_inverse::rotate(pass);
  }

  Block block_;
  Context context_;
  std::vector<int> directions_;                           ///< the exact ones
  std::vector<Array<C>> to_modes_, from_modes_, scratch_; ///< by exact direction
  std::array<Array<C>, 3> diagonal_;
};
} // namespace tensormg
