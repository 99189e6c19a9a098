// Boxes for tests, and vectors that are the same function of the global position on any number of
// ranks.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "operators/mesh/grid.h"
#include "tensormg/problem.h"
#include "tests/support/random_vector.h"

namespace tensormg::test
{
/// From "DDNPP..." (two letters per direction, the last one counts for what is missing).
inline std::array<BoundaryKind, 6> boundary_from(const std::string &letters)
{
  std::array<BoundaryKind, 6> boundary{};
  for (std::size_t s = 0; s < 6; ++s)
  {
    const char letter = letters[std::min(s, letters.size() - 1)];
    boundary[s] = letter == 'D' ? BoundaryKind::dirichlet
        : letter == 'N'         ? BoundaryKind::neumann
                                : BoundaryKind::periodic;
  }
  return boundary;
}

/// A box with edges of different lengths and a corner away from the origin.
inline Problem box(int dim, int degree, std::array<std::int64_t, 3> coarse_cells, int refinements,
    const std::string &boundary)
{
  Problem problem;
  problem.dim = dim;
  problem.degree = degree;
  problem.coarse_cells = coarse_cells;
  if (dim == 2)
    problem.coarse_cells[2] = 1;
  problem.refinements = refinements;
  problem.lower = {-0.5, 0.25, 1.};
  problem.upper = {1.75, 1., 2.5};
  problem.coefficient = 3.5;
  problem.boundary = boundary_from(boundary);
  return problem;
}

/// The same with cubes as cells.
inline Problem cubes(int dim, int degree, std::array<std::int64_t, 3> coarse_cells, int refinements,
    const std::string &boundary)
{
  Problem problem = box(dim, degree, coarse_cells, refinements, boundary);
  for (int d = 0; d < 3; ++d)
  {
    problem.lower[d] = 0.;
    problem.upper[d] = static_cast<double>(problem.coarse_cells[d]);
  }
  return problem;
}

/// A box with a corner in the origin and edges of these lengths, a = 1.
inline Problem stretched(int dim, int degree, int refinements, std::array<double, 3> lengths,
    const std::string &boundary, std::array<std::int64_t, 3> coarse = {1, 1, 1})
{
  Problem problem = cubes(dim, degree, coarse, refinements, boundary);
  problem.coefficient = 1.;
  for (int d = 0; d < dim; ++d)
    problem.upper[d] = lengths[d];
  return problem;
}

/// All combinations of the five ways to close a direction.
inline std::vector<std::string> boundary_mixtures(int dim)
{
  std::vector<std::string> all{""};
  for (int d = 0; d < dim; ++d)
  {
    std::vector<std::string> longer;
    for (const std::string &start : all)
      for (const char *pair : {"DD", "DN", "ND", "NN", "PP"})
        longer.push_back(start + pair);
    all = std::move(longer);
  }
  return all;
}

/// Calls f(local position, global number) for every degree of freedom of this rank.
template <typename Function>
void for_each_global(const LevelGrid &level, Function &&f)
{
  const Block &b = level.block;
  const auto &cells = level.global_cells, &offset = level.offset;
  for (std::int64_t z = 0; z < b.cells[2]; ++z)
    for (std::int64_t y = 0; y < b.cells[1]; ++y)
      for (std::int64_t x = 0; x < b.cells[0]; ++x)
      {
        const std::int64_t cell =
            ((offset[2] + z) * cells[1] + offset[1] + y) * cells[0] + offset[0] + x;
        std::int64_t number = cell * b.dofs_per_cell();
        for (int k = 0; k < b.nz(); ++k)
          for (int j = 0; j < b.n; ++j)
            for (int i = 0; i < b.n; ++i)
              f(b.index(x, y, z, i, j, k), number++);
      }
}

/// In [-1, 1), a function of both arguments only (the finaliser of MurmurHash3, twice).
inline double hashed(std::int64_t number, unsigned seed)
{
  std::uint64_t h = static_cast<std::uint64_t>(number) + 0x9e3779b97f4a7c15ull * (seed + 1ull);
  for (int pass = 0; pass < 2; ++pass)
  {
    h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdull;
    h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53ull;
    h ^= h >> 33;
  }
  return static_cast<double>(h >> 11) * 0x1p-52 - 1.;
}

template <typename Number>
Vector<Number> hashed_vector(const LevelGrid &level, unsigned seed)
{
  Vector<Number> v(level.block);
  for_each_global(level, [&](std::int64_t at, std::int64_t number) {
    v[at] = from_double<Number>(hashed(number, seed));
  });
  return v;
}

/// max |mine - whole| / max |whole| over the degrees of freedom of this rank; `whole` belongs to
/// `serial`, the same level on one rank. NaN anywhere gives infinity.
template <typename Number>
double difference_to_serial(const LevelGrid &level, const Vector<Number> &mine,
    const LevelGrid &serial, const Vector<Number> &whole)
{
  std::vector<double> by_number(static_cast<std::size_t>(serial.global_dofs()));
  double largest = 0., difference = 0.;
  for_each_global(serial, [&](std::int64_t at, std::int64_t number) {
    by_number[static_cast<std::size_t>(number)] = to_double(whole[at]);
    largest = std::max(largest, std::abs(to_double(whole[at])));
  });
  bool finite = std::isfinite(largest);
  for_each_global(level, [&](std::int64_t at, std::int64_t number) {
    const double error =
        std::abs(to_double(mine[at]) - by_number[static_cast<std::size_t>(number)]);
    finite = finite && std::isfinite(error);
    difference = std::max(difference, error);
  });
  return finite ? difference / largest : std::numeric_limits<double>::infinity();
}
} // namespace tensormg::test
