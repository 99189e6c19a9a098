#include "operators/mesh/cell_numbers.h"

#include <cmath>

namespace tensormg
{
template <typename C>
CellNumbersOf<C>::CellNumbersOf(const LevelGrid &level, const CellBasis &basis)
{
  const CellData &data = *level.cells;
  const Block &block = level.block;
  const CellArray &layout = data.k[0];
  const std::array<double, 3> factors = level.direction_factors();
  const std::size_t size = layout.numbers().size();
  view_.row = layout.row();
  view_.plane = layout.plane();
  for (int d = 0; d < block.dim; ++d)
  {
    const std::vector<double> &k = data.of_direction(d).numbers();
    c_[d].resize(size);
    for (std::size_t i = 0; i < size; ++i)
      c_[d][i] = static_cast<C>(factors[d] * k[i] / data.reference);
    view_.c[d] = c_[d].data() + layout.first();
    jump_[d].assign(size, C(0));
    view_.jump[d] = jump_[d].data() + layout.first();
  }
  const double length = level.reference_length();
  reaction_.assign(size, C(0));
  if (!data.reaction.empty())
    for (std::size_t i = 0; i < size; ++i)
      reaction_[i] = static_cast<C>(length * length * data.reaction.numbers()[i] / data.reference);
  view_.reaction = reaction_.data() + layout.first();

  for (int d = 0; d < block.dim; ++d)
    for (std::int64_t cz = 0; cz < block.cells[2]; ++cz)
      for (std::int64_t cy = 0; cy < block.cells[1]; ++cy)
        for (std::int64_t cx = 0; cx < block.cells[0]; ++cx)
        {
          const std::int64_t at = cx + cy * view_.row + cz * view_.plane;
          const C *c = view_.c[d] + at;
          jump_[d][static_cast<std::size_t>(layout.first() + at)] = static_cast<C>(basis.penalty *
              0.5 * (double(c[view_.stride(d)]) + double(c[-view_.stride(d)]) - 2. * double(c[0])));
        }
}

template <typename C>
std::int64_t CellNumbersOf<C>::bytes(const LevelGrid &level)
{
  return (2 * level.block.dim + 1) * CellArray::size(level.block) *
      static_cast<std::int64_t>(sizeof(C));
}

template class CellNumbersOf<double>;
template class CellNumbersOf<float>;
} // namespace tensormg
