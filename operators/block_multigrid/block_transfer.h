// Between two levels of a mesh of blocks, whatever their difference is.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "operators/constant/transfer_operator.h"
#include "operators/curved/degree_transfer.h"
#include "operators/division/gathered_blocks.h"
#include "operators/pointwise/block_levels.h"

namespace tensormg
{
/// A LevelTransfer (operators/multigrid/family.h) where cells are halved, or have a lower degree; in device memory for blocks of one rank.
template <typename Number, typename Context = HostContext>
class BlockTransfer
{
public:
  using VectorType = typename Context::template Vector<Number>;

  /// Both levels must outlive the object. Collective.
  BlockTransfer(
      const BlockLevels::Level &fine, const BlockLevels::Level &coarse, const Context &context = {})
    : transfer_(make(fine, coarse, context))
  {
    if constexpr (!Context::on_device)
      if (fine.shared != nullptr && coarse.shared == nullptr)
        part_.emplace(part_below(fine, coarse), fine.grid.communicator);
  }

  void restrict_to(VectorType &coarse, const VectorType &fine, double factor)
  {
    std::visit([&](auto &t) { t.restrict_to(own_part(coarse), fine, factor); }, transfer_);
    if constexpr (!Context::on_device)
      if (part_)
        part_->gather(coarse);
  }
  void prolongate(VectorType &fine, const VectorType &coarse, double factor, bool add)
  {
    const VectorType &from = extract(coarse);
    std::visit([&](auto &t) { t.prolongate(fine, from, factor, add); }, transfer_);
  }
  void prolongate_pair(VectorType &x, VectorType &d, const VectorType &coarse,
      const VectorType *rest, double factor, bool add, bool add_rest)
  {
    const VectorType &from = extract(coarse);
    if constexpr (!Context::on_device)
      if (part_ && rest != nullptr)
        rest = &part_->extract_rest(*rest);
    std::visit(
        [&](auto &t) { t.prolongate_pair(x, d, from, rest, factor, add, add_rest); }, transfer_);
  }

  static std::int64_t bytes(const LevelGrid &fine, const LevelGrid &coarse)
  {
    return fine.block.n == coarse.block.n ? TransferOperator<Number, Context>::bytes(fine, coarse)
                                          : 0;
  }

private:
  using Either = std::variant<TransferOperator<Number, Context>, DegreeTransfer<Number, Context>>;
  VectorType &own_part(VectorType &coarse)
  {
    if constexpr (!Context::on_device)
      if (part_)
        return part_->numbers();
    return coarse;
  }
  const VectorType &extract(const VectorType &coarse)
  {
    if constexpr (!Context::on_device)
      if (part_)
        return part_->extract(coarse);
    return coarse;
  }
  /// Of the coarse cells those of the blocks that this rank has of the fine level.
  static Block part_below(const BlockLevels::Level &fine, const BlockLevels::Level &coarse)
  {
    Block part = coarse.grid.block;
    const std::int64_t blocks = fine.grid.block.cells[0] / fine.shape.per_direction;
    return {part.dim, part.degree(),
        {blocks * coarse.shape.per_direction, part.cells[1], part.cells[2]}};
  }
  static Either make(
      const BlockLevels::Level &fine, const BlockLevels::Level &coarse, const Context &context)
  {
    const Block part = part_below(fine, coarse);
    if (fine.basis.n == coarse.basis.n)
      return Either(std::in_place_index<0>, stacked_grid(fine.grid.block), stacked_grid(part),
          fine.basis, Context::on_device ? laplace::Backend::cuda : laplace::Backend::cpu, context);
    return Either(std::in_place_index<1>, fine.grid.block, part, fine.basis, coarse.basis, context);
  }

  Either transfer_;
  std::optional<GatheredBlocks<Number>> part_; ///< where the coarse level is on every rank
};
} // namespace tensormg
