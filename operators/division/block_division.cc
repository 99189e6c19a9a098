#include "operators/division/block_division.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

namespace tensormg
{
std::vector<std::int64_t> divide_blocks(std::int64_t n_blocks, int n_ranks)
{
  std::vector<std::int64_t> firsts;
  for (int r = 0; r <= n_ranks; ++r)
    firsts.push_back(n_blocks * r / n_ranks);
  return firsts;
}

bool is_too_coarse(std::int64_t n_blocks, int n_ranks)
{
  constexpr double most_of_mean = 1.1;
  const std::int64_t largest = (n_blocks + n_ranks - 1) / n_ranks;
  return n_blocks < 4 * n_ranks ||
      static_cast<double>(largest * n_ranks) > most_of_mean * static_cast<double>(n_blocks);
}

namespace
{
  using Point = std::array<double, 3>;

  Point middle_of(const BlockMesh &mesh, std::size_t block)
  {
    Point middle{};
    for (int v = 0; v < 1 << mesh.dim; ++v)
      for (int d = 0; d < mesh.dim; ++d)
        middle[d] += std::ldexp(mesh.corners[block][v][d], -mesh.dim);
    return middle;
  }

  /// Bits of three numbers in turns.
  std::uint64_t interleaved(const std::array<std::uint64_t, 3> &numbers, int bits)
  {
    std::uint64_t key = 0;
    for (int bit = bits - 1; bit >= 0; --bit)
      for (int d = 2; d >= 0; --d)
        key = 2 * key + (numbers[d] >> bit & 1U);
    return key;
  }
} // namespace

std::vector<std::int64_t> order_along_curve(const BlockMesh &mesh)
{
  constexpr int bits = 20;
  const std::size_t count = mesh.corners.size();
  std::vector<Point> middles;
  Point lower, upper;
  lower.fill(std::numeric_limits<double>::infinity());
  upper.fill(-std::numeric_limits<double>::infinity());
  for (std::size_t block = 0; block < count; ++block)
  {
    const Point &middle = middles.emplace_back(middle_of(mesh, block));
    for (int d = 0; d < 3; ++d)
    {
      lower[d] = std::min(lower[d], middle[d]);
      upper[d] = std::max(upper[d], middle[d]);
    }
  }
  double size = 0.;
  for (int d = 0; d < 3; ++d)
    size = std::max(size, upper[d] - lower[d]);
  std::vector<std::uint64_t> keys;
  for (const Point &middle : middles)
  {
    std::array<std::uint64_t, 3> numbers{};
    for (int d = 0; d < 3 && size > 0.; ++d)
      numbers[d] = static_cast<std::uint64_t>(
          std::llround((middle[d] - lower[d]) / size * (std::exp2(bits) - 1.)));
    keys.push_back(interleaved(numbers, bits));
  }
  std::vector<std::int64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return keys[static_cast<std::size_t>(a)] < keys[static_cast<std::size_t>(b)];
  });
  return order;
}

BlockMesh reordered(const BlockMesh &mesh, const std::vector<std::int64_t> &order)
{
  std::vector<int> now(order.size()); // of a block before
  for (std::size_t i = 0; i < order.size(); ++i)
    now[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
  BlockMesh result;
  result.dim = mesh.dim;
  for (const std::int64_t block : order)
  {
    const auto from = static_cast<std::size_t>(block);
    result.corners.push_back(mesh.corners[from]);
    result.material.push_back(mesh.material[from]);
    for (BlockSide &side : result.sides.emplace_back(mesh.sides[from]))
      if (side.neighbour >= 0)
        side.neighbour = now[static_cast<std::size_t>(side.neighbour)];
  }
  return result;
}

namespace
{
  /// The child of the neighbour behind a side of a child, both of the parents' common side.
  BlockSide side_of_child(const BlockMesh &mesh, const BlockSide &of_parent, int child, int side)
  {
    if (of_parent.neighbour < 0)
      return of_parent;
    const auto [a, b] = tangential(side / 2);
    const auto place =
        of_parent.map(child >> a & 1, mesh.dim == 3 ? child >> b & 1 : 0, 2, mesh.dim == 3 ? 2 : 1);
    const auto [to_a, to_b] = tangential(of_parent.side / 2);
    const int behind = (of_parent.side % 2 << of_parent.side / 2) +
        (static_cast<int>(place[0]) << to_a) +
        (mesh.dim == 3 ? static_cast<int>(place[1]) << to_b : 0);
    BlockSide result = of_parent;
    result.neighbour = (of_parent.neighbour << mesh.dim) + behind;
    return result;
  }

  /// Corner v of the child: between the corners of the parent.
  Point corner_of_child(const std::array<Point, 8> &parent, int dim, int child, int v)
  {
    Point result{};
    for (int w = 0; w < 1 << dim; ++w)
    {
      double weight = 1.;
      for (int d = 0; d < dim; ++d)
      {
        const double t = 0.5 * ((child >> d & 1) + (v >> d & 1));
        weight *= (w >> d & 1) != 0 ? t : 1. - t;
      }
      for (int d = 0; d < 3; ++d)
        result[d] += weight * parent[w][d];
    }
    return result;
  }
} // namespace

BlockMesh split_blocks(const BlockMesh &mesh)
{
  BlockMesh result;
  result.dim = mesh.dim;
  const int children = 1 << mesh.dim;
  for (std::size_t block = 0; block < mesh.corners.size(); ++block)
    for (int child = 0; child < children; ++child)
    {
      auto &corners = result.corners.emplace_back();
      for (int v = 0; v < children; ++v)
        corners[v] = corner_of_child(mesh.corners[block], mesh.dim, child, v);
      result.material.push_back(mesh.material[block]);
      auto &sides = result.sides.emplace_back();
      for (int side = 0; side < 2 * mesh.dim; ++side)
      {
        const int bit = 1 << side / 2;
        const bool is_outer = ((child & bit) != 0) == (side % 2 == 1);
        sides[side] = is_outer
            ? side_of_child(mesh, mesh.sides[block][side], child, side)
            : BlockSide{static_cast<int>(block) * children + (child ^ bit), side ^ 1, {}, 0};
      }
    }
  return result;
}

OwnLinks own_links(int dim, const std::vector<laplace::BlockLink> &links,
    const std::vector<std::int64_t> &firsts, MPI_Comm communicator)
{
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  const std::int64_t first = firsts[static_cast<std::size_t>(rank)],
                     end = firsts[static_cast<std::size_t>(rank) + 1], sides = 2 * dim;
  OwnLinks result;
  result.shared.communicator = communicator;
  result.links.assign(links.begin() + first * sides, links.begin() + end * sides);
  /// A side of another rank, in the order in which that rank sends, and the own one before it.
  struct Common
  {
    int rank;
    std::int64_t block, side, own;
  };
  std::vector<Common> common;
  for (std::int64_t at = 0; at < std::ssize(result.links); ++at)
  {
    laplace::BlockLink &link = result.links[static_cast<std::size_t>(at)];
    if (link.kind != Side::ghost)
      continue;
    if (link.block >= first && link.block < end)
    {
      link.block -= static_cast<std::int32_t>(first);
      continue;
    }
    const auto owner = std::upper_bound(firsts.begin(), firsts.end(), link.block) - 1;
    common.push_back({static_cast<int>(owner - firsts.begin()), link.block, link.side, at});
  }
  std::sort(common.begin(), common.end(), [](const Common &a, const Common &b) {
    return std::tie(a.rank, a.block, a.side) < std::tie(b.rank, b.block, b.side);
  });
  for (std::size_t i = 0; i < common.size(); ++i)
  {
    laplace::BlockLink &link = result.links[static_cast<std::size_t>(common[i].own)];
    link.block = -1;
    link.remote = static_cast<std::int32_t>(i);
  }
  std::sort(common.begin(), common.end(), [](const Common &a, const Common &b) {
    return std::tie(a.rank, a.own) < std::tie(b.rank, b.own);
  });
  for (const Common &side : common)
  {
    auto &neighbours = result.shared.neighbours;
    if (neighbours.empty() || neighbours.back().rank != side.rank)
      neighbours.push_back({side.rank, {}});
    neighbours.back().own.push_back({side.own / sides, static_cast<int>(side.own % sides)});
  }
  result.shared.n_sides = std::ssize(common);
  return result;
}
} // namespace tensormg
