// What the operator with numbers of each cell is called with in tests: random vectors and numbers, each kind of side.
#pragma once

#include <array>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "kernels/laplace/laplace.h"
#include "tests/kernels/laplace/cellwise/cell_numbers.h"
#include "tests/support/random_vector.h"

namespace tensormg::test
{
struct CellwiseCase
{
  int dim;
  std::array<std::int64_t, 3> cells;
  std::array<Side, 6> sides;
};

template <typename Number>
class CellwiseInputs
{
public:
  using C = Compute<Number>;

  /// is_constant: c_d and no reaction as with the factors of the arguments, no Robin sides.
  CellwiseInputs(const CellwiseCase &c, int degree, bool with_old, bool is_constant = false)
    : basis(make_cell_basis(degree))
    , block(c.dim, degree, c.cells)
    , src(random_vector<Number>(block, 1))
    , b(random_vector<Number>(block, 2))
    , old(random_vector<Number>(block, 3))
    , numbers(
          block, basis.penalty, c.sides,
          [&](int d, std::int64_t x, std::int64_t y, std::int64_t z) {
            if (is_constant)
              return d == 3 ? 0. : factor[d];
            return 1.1 + std::sin(1. * d + 2. * x + 3. * y + 5. * z);
          },
          is_constant ? typename CellNumbersFor<C>::Kappa{} : robin)
  {
    arguments.block = block;
    arguments.basis = &basis;
    arguments.factor = factor;
    arguments.sides = c.sides;
    for (int s = 2; s < 2 * c.dim; ++s)
      if (c.sides[s] == Side::ghost)
      {
        const auto neighbour = random_vector<Number>(block, 10 + s);
        ghosts[s].resize(laplace::ghost_size(block, s));
        laplace::select_pack<Number>(degree)(block, basis, s, neighbour.data(), ghosts[s].data());
        arguments.ghost[s] = ghosts[s].data();
      }
    arguments.src = src.data();
    arguments.b = b.data();
    arguments.old = with_old ? old.data() : nullptr;
    arguments.theta = 0.3;
    arguments.alpha = 0.8;
    arguments.cells = numbers.view;
  }

  /// Of sums over the modes of lines, as random vectors have them.
  static double tolerance()
  {
    return sizeof(C) == 8 ? (sizeof(Number) == 8 ? 4e-14 : 2e-7)
                          : (sizeof(Number) == 4 ? 8e-6 : 2e-3);
  }

  static constexpr std::array<double, 3> factor{1., 0.5, 0.75};
  CellBasis basis;
  Block block;
  Vector<Number> src, b, old;
  std::array<std::vector<C>, 6> ghosts;
  CellNumbersFor<C> numbers;
  laplace::CellwiseArguments<Number> arguments;

private:
  /// kappa of a third of the faces is zero.
  static double robin(int s, std::int64_t x, std::int64_t y, std::int64_t z)
  {
    return (s + x + y + z) % 3 == 0 ? 0. : 3. + 2. * std::sin(1. * s + 2. * x + 3. * y + 5. * z);
  }
};
} // namespace tensormg::test
