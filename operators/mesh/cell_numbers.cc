#include "operators/mesh/cell_numbers.h"

#include <array>
#include <cmath>

namespace tensormg
{
namespace
{
  /// The cell of direction d that local cell -1 <= c <= cells stands for: behind a closed side the one at the side.
  std::int64_t cell_behind(const LevelGrid &level, int d, std::int64_t c)
  {
    const std::int64_t cells = level.global_cells[d], cell = level.offset[d] + c;
    if (cell >= 0 && cell < cells)
      return cell;
    const bool is_closed_side = is_closed(level.sides[2 * d + (cell < 0 ? 0 : 1)]);
    return is_closed_side == (cell < 0) ? 0 : cells - 1;
  }

  /// Multiplies by factor(sizes of the cell in units of the mean ones), also in the layer around the block.
  template <typename C, typename Factor>
  void scale_by_cell(const LevelGrid &level, std::vector<C> &numbers, const Factor &factor)
  {
    const Block &block = level.block;
    const CellArray &layout = level.cells->k[0];
    const auto size = [&](int d, std::int64_t c) {
      return level.axis[d].relative_size(cell_behind(level, d, c));
    };
    const std::int64_t around = block.dim == 3 ? 1 : 0;
    for (std::int64_t cz = -around; cz < block.cells[2] + around; ++cz)
      for (std::int64_t cy = -1; cy <= block.cells[1]; ++cy)
        for (std::int64_t cx = -1; cx <= block.cells[0]; ++cx)
        {
          const std::array sizes{size(0, cx), size(1, cy), around > 0 ? size(2, cz) : 1.};
          C &number = numbers[static_cast<std::size_t>(
              layout.first() + cx + cy * layout.row() + cz * layout.plane())];
          number = static_cast<C>(static_cast<double>(number) * factor(sizes));
        }
  }
} // namespace

template <typename C>
void CellNumbersOf<C>::update(const LevelGrid &level, const CellBasis &basis)
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
    if (!level.has_equal_cells())
      scale_by_cell(level, c_[d],
          [d](const auto &size) { return size[0] * size[1] * size[2] / (size[d] * size[d]); });
    view_.c[d] = c_[d].data() + layout.first();
    jump_[d].assign(size, C(0));
    view_.jump[d] = jump_[d].data() + layout.first();
  }
  const double length = level.reference_length();
  reaction_.assign(size, C(0));
  if (!data.reaction.empty())
    for (std::size_t i = 0; i < size; ++i)
      reaction_[i] = static_cast<C>(length * length * data.reaction.numbers()[i] / data.reference);
  if (!data.reaction.empty() && !level.has_equal_cells())
    scale_by_cell(level, reaction_, [](const auto &size) { return size[0] * size[1] * size[2]; });
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
  for (int side = 0; side < 2 * block.dim; ++side)
    if (!data.robin[side].empty())
      set_robin(level, side);
}

template <typename C>
void CellNumbersOf<C>::set_robin(const LevelGrid &level, int side)
{
  const CellData &data = *level.cells;
  const Block &block = level.block;
  const int d = side / 2;
  const std::int64_t outwards = (side % 2 == 0 ? -1 : 1) * view_.stride(d);
  C *const jump = jump_[d].data() + data.k[0].first();
  const double length = level.reference_length(), h = level.mean_cell_size(d);
  std::size_t face = 0;
  for_side_cells(block, side, [&](std::int64_t cx, std::int64_t cy, std::int64_t cz) {
    const std::int64_t at = cx + cy * view_.row + cz * view_.plane;
    const double area = level.relative_volume(cx, cy, cz) /
        level.axis[d].relative_size(level.offset[d] + std::array{cx, cy, cz}[d]);
    const double rho = length * length * data.robin[side][face++] * area / (data.reference * h);
    jump[at] = static_cast<C>(static_cast<double>(jump[at]) + rho);
    jump[at + outwards] = static_cast<C>(rho / static_cast<double>(view_.c[d][at]));
  });
}

template <typename C>
std::int64_t CellNumbersOf<C>::bytes(const LevelGrid &level)
{
  return (2 * level.block.dim + 1) * CellArray::size(level.block) *
      static_cast<std::int64_t>(sizeof(C));
}

template <typename C>
DeviceCellNumbers<C>::DeviceCellNumbers(
    const LevelGrid &level, const CellBasis &basis, Stream stream)
  : stream_(stream)
{
  update(level, basis);
}

template <typename C>
void DeviceCellNumbers<C>::update(const LevelGrid &level, const CellBasis &basis)
{
  const CellNumbersOf<C> on_host(level, basis);
  view_ = on_host.view();
  const auto move = [&](DeviceArray<C> &to, const std::vector<C> &from, const C *&pointer) {
    const auto size = static_cast<std::int64_t>(from.size());
    if (to.size() != size)
      to = DeviceArray<C>(size, Unset());
    to.copy_from_host(from.data(), stream_);
    pointer = to.data() + (pointer - from.data());
  };
  for (int d = 0; d < level.block.dim; ++d)
  {
    move(c_[d], on_host.c_[d], view_.c[d]);
    move(jump_[d], on_host.jump_[d], view_.jump[d]);
  }
  move(reaction_, on_host.reaction_, view_.reaction);
  device::synchronize(stream_); // what lies on the host goes
}

template class CellNumbersOf<double>;
template class CellNumbersOf<float>;
template class DeviceCellNumbers<double>;
template class DeviceCellNumbers<float>;
} // namespace tensormg
