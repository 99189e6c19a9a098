#include "kernels/laplace/pointwise/device_lines.h"

#include <algorithm>
#include <iterator>
#include <vector>

namespace tensormg::laplace
{
namespace
{
  template <typename T>
  DeviceArray<T> uploaded(const std::vector<T> &from, Stream stream)
  {
    DeviceArray<T> result(std::ssize(from), Unset());
    if (!from.empty())
      result.copy_from_host(from.data(), stream);
    return result;
  }
} // namespace

PackedPlace::PackedPlace(const Block &block, const LinePlace &place)
  : x(static_cast<std::uint32_t>(place.entry % block.pitch))
  , vector_row(static_cast<std::uint32_t>(place.entry / block.pitch))
  , cell_row(static_cast<std::uint32_t>(
        place.numbers / relaxation_index(block, line_inverse_numbers(block.n), 1, 0, 0, 0)))
{
  for (unsigned a = 0; a < 3; ++a)
    turn |= static_cast<std::uint32_t>(place.axis[a]) << (2 * a) |
        std::uint32_t{place.is_reversed[a]} << (6 + a);
}

DeviceCellLines::DeviceCellLines(const Block &block, const CellLines &lines, Stream stream)
{
  std::vector<LineGroup> groups;
  std::vector<PackedLine> packed;
  std::vector<PackedPlace> places;
  LineGroup group;
  // From the end, but neighbours of a group in their order.
  for (std::int64_t end = std::ssize(lines.lines); end > 0; end -= line_lanes)
  {
    const CellLine *first = lines.lines.data() + std::max<std::int64_t>(end - line_lanes, 0);
    const std::int64_t count = std::min<std::int64_t>(end, line_lanes);
    group.length = first[count - 1].length;
    groups.push_back(group);
    packed.resize(groups.size() * line_lanes);
    places.resize(static_cast<std::size_t>((group.first + group.length) * line_lanes));
    for (std::int64_t lane = 0; lane < line_lanes; ++lane)
    {
      const CellLine &line = first[lane < count ? lane : 0];
      const std::int64_t length = lane < count ? line.length : 0;
      packed[static_cast<std::size_t>((std::ssize(groups) - 1) * line_lanes + lane)] = {
          static_cast<std::int32_t>(length), {line.ends[0], line.ends[1]}};
      for (std::int64_t c = 0; c < group.length; ++c)
      {
        const std::int64_t from = line.first + std::min(c, line.length - 1);
        PackedPlace place(block, lines.places[static_cast<std::size_t>(from)]);
        if (c >= length)
          place.turn |= PackedPlace::of_no_line;
        places[static_cast<std::size_t>((group.first + c) * line_lanes + lane)] = place;
      }
    }
    group.first += group.length;
    group.chunks += (group.length + line_chunk - 1) / line_chunk;
  }
  groups_ = uploaded(groups, stream);
  lines_ = uploaded(packed, stream);
  places_ = uploaded(places, stream);
  device::synchronize(stream); // what lies on the host goes
  work_size_ = group.chunks * line_lanes * numbers_of_elimination * block.n * block.nz();
}
} // namespace tensormg::laplace
