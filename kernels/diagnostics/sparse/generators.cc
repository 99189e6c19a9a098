#include "kernels/diagnostics/sparse/generators.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "kernels/core/random_numbers.h"

namespace tensormg::sparse
{
namespace
{
  constexpr std::uint64_t value_seed = 101, structure_seed = 202;

  double random_entry(std::int64_t row, std::int64_t column)
  {
    return random_value(
        value_seed + static_cast<std::uint64_t>(row), static_cast<std::uint64_t>(column));
  }

  /// The n for which count(n), a growing function, is nearest to `wanted`.
  template <typename Count>
  std::int64_t nearest_size(std::int64_t smallest, std::int64_t wanted, Count &&count)
  {
    std::int64_t n = smallest;
    while (count(n + 1) <= wanted)
      ++n;
    return count(n + 1) - wanted < wanted - count(n) ? n + 1 : n;
  }

  std::int64_t power(std::int64_t base, int exponent)
  {
    std::int64_t result = 1;
    for (int i = 0; i < exponent; ++i)
      result *= base;
    return result;
  }

  std::int64_t grid_entries(int dim, bool box, std::int64_t n)
  {
    return box ? power(3 * n - 2, dim) : power(n, dim) + 2 * dim * (n - 1) * power(n, dim - 1);
  }

  template <int dim, bool box>
  SparseMatrix<double> make_grid(std::int64_t entries, const ForParts &for_parts)
  {
    return grid_matrix(dim, box,
        nearest_size(1, entries, [](std::int64_t n) { return grid_entries(dim, box, n); }),
        for_parts);
  }

  SparseMatrix<double> make_elasticity(std::int64_t entries, const ForParts &for_parts)
  {
    return elasticity_matrix(
        nearest_size(1, entries, [](std::int64_t n) { return 9 * grid_entries(3, true, n); }),
        for_parts);
  }

  SparseMatrix<double> make_lattice(std::int64_t entries, const ForParts &for_parts)
  {
    return lattice_matrix(
        nearest_size(3, entries, [](std::int64_t n) { return 39 * 12 * power(n, 4); }), for_parts);
  }

  /// About 16 entries per row, as links of pages.
  SparseMatrix<double> make_power_law(std::int64_t entries, const ForParts &for_parts)
  {
    const int levels = static_cast<int>(nearest_size(1, entries,
        [](std::int64_t n) { return std::int64_t(16) << std::min<std::int64_t>(n, 40); }));
    return power_law_matrix(levels, entries, for_parts);
  }

  SparseMatrix<double> make_circuit(std::int64_t entries, const ForParts &for_parts)
  {
    return circuit_matrix(
        std::max<std::int64_t>(1, std::llround(static_cast<double>(entries) / 5.7)), for_parts);
  }

  SparseMatrix<double> make_dg(std::int64_t entries, const ForParts &for_parts)
  {
    constexpr int degree = 3, n = degree + 1;
    return dg_matrix(degree,
        nearest_size(1, entries,
            [](std::int64_t cells) {
              return power(cells * n, 3) * (1 + 6 * n) + (6 * n - 3 * n * 2) * power(cells * n, 2);
            }),
        for_parts);
  }

  constexpr std::array table{
      Generator{"poisson7", "7-point grid in 3D", make_grid<3, false>},
      Generator{"circuit", "circuit with dense rows and columns", make_circuit},
      Generator{"elasticity", "3x3 blocks on a 27-point grid", make_elasticity},
      Generator{"power_law", "links with a power law", make_power_law},
      Generator{"dg", "this project's operator, degree 3", make_dg},
      Generator{"poisson5", "5-point grid in 2D", make_grid<2, false>},
      Generator{"poisson9", "9-point grid in 2D", make_grid<2, true>},
      Generator{"poisson27", "27-point grid in 3D", make_grid<3, true>},
      Generator{"lattice", "four-dimensional lattice, 39 per row", make_lattice},
  };

  /// Spin with which the hop in this direction mixes spin s (gamma matrices in the chiral basis).
  constexpr int partner(int direction, int s) { return direction == 2 ? (s + 2) % 4 : 3 - s; }
} // namespace

std::span<const Generator> generators() { return table; }

SparseMatrix<double> grid_matrix(int dim, bool box, std::int64_t points, const ForParts &for_parts)
{
  const std::int64_t planes = dim == 3 ? points : 1;
  const std::int64_t rows = points * points * planes;
  return build_by_rows(
      rows, rows,
      [=](std::int64_t row, const Emit &emit) {
        const std::int64_t x = row % points, y = row / points % points, z = row / points / points;
        for (std::int64_t dz = -1; dz <= 1; ++dz)
          for (std::int64_t dy = -1; dy <= 1; ++dy)
            for (std::int64_t dx = -1; dx <= 1; ++dx)
            {
              const bool exists = x + dx >= 0 && x + dx < points && y + dy >= 0 &&
                  y + dy < points && z + dz >= 0 && z + dz < planes;
              if (!exists || (!box && std::abs(dx) + std::abs(dy) + std::abs(dz) > 1))
                continue;
              const std::int64_t column = row + (dz * points + dy) * points + dx;
              emit(column, random_entry(row, column));
            }
      },
      for_parts);
}

SparseMatrix<double> elasticity_matrix(std::int64_t points, const ForParts &for_parts)
{
  const std::int64_t rows = 3 * points * points * points;
  return build_by_rows(
      rows, rows,
      [=](std::int64_t row, const Emit &emit) {
        const std::int64_t node = row / 3;
        const std::int64_t x = node % points, y = node / points % points,
                           z = node / points / points;
        for (std::int64_t cz = std::max<std::int64_t>(0, z - 1); cz <= std::min(points - 1, z + 1);
             ++cz)
          for (std::int64_t cy = std::max<std::int64_t>(0, y - 1);
               cy <= std::min(points - 1, y + 1); ++cy)
            for (std::int64_t cx = std::max<std::int64_t>(0, x - 1);
                 cx <= std::min(points - 1, x + 1); ++cx)
              for (std::int64_t d = 0; d < 3; ++d)
              {
                const std::int64_t column = 3 * ((cz * points + cy) * points + cx) + d;
                emit(column, random_entry(row, column));
              }
      },
      for_parts);
}

SparseMatrix<double> lattice_matrix(std::int64_t length, const ForParts &for_parts)
{
  constexpr int components = 12;
  const std::int64_t rows = power(length, 4) * components;
  return build_by_rows(
      rows, rows,
      [=](std::int64_t row, const Emit &emit) {
        const std::int64_t site = row / components;
        const int spin = static_cast<int>(row % components) / 3;
        std::vector<std::int64_t> columns;
        std::int64_t stride = 1;
        for (int direction = 0; direction < 4; ++direction, stride *= length)
          for (const int step : {-1, 1})
          {
            const std::int64_t at = site / stride % length;
            const std::int64_t other = site + ((at + step + length) % length - at) * stride;
            // In time, one half of the spins hops forwards and the other backwards.
            std::vector<int> spins;
            if (direction < 3)
              spins = {spin, partner(direction, spin)};
            else if ((step > 0) == (spin < 2))
              spins = {spin};
            for (const int s : spins)
              for (int colour = 0; colour < 3; ++colour)
                columns.push_back(other * components + s * 3 + colour);
          }
        std::sort(columns.begin(), columns.end());
        for (const std::int64_t column : columns)
          emit(column, random_entry(row, column));
      },
      for_parts);
}

SparseMatrix<double> power_law_matrix(int levels, std::int64_t entries, const ForParts &for_parts)
{
  const std::int64_t rows = std::int64_t(1) << levels;
  check_size(rows, rows, entries);
  const auto draw = [=](std::int64_t e) {
    std::array<std::int32_t, 2> position{0, 0};
    std::uint64_t bits = 0;
    for (int level = 0; level < levels; ++level, bits >>= 16)
    {
      if (level % 4 == 0)
        bits = random_bits(
            structure_seed + static_cast<std::uint64_t>(level), static_cast<std::uint64_t>(e));
      const double u = static_cast<double>(bits & 0xffffu) * 0x1p-16;
      position[0] = 2 * position[0] + (u >= 0.76 ? 1 : 0);
      position[1] = 2 * position[1] + ((u >= 0.57 && u < 0.76) || u >= 0.95 ? 1 : 0);
    }
    return position;
  };
  // Sorted into rows, then each row sorted and freed of doubles.
  Array<std::array<std::int32_t, 2>> drawn(entries);
  for_parts(entries, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t e = first; e < last; ++e)
      drawn[e] = draw(e);
  });
  Array<std::int32_t> begin(rows + 2), columns(entries);
  for (std::int64_t e = 0; e < entries; ++e)
    ++begin[drawn[e][0] + 2];
  for (std::int64_t row = 0; row < rows; ++row)
    begin[row + 2] += begin[row + 1];
  for (std::int64_t e = 0; e < entries; ++e)
  {
    const auto [row, column] = drawn[e];
    columns[begin[row + 1]++] = column;
  }
  Array<std::int32_t> end(rows);
  for_parts(rows, [&](std::int64_t first_row, std::int64_t last_row) {
    for (std::int64_t row = first_row; row < last_row; ++row)
    {
      std::int32_t *const first = columns.data() + begin[row];
      std::int32_t *const last = columns.data() + begin[row + 1];
      std::sort(first, last);
      end[row] = static_cast<std::int32_t>(std::unique(first, last) - columns.data());
    }
  });
  return build_by_rows(
      rows, rows,
      [&](std::int64_t row, const Emit &emit) {
        for (std::int32_t e = begin[row]; e < end[row]; ++e)
          emit(columns[e], random_entry(row, columns[e]));
      },
      for_parts);
}

SparseMatrix<double> circuit_matrix(std::int64_t rows, const ForParts &for_parts)
{
  // Nets: node 0 reaches every second node, node 1 every fourth; both as row and as column.
  const auto is_net = [](std::int64_t net, std::int64_t node) {
    return (net == 0 && node % 2 == 1) || (net == 1 && node % 4 == 2);
  };
  return build_by_rows(
      rows, rows,
      [=](std::int64_t row, const Emit &emit) {
        std::vector<std::int64_t> columns{row};
        if (row < 2)
        {
          for (std::int64_t node = 2; node < rows; ++node)
            if (is_net(row, node))
              columns.push_back(node);
        }
        else
          for (const std::int64_t net : {0, 1})
            if (is_net(net, row))
              columns.push_back(net);
        // Two to four couplings, one of them far away now and then.
        const std::uint64_t bits = random_bits(structure_seed, static_cast<std::uint64_t>(row));
        const auto couplings = static_cast<int>(2 + bits % 3);
        for (int c = 0; c < couplings; ++c)
        {
          const std::uint64_t where =
              random_bits(structure_seed + 1, static_cast<std::uint64_t>(4 * row + c));
          const bool far = where % 16 == 0;
          const std::int64_t reach = far ? rows : std::min<std::int64_t>(rows, 200);
          std::int64_t column = row - reach / 2 +
              static_cast<std::int64_t>((where >> 8) % static_cast<std::uint64_t>(reach));
          column = std::clamp<std::int64_t>(column, 0, rows - 1);
          columns.push_back(column);
        }
        std::sort(columns.begin(), columns.end());
        columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
        for (const std::int64_t column : columns)
          emit(column, random_entry(row, column));
      },
      for_parts);
}
} // namespace tensormg::sparse
