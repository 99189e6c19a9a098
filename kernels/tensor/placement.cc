#include "kernels/tensor/placement.h"

#include <stdexcept>
#include <string>
#include <vector>

namespace tensormg::tensor
{
namespace
{
  /// Tensors [begin, end) of one direction that touch the same ends.
  struct Range
  {
    std::int64_t begin, end;
    End touches;
  };

  std::vector<Range> ranges_of(const Batch &batch, int d)
  {
    std::vector<Range> ranges;
    const std::int64_t count = batch.count[d];
    for (const std::int64_t q : {std::int64_t(0), std::int64_t(1), count - 1})
      if (q >= 0 && q < count && (ranges.empty() || q >= ranges.back().end))
      {
        const bool inner = q == 1 && count > 2;
        ranges.push_back({q, inner ? count - 1 : q + 1, batch.end(d, q)});
      }
    return ranges;
  }
} // namespace

Placement make_placement(const Batch &batch, int group_size)
{
  if (batch.n_tensors() >= std::int64_t(1) << 31)
    throw std::invalid_argument(
        "a batch has at most 2^31 - 1 tensors, not " + std::to_string(batch.n_tensors()));
  Placement placement;
  placement.step = batch.step;
  placement.stride = batch.stride;
  placement.pairs = batch.first % 2 == 0;
  for (int d = 0; d < batch.dim; ++d)
    placement.pairs = placement.pairs && batch.step[d] % 2 == 0 &&
        (d == 0 || batch.stride[d] % 2 == 0) && batch.n % 2 == 0;
  std::array<std::vector<Range>, 3> ranges;
  for (int d = 0; d < 3; ++d)
    ranges[d] = ranges_of(batch, d);
  for (const Range &z : ranges[2])
    for (const Range &y : ranges[1])
      for (const Range &x : ranges[0])
      {
        Box &box = placement.boxes[placement.n_boxes];
        int d = 0;
        box.first = batch.first;
        for (const Range *range : {&x, &y, &z})
        {
          box.first += range->begin * batch.step[d];
          box.count[d] = Divisor(static_cast<unsigned>(range->end - range->begin));
          box.end[d] = static_cast<std::uint8_t>(range->touches);
          ++d;
        }
        const unsigned groups =
            (box.n_tensors() + static_cast<unsigned>(group_size) - 1) / group_size;
        placement.begin[placement.n_boxes + 1] = placement.begin[placement.n_boxes] + groups;
        ++placement.n_boxes;
      }
  return placement;
}
} // namespace tensormg::tensor
