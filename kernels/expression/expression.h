// CONTRACT of functions given as expressions, evaluated on a device at the points of tensor rules on cells.
//
//   project    b_ijk += scale * s_c sum_q P_i(qx) P_j(qy) P_k(qz) f(x_q)     for the cells of a range
//   integrate  sum_cq s_c w_q f(x_q), sum_cq s_c w_q |f(x_q)|                over the cells of a range
//   distance   sum_cq s_c w_q (factor D u(x_q) - f(x_q) - shift)^2           over all cells
// with s the numbers of the cells, P, w the rule's projection and weights, D u the modes of u times the rule's `values`, which may
// be those of a derivative.
//
// The expression is a list of steps on numbers, run by every thread for its point: all threads of a warp do
// the same step, so reading a step costs less than a division does. Nothing is compiled at run time.
// Sums in a fixed order that depends on the grid alone. Work is queued in `stream`, nothing is allocated.
// Oracle: operators/data/functions.h and operators/data/tensor_rule.h. Test: tests/operators/data/device_functions_test.cu.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/core/block.h"
#include "kernels/device/cuda_function.h"
#include "kernels/device/device.h"

namespace tensormg::expression
{
enum class Code : std::uint8_t
{
  // two operands
  add,
  subtract,
  multiply,
  divide,
  power,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  logical_and,
  logical_or,
  rounded_and, ///< deal.II's: operands are rounded to integers first
  rounded_or,
  minimum,
  maximum,
  arc_tangent_of_quotient,
  // three
  select,         ///< a != 0 ? b : c
  rounded_select, ///< the same with a rounded to an integer
  // one
  negate,
  identity,
  absolute,
  sign,
  round,         ///< half away from zero
  round_half_up, ///< floor(a + 1/2)
  ceil,
  floor,
  square_root,
  exponential,
  logarithm,
  logarithm_2,
  logarithm_10,
  sine,
  cosine,
  tangent,
  cotangent,
  secant,
  cosecant,
  arc_sine,
  arc_cosine,
  arc_tangent,
  hyperbolic_sine,
  hyperbolic_cosine,
  hyperbolic_tangent,
  area_sine,
  area_cosine,
  area_tangent,
  error_function,
  complementary_error_function
};

/// Operands and target: 0, 1, 2 are the coordinates, then the numbers, then the results.
struct Step
{
  Code code = Code::add;
  std::uint8_t target = 0; ///< which result is written
  std::array<std::uint8_t, 3> operand{};
};

inline constexpr int max_steps = 96, max_numbers = 40, max_results = 24;

struct Steps
{
  int count = 0;
  std::uint8_t value = 0; ///< the operand that is the function's value
  std::array<Step, max_steps> step{};
  std::array<double, max_numbers> number{};
};

constexpr std::uint8_t operand_of_number(int i) { return static_cast<std::uint8_t>(3 + i); }
constexpr std::uint8_t operand_of_result(int i)
{
  return static_cast<std::uint8_t>(3 + max_numbers + i);
}

inline constexpr int max_points = max_n + 4;

/// Points of one direction on the reference cell and what the modes are there (operators/data/tensor_rule.h).
struct Line
{
  int points = 1, modes = 1;
  std::array<double, max_points> point{}, weight{};
  std::array<double, max_points * max_n>
      matrix{}; ///< project: [mode][point]; distance: [point][mode]
};

/// Where the points are.
struct Place
{
  Block block;
  std::array<std::int64_t, 3> offset{};       ///< of the local cells in the box
  std::array<std::int64_t, 3> begin{}, end{}; ///< range of cells
  std::array<double, 3> lower{}, cell_size{};
  std::array<Line, 3> line{};
  // In device memory.
  std::array<const double *, 3>
      corners{}; ///< of a direction with graded cells, instead of lower and cell_size
  const double *factor = nullptr; ///< s of the cells in the range, x the fastest; nullptr: 1
};

/// Blocks of threads of the sums: as many partial sums are left.
inline constexpr int sum_blocks = 528;

TENSORMG_CUDA_FUNCTION void project_cuda(
    const Steps &, const Place &, double scale, double *b, Stream stream);

/// partial: 2 * sum_blocks numbers; the integral is the sum of the first half, that of |f| of the second.
TENSORMG_CUDA_FUNCTION void integrate_cuda(
    const Steps &, const Place &, double *partial, Stream stream);

/// unit (factor u - f - shift) is squared; the unit, a power of two, keeps the squares in the range of double precision. `direction`: of a
/// derivative, whose factor is for a cell of cell_size, -1: of none.
struct DistanceScales
{
  double factor = 1., shift = 0., unit = 1.;
  int direction = -1;
};

/// partial: sum_blocks numbers, whose sum is the result. Ranges other than all cells are not for this one.
TENSORMG_CUDA_FUNCTION void distance_cuda(const Steps &, const Place &, const double *u,
    const DistanceScales &scales, double *partial, Stream stream);
} // namespace tensormg::expression
