// Between two levels of a mesh of blocks, whatever their difference is.
#pragma once

#include <cstdint>
#include <variant>

#include "operators/constant/transfer_operator.h"
#include "operators/pointwise/block_levels.h"
#include "operators/pointwise/degree_transfer.h"

namespace tensormg
{
/// A LevelTransfer (operators/multigrid/family.h) where cells are halved, or have a lower degree.
template <typename Number>
class BlockTransfer
{
public:
  using VectorType = Vector<Number>;

  /// Both levels must outlive the object.
  BlockTransfer(const BlockLevels::Level &fine, const BlockLevels::Level &coarse)
    : transfer_(make(fine, coarse))
  {}

  void restrict_to(VectorType &coarse, const VectorType &fine, double factor)
  {
    std::visit([&](auto &t) { t.restrict_to(coarse, fine, factor); }, transfer_);
  }
  void prolongate(VectorType &fine, const VectorType &coarse, double factor, bool add)
  {
    std::visit([&](auto &t) { t.prolongate(fine, coarse, factor, add); }, transfer_);
  }
  void prolongate_pair(VectorType &x, VectorType &d, const VectorType &coarse,
      const VectorType *rest, double factor, bool add, bool add_rest)
  {
    std::visit(
        [&](auto &t) { t.prolongate_pair(x, d, coarse, rest, factor, add, add_rest); }, transfer_);
  }

  static std::int64_t bytes(const LevelGrid &fine, const LevelGrid &coarse)
  {
    return fine.block.n == coarse.block.n ? TransferOperator<Number>::bytes(fine, coarse) : 0;
  }

private:
  using Either = std::variant<TransferOperator<Number>, DegreeTransfer<Number>>;
  static Either make(const BlockLevels::Level &fine, const BlockLevels::Level &coarse)
  {
    if (fine.basis.n == coarse.basis.n)
      return Either(
          std::in_place_index<0>, fine.grid, coarse.grid, fine.basis, laplace::Backend::cpu);
    return Either(
        std::in_place_index<1>, fine.grid.block, coarse.grid.block, fine.basis, coarse.basis);
  }

  Either transfer_;
};
} // namespace tensormg
