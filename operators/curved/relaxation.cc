#include "operators/curved/relaxation.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/laplace/pointwise/relaxation.h"
#include "operators/pointwise/cell_variety.h"
#include "tensormg/report.h"

namespace tensormg
{
namespace
{
  /// Of coefficients.
  constexpr double most_of_lines = 10.;

  RelaxationChoice choose(const CellVariety &variety)
  {
    constexpr double most_strength = 16., most_shear = 1. / 3., most_robin = 10.;
    const double variation = std::max(variety.within, variety.between);
    RelaxationChoice choice;
    choice.lines = variety.strength > most_strength ||
        (variety.shear > most_shear && variation <= most_of_lines);
    const double most_variation = choice.lines ? most_of_lines : 3.;
    choice.cells = variation > most_variation || variety.robin > most_robin;
    choice.jump = variety.between;
    const bool is_plain = !choice.lines && !choice.cells;
    const auto tell = [&](const char *what, double number, double most) {
      if (is_plain || number > most)
        choice.reason += (choice.reason.empty() ? "" : ", ") + (what + number_text(number));
    };
    tell("directions of a cell differ by up to ", variety.strength, most_strength);
    tell("mixed terms of the metric are ", variety.shear, choice.cells ? INFINITY : most_shear);
    tell("the coefficient varies in a cell by up to ", variety.within, most_variation);
    tell("that of neighbours differs by up to ", variety.between, most_variation);
    if (variety.robin > most_robin)
      tell("a Robin coefficient is up to K / h times ", variety.robin, most_robin);
    return choice;
  }

  CellVariety larger(const CellVariety &a, const CellVariety &b)
  {
    return {std::max(a.strength, b.strength), std::max(a.shear, b.shear),
        std::max(a.within, b.within), std::max(a.between, b.between),
        std::max(a.within_blocks, b.within_blocks), std::max(a.robin, b.robin)};
  }
} // namespace

std::vector<RelaxationChoice> choose_relaxations(const BlockLevels &levels, Relaxation asked)
{
  const std::size_t size = levels.levels().size();
  if (asked != Relaxation::automatic)
    return std::vector<RelaxationChoice>(size,
        {asked == Relaxation::cells || asked == Relaxation::cells_and_lines,
            asked == Relaxation::lines || asked == Relaxation::cells_and_lines, "as asked for"});
  std::vector<RelaxationChoice> choices(size);
  CellVariety variety;
  for (std::size_t l = size; l-- > 0;)
  {
    variety = larger(variety, cell_variety(levels.levels()[l]));
    choices[l] = choose(variety);
  }
  return choices;
}

LevelRelaxation::LevelRelaxation(const BlockLevels &levels, std::size_t l, RelaxationChoice chosen)
  : choice(std::move(chosen))
{
  const BlockLevels::Level &level = levels.levels()[l];
  if (choice.cells || choice.lines)
    numbers = std::make_unique<const SeparableNumbers>(levels, l, choice.cells, choice.lines);
  if (choice.lines)
    lines = laplace::find_lines(level.grid.block, level.shape.per_direction, level.links->data());
}

template <typename Number>
SeparableRelaxation<Number>::SeparableRelaxation(
    const BlockLevels &levels, std::size_t l, std::shared_ptr<const LevelRelaxation> relaxation)
  : basis_(levels.levels()[l].basis)
  , block_(levels.levels()[l].grid.block)
  , relaxation_(std::move(relaxation))
  , weight_(1. / (int{relaxation_->choice.cells} + (relaxation_->choice.lines ? block_.dim : 0)))
{
  const SeparableNumbers &numbers = *relaxation_->numbers;
  of_cells_.assign(numbers.cells.begin(), numbers.cells.end());
  of_lines_.assign(numbers.lines.begin(), numbers.lines.end());
}

template <typename Number>
void SeparableRelaxation<Number>::apply(
    Vector<Number> &z, const Vector<Number> &r, double factor) const
{
  const double weight = factor * weight_;
  if (!of_cells_.empty())
    laplace::apply_separable_inverse(block_, of_cells_.data(), weight, r.data(), z.data());
  else
    std::fill_n(z.data(), z.size(), Number(C(0)));
  if (!of_lines_.empty())
    laplace::add_separable_lines(
        block_, basis_, relaxation_->lines, of_lines_.data(), weight, r.data(), z.data());
}

template <typename Number>
std::int64_t SeparableRelaxation<Number>::bytes(const Block &block, const RelaxationChoice &choice)
{
  const std::int64_t numbers =
      (choice.cells ? laplace::relaxation_size(block, laplace::cell_inverse_numbers(block.n)) : 0) +
      (choice.lines ? laplace::relaxation_size(block, laplace::line_inverse_numbers(block.n)) : 0);
  return numbers * std::int64_t{sizeof(C) + sizeof(double)} +
      (choice.lines ? block.dim * block.n_cells() * std::int64_t{sizeof(laplace::LinePlace)} : 0);
}

template class SeparableRelaxation<double>;
template class SeparableRelaxation<float>;
template class SeparableRelaxation<Half>;
} // namespace tensormg
