#include "kernels/patch/patches.h"

#include <stdexcept>
#include <string>

namespace tensormg::patch
{
namespace
{
  /// Patches of one direction that follow each other and are alike.
  struct Range
  {
    std::int64_t lower = 0;
    std::int64_t count = 1;
    std::int64_t upper_minus_lower = 0;
    std::array<std::int64_t, 2> neighbour{0, 0}; ///< minus lower; 0: none
    int kind = -1;
    tensor::End touches = tensor::End::none;
  };

  tensor::End touched(const LineKind &kind)
  {
    const bool lower = kind.lower != Side::ghost, upper = kind.upper != Side::ghost;
    return lower ? (upper ? tensor::End::both : tensor::End::lower)
                 : (upper ? tensor::End::upper : tensor::End::none);
  }

  std::vector<Range> ranges_of(const Line &line, int colour, std::int64_t cells)
  {
    std::vector<Range> ranges;
    for (const LinePatch &patch : line.colours[colour])
    {
      if (patch.upper >= cells)
        throw std::invalid_argument("patches in device memory cannot reach beyond the block");
      const LineKind &kind = line.kinds[patch.kind];
      const std::int64_t jump = patch.upper - patch.lower;
      const std::array<std::int64_t, 2> neighbour{
          kind.lower == Side::ghost ? (patch.lower + cells - 1) % cells - patch.lower : 0,
          kind.upper == Side::ghost ? (patch.upper + 1) % cells - patch.lower : 0};
      if (!ranges.empty() && ranges.back().kind == patch.kind &&
          ranges.back().upper_minus_lower == jump && ranges.back().neighbour == neighbour)
        ++ranges.back().count;
      else
        ranges.push_back({patch.lower, 1, jump, neighbour, patch.kind, touched(kind)});
    }
    return ranges;
  }
} // namespace

Patches make_patches(const Block &block, const std::array<const Line *, 3> &lines,
    const std::array<int, 3> &colour, int group_size)
{
  Patches result;
  tensor::Placement &placement = result.placement;
  const std::array<std::int64_t, 3> from_cell{1, block.n * block.row(), block.nz() * block.plane()};
  placement.stride = {block.pitch, block.row(), block.plane()};
  std::array<std::vector<Range>, 3> ranges;
  std::int64_t n_patches = 1;
  for (int d = 0; d < 3; ++d)
  {
    result.cells[d] = d < block.dim ? lines[d]->cells_per_patch : 1;
    placement.step[d] = 2 * from_cell[d];
    ranges[d] =
        d < block.dim ? ranges_of(*lines[d], colour[d], block.cells[d]) : std::vector<Range>(1);
    if (d == block.dim)
      break;
    const std::vector<LinePatch> &patches = lines[d]->colours[colour[d]];
    const auto count = static_cast<std::int64_t>(patches.size());
    n_patches *= count;
    result.first_cell[d] = count > 0 ? patches.front().lower : 0;
    result.covered[d] = count * result.cells[d];
  }
  if (n_patches >= std::int64_t(1) << 31)
    throw std::invalid_argument(
        "a colour has at most 2^31 - 1 patches, not " + std::to_string(n_patches));
  for (const Range &z : ranges[2])
    for (const Range &y : ranges[1])
      for (const Range &x : ranges[0])
      {
        tensor::Box &box = placement.boxes[placement.n_boxes];
        int d = 0;
        for (const Range *range : {&x, &y, &z})
        {
          box.first += range->lower * from_cell[d];
          box.count[d] = tensor::Divisor(static_cast<unsigned>(range->count));
          box.end[d] = static_cast<std::uint8_t>(range->touches);
          result.jump[placement.n_boxes][d] = range->upper_minus_lower * from_cell[d];
          for (int side = 0; side < 2; ++side)
            result.neighbour[placement.n_boxes][d][side] = range->neighbour[side] * from_cell[d];
          ++d;
        }
        const unsigned groups =
            (box.n_tensors() + static_cast<unsigned>(group_size) - 1) / group_size;
        placement.begin[placement.n_boxes + 1] = placement.begin[placement.n_boxes] + groups;
        ++placement.n_boxes;
      }
  return result;
}

patch_inverse::Factors make_factors(
    const std::array<const Line *, 3> &lines, const std::array<double, 3> &factor, int dim)
{
  patch_inverse::Factors factors;
  for (int d = 0; d < dim; ++d)
    for (const LineKind &kind : lines[d]->kinds)
    {
      const int size = lines[d]->size(), full = 2 * lines[d]->n;
      patch_inverse::LineFactors &line = factors[d][static_cast<int>(touched(kind))];
      line.vectors.assign(static_cast<std::size_t>(full) * full, 0.);
      line.values.assign(full, 0.);
      for (int u = 0; u < size; ++u)
      {
        for (int e = 0; e < size; ++e)
          line.vectors[u * full + e] = kind.vectors[u * size + e];
        line.values[u] = factor[d] * kind.values[u];
      }
    }
  return factors;
}
} // namespace tensormg::patch
