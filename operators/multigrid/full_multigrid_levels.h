// What full multigrid (solvers/full_multigrid.h) needs of the levels of a preconditioner, in FP64.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "solvers/multigrid.h"

namespace tensormg
{
/// Family: operators/multigrid/family.h. Preconditioner: cycle_on(l, space, r), which replaces r by
/// the result of a cycle that begins on its level l. Its level 0 is level `coarsest` of the family; `count` levels
/// from there on.
template <typename Family, typename Preconditioner>
class FullMultigridLevels
{
  using Space = typename Family::Space;
  using Operator = typename Family::template Operator<double>;
  using Transfer = typename Family::template Transfer<double>;

public:
  using VectorType = typename Space::VectorType;

  /// All arguments but the numbers must outlive the object.
  FullMultigridLevels(
      const Family &family, Preconditioner &preconditioner, std::size_t coarsest, std::size_t count)
    : preconditioner_(preconditioner)
  {
    for (std::size_t l = coarsest; l < coarsest + count; ++l)
    {
      const bool is_coarsest = l == coarsest;
      coarsening_.push_back(is_coarsest ? 1. : family.coarsening(l));
      spaces_.emplace_back(new Space(family.make_space(l))); // which may not be moved
      operators_.push_back(family.template make_operator<double>(l));
      transfers_.push_back(is_coarsest ? nullptr : family.template make_transfer<double>(l));
    }
  }

  std::size_t size() const { return spaces_.size(); }
  VectorType make_vector(std::size_t l) const { return spaces_[l]->make_vector(); }

  void restrict_to(std::size_t l, VectorType &coarser, const VectorType &x)
  {
    transfers_[l]->restrict_to(coarser, x, multigrid_restriction_factor);
  }
  void prolongate(std::size_t l, VectorType &x, const VectorType &coarser)
  {
    transfers_[l]->prolongate(x, coarser, coarsening_[l], false);
  }
  void residual(std::size_t l, VectorType &r, const VectorType &x, const VectorType &b)
  {
    operators_[l]->residual(r, x, b);
  }
  void set(std::size_t l, VectorType &y, const VectorType &x)
  {
    spaces_[l]->convert(Space::scale(1.), x, y);
  }
  void add(std::size_t l, const VectorType &x, VectorType &y) { spaces_[l]->axpby(1., x, 1., y); }
  void precondition(std::size_t l, VectorType &r) { preconditioner_.cycle_on(l, *spaces_[l], r); }

private:
  Preconditioner &preconditioner_;
  std::vector<double> coarsening_; ///< Multigrid::Level::coarsening
  std::vector<std::unique_ptr<Space>> spaces_;
  std::vector<std::unique_ptr<Operator>> operators_;
  std::vector<std::unique_ptr<Transfer>> transfers_;
};
} // namespace tensormg
