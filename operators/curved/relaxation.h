// Smoothers of curved cells: the approximate inverse S that takes the place of D^-1, and which one serves a level.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/laplace/pointwise/relaxation.h"
#include "operators/curved/separable_numbers.h"
#include "operators/pointwise/block_levels.h"
#include "operators/vectors/vector.h"
#include "tensormg/options.h"

namespace tensormg
{
/// S = F, L / dim or (F + L) / (1 + dim), F the inverses of cells and L the sum of those of lines (kernels/laplace/pointwise/relaxation.h); with neither
/// D^-1.
struct RelaxationChoice
{
  bool cells = false;
  bool lines = false;
  std::string reason; ///< with the number that decided
  double jump = 1.;   ///< where it is automatic: the largest quotient of K in neighbours
};
/// Of all levels, on all ranks alike; collective. Automatic, by cell_variety.h of the level and all finer ones. Cells where the coefficient varies by more than 3 in a cell or between
/// neighbours, or a Robin coefficient exceeds 10 K / h, which is a term of rank one that the diagonal does not see. Lines where directions of a cell differ by more than 16 (aspect 4), or shear exceeds 1/3: with the diagonal more than one and a half
/// times as many iterations there, which cost as much as lines do. Both where directions differ and the coefficient varies by more
/// than 10; up to that lines do better by themselves on sheared cells, and from there cells where there is shear alone.
std::vector<RelaxationChoice> choose_relaxations(const BlockLevels &levels, Relaxation asked);

/// S of a level, its numbers in double.
struct LevelRelaxation
{
  RelaxationChoice choice;
  std::unique_ptr<const SeparableNumbers> numbers; ///< nullptr: the diagonal
  laplace::CellLines lines;

  LevelRelaxation(const BlockLevels &levels, std::size_t l, RelaxationChoice chosen);
};

/// The same to apply, in one number type.
template <typename Number>
class SeparableRelaxation
{
public:
  /// `levels` must outlive the object; `relaxation` has cells or lines.
  SeparableRelaxation(
      const BlockLevels &levels, std::size_t l, std::shared_ptr<const LevelRelaxation> relaxation);

  /// z = factor S r; they are not the same vector.
  void apply(Vector<Number> &z, const Vector<Number> &r, double factor) const;
  /// With those of the LevelRelaxation.
  static std::int64_t bytes(const Block &block, const RelaxationChoice &choice);

private:
  using C = Compute<Number>;
  const CellBasis &basis_;
  Block block_;
  std::shared_ptr<const LevelRelaxation> relaxation_;
  double weight_;
  std::vector<C> of_cells_, of_lines_;
};
} // namespace tensormg
