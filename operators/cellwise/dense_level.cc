#include "operators/cellwise/dense_level.h"

#include <cmath>

#include "kernels/vector/vector.h"

namespace tensormg
{
namespace
{
  std::vector<std::int64_t> places_of_unknowns(const Block &block)
  {
    std::vector<std::int64_t> places;
    for (std::int64_t cz = 0; cz < block.cells[2]; ++cz)
      for (std::int64_t cy = 0; cy < block.cells[1]; ++cy)
        for (std::int64_t cx = 0; cx < block.cells[0]; ++cx)
          for (int k = 0; k < block.nz(); ++k)
            for (int j = 0; j < block.n; ++j)
              for (int i = 0; i < block.n; ++i)
                places.push_back(block.index(cx, cy, cz, i, j, k));
    return places;
  }
} // namespace

bool DenseLevel::suits(const LevelGrid &level)
{
  return level.block.dofs() == level.global_dofs() && level.block.dofs() <= most_unknowns;
}

DenseLevel::DenseLevel(
    const LevelGrid &level, const CellBasis &basis, const Multiply &multiply, bool is_singular)
  : places(places_of_unknowns(level.block))
{
  Vector<double> x(level.block), b(level.block);
  const std::size_t size = places.size();
  matrix.resize(size * size);
  double trace = 0.;
  for (std::size_t j = 0; j < size; ++j)
  {
    x[places[j]] = 1.;
    multiply(b, x);
    x[places[j]] = 0.;
    for (std::size_t i = 0; i < size; ++i)
      matrix[j * size + i] = b[places[i]];
    trace += matrix[j * size + j];
  }
  if (!is_singular)
    return;
  vector_kernels::add_constant(level.block, basis, 1., x.data());
  double squares = 0.;
  for (const std::int64_t place : places)
    squares += x[place] * x[place];
  for (const std::int64_t place : places)
    constant.push_back(x[place] / std::sqrt(squares));
  shift = trace / static_cast<double>(size);
  for (std::size_t j = 0; j < size; ++j)
    for (std::size_t i = 0; i < size; ++i)
      matrix[j * size + i] += shift * constant[i] * constant[j];
}
} // namespace tensormg
