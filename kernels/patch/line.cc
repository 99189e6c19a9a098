// Which patches a direction has and how they end.
#include "kernels/laplace/reference/reference.h"
#include "kernels/patch/patch.h"

namespace tensormg::patch
{
namespace
{
  /// The restriction of the one-dimensional operator to the cells of a patch.
  std::vector<double> line_matrix(
      const laplace::DenseBlocks &blocks, int n, int cells, Side lower, Side upper)
  {
    const int size = cells * n, last = cells - 1;
    std::vector<double> matrix(size * size, 0.);
    const auto add = [&](int row, int column, const std::vector<double> &block) {
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
          matrix[(row * n + i) * size + column * n + j] += block[i * n + j];
    };
    for (int c = 0; c < cells; ++c)
      add(c, c, blocks.own);
    if (cells == 2)
    {
      add(0, 1, blocks.right);
      add(1, 0, blocks.left);
    }
    if (lower == Side::dirichlet)
      add(0, 0, blocks.dirichlet_left);
    else if (lower == Side::neumann)
      add(0, 0, blocks.neumann_left);
    else if (lower == Side::wrap)
      add(0, last, blocks.left);
    if (upper == Side::dirichlet)
      add(last, last, blocks.dirichlet_right);
    else if (upper == Side::neumann)
      add(last, last, blocks.neumann_right);
    else if (upper == Side::wrap)
      add(last, 0, blocks.right);
    return matrix;
  }
} // namespace

int LineRange::colour(std::int64_t lower_cell) const
{
  if (global_cells <= 2)
    return lower_cell == 0 ? 0 : -1;
  if (lower_cell == global_cells - 1)
  {
    if (!is_periodic())
      return -1;
    if (global_cells % 2 == 1)
      return 2; // both parities are taken by the neighbours
  }
  return static_cast<int>(lower_cell % 2);
}

Line make_line(const CellBasis &basis, const LineRange &range)
{
  const laplace::DenseBlocks blocks = laplace::make_dense_blocks(basis);
  Line line;
  line.n = basis.n;
  line.cells_per_patch = range.global_cells == 1 ? 1 : 2;
  const bool few = range.global_cells <= 2;
  const bool periodic = range.is_periodic();
  line.colours.resize(few ? 1 : periodic && range.global_cells % 2 == 1 ? 3 : 2);

  const auto kind_of = [&](Side lower, Side upper) {
    for (std::size_t k = 0; k < line.kinds.size(); ++k)
      if (line.kinds[k].lower == lower && line.kinds[k].upper == upper)
        return static_cast<int>(k);
    LineKind kind;
    kind.lower = lower;
    kind.upper = upper;
    kind.matrix = line_matrix(blocks, line.n, line.cells_per_patch, lower, upper);
    line.kinds.push_back(std::move(kind));
    return static_cast<int>(line.kinds.size()) - 1;
  };
  for (std::int64_t c = 0; c < range.cells; ++c)
  {
    const std::int64_t lower = range.offset + c;
    const int colour = range.colour(lower);
    if (colour < 0)
      continue;
    const std::int64_t upper = lower + line.cells_per_patch - 1;
    Side at_lower = Side::ghost, at_upper = Side::ghost;
    if (periodic && few)
      at_lower = at_upper = Side::wrap;
    if (!periodic && lower == 0)
      at_lower = range.lower;
    if (!periodic && upper == range.global_cells - 1)
      at_upper = range.upper;
    const bool has_all = range.cells == range.global_cells;
    line.colours[colour].push_back({c, has_all ? upper % range.global_cells : upper - range.offset,
        kind_of(at_lower, at_upper)});
  }
  return line;
}
} // namespace tensormg::patch
