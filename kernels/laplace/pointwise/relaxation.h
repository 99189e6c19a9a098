// CONTRACT of approximate inverses of the operator on curved cells (pointwise.h), for smoothers: by numbers of each cell and direction.
//
// Cells: z = weight F r, F in each cell the inverse of sum_a T_a x M_b x M_c, (a, b, c) the directions, by fast diagonalisation: with
// T_a Q_a = M_a Q_a diag(mu^a), Q_a' M_a Q_a = 1 of the cell's own,
//   F = (Q_x x Q_y x Q_z) diag(1 / (mu^x_i + mu^y_j + mu^z_k)) (Q_x x Q_y x Q_z)'.
//
// Lines: z += weight sum of L r over all lines. A line goes from cell to cell through sides that face each other, on into other blocks, to closed
// sides (CellLines); so dim lines meet in each cell. L is, for each pair (j, k) of modes of the other two directions, the inverse of the operator
// of kernels/laplace/cellwise/cellwise.h along the line, with the numbers c of the cells and with tau of each face its own number, plus
// t_j + t_k times the identity. Where a line is a ring, or goes on on another rank, the coupling of its ends is left out, and their tau stay.
// At Side::neumann tau is not that of a face, but adds tau v v' of the end: a Robin side.
// It is symmetric where tau of the two sides of a face agree, and positive definite where tau >= sigma (c + c') / 2 and t >= 0.
//
// Arrays. Vectors and blocks side by side as in pointwise.h. Numbers: for each row of cells (iy + N iz), direction a and number, `pitch` cells:
//   cells   [Q_a of mode and eigenvector: n x n][mu^a: n];
//   lines   [c][tau at the lower, upper side][t^a: n].
// What belongs to no cell: Q = 0, and 1. Lines are eliminated in double. On the host; z must not alias r. The same input gives the same bits.
// Oracle: dense matrices, tests/operators/curved/relaxation_test.cc.
// Source: R. Lynch, J. Rice, D. Thomas, Numer. Math. 6 (1964), per cell; block elimination of a tridiagonal system.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/laplace/pointwise/pointwise.h"

namespace tensormg::laplace
{
constexpr int cell_inverse_numbers(int n) { return n * n + n; }
constexpr int line_inverse_numbers(int n) { return 3 + n; }
/// The place of a number of cell (cx, row) of so many for each direction.
constexpr std::int64_t relaxation_index(
    const Block &block, int numbers, std::int64_t row, int direction, int number, std::int64_t cx)
{
  return ((row * block.dim + direction) * numbers + number) * block.pitch + cx;
}
constexpr std::int64_t relaxation_size(const Block &block, int numbers)
{
  return relaxation_index(block, numbers, block.cells[1] * block.cells[2], 0, 0, 0);
}

template <typename Number>
void apply_separable_inverse(
    const Block &block, const Compute<Number> *numbers, double weight, const Number *r, Number *z);

/// A cell in a line. Axes: of the cell, along the line and across it in the order of the line's first cell; reversed: against those of the line.
struct LinePlace
{
  std::int64_t entry = 0;   ///< in vectors, of the first mode
  std::int64_t numbers = 0; ///< relaxation_index() of line_inverse_numbers(), of the first one
  std::array<std::int8_t, 3> axis{0, 1, 2};
  std::array<bool, 3> is_reversed{false, false, false};
};
struct CellLine
{
  std::int64_t first = 0, length = 0; ///< among the places
  std::array<Side, 2> ends{Side::ghost, Side::ghost};
};
/// Neighbouring lines side by side, as far as they are equally long.
struct CellLines
{
  std::vector<LinePlace> places;
  std::vector<CellLine> lines;
};
CellLines find_lines(const Block &block, std::int64_t per_direction, const BlockLink *links);

template <typename Number>
void add_separable_lines(const Block &block, const CellBasis &basis, const CellLines &lines,
    const Compute<Number> *numbers, double weight, const Number *r, Number *z);
} // namespace tensormg::laplace
