// Full multigrid: an approximation whose error is about that of the discretisation, at the cost of few cycles.
#pragma once

#include <cstddef>
#include <vector>

namespace tensormg
{
/// Solves the restricted problems b_{l-1} = R b_l from the coarsest level up:
///   x_l = P x_{l-1},   then `cycles` times   x_l += M_l (b_l - B_l x_l),   M_l one cycle that begins on level l.
/// Iterates, residuals and transfers are in the numbers of x and b, whatever those of the cycle: the error of the
/// discretisation may be far below what 11 or 24 bits hold. Before its cycles x_l has the error of the level below,
/// 2^(p+1) times its own in L2; two cycles that each reduce it by 20 leave 4 % of the own error at p = 3.
/// Source: A. Brandt, Multi-level adaptive solutions to boundary-value problems, Math. Comp. 31 (1977);
/// U. Trottenberg, C. Oosterlee, A. Schueller, Multigrid (2001), section 2.6.
///
/// Levels: VectorType, size(), make_vector(l),
///   restrict_to(l, coarser, x) and prolongate(l, x, coarser) between the levels l - 1 and l, residual(l, r, x, b),
///   set(l, y, x): y = x, add(l, x, y): y += x, precondition(l, r): r = M_l r.
template <typename Levels>
class FullMultigrid
{
public:
  using VectorType = typename Levels::VectorType;

  /// Allocates one vector for the finest level and three for each of the others. `levels` must outlive the object.
  explicit FullMultigrid(Levels &levels)
    : levels_(levels)
  {
    for (std::size_t l = 0; l < levels.size(); ++l)
    {
      residual_.push_back(levels.make_vector(l));
      if (l + 1 < levels.size())
      {
        x_.push_back(levels.make_vector(l));
        b_.push_back(levels.make_vector(l));
      }
    }
  }

  /// x is the result whatever it was.
  void run(VectorType &x, const VectorType &b, int cycles)
  {
    const std::size_t finest = levels_.size() - 1;
    for (std::size_t l = finest; l > 0; --l)
      levels_.restrict_to(l, b_[l - 1], l == finest ? b : b_[l]);
    for (std::size_t l = 0; l <= finest; ++l)
    {
      VectorType &here = l == finest ? x : x_[l];
      if (l > 0)
        levels_.prolongate(l, here, x_[l - 1]);
      for (int cycle = 0; cycle < cycles; ++cycle)
        improve(l, here, l == finest ? b : b_[l], l == 0 && cycle == 0);
    }
  }

private:
  void improve(std::size_t l, VectorType &x, const VectorType &b, bool from_zero)
  {
    VectorType &r = residual_[l];
    if (from_zero)
      levels_.set(l, r, b);
    else
      levels_.residual(l, r, x, b);
    levels_.precondition(l, r);
    if (from_zero)
      levels_.set(l, x, r);
    else
      levels_.add(l, r, x);
  }

  Levels &levels_;
  std::vector<VectorType> residual_, x_, b_; ///< x_, b_: of all levels but the finest
};
} // namespace tensormg
