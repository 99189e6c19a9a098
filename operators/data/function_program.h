// The operations of an expression, run one by one over arrays of points.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include <muParser.h>

#include "kernels/expression/expression.h"

namespace tensormg::expression
{
/// Bits of the coordinates on which a value depends.
using Mask = unsigned;

enum class Operation : unsigned char
{
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
  select, ///< a ? b : c
  call
};

/// An input of an operation: a number, a coordinate or the result of an earlier operation.
struct Operand
{
  enum class Kind : unsigned char
  {
    number,
    coordinate,
    result
  };
  Kind kind = Kind::number;
  Mask mask = 0;
  int index = 0; ///< of the coordinate or of the array that holds the result
  double number = 0.;
};

struct Instruction
{
  Operation operation = Operation::add;
  std::vector<Operand> arguments;
  Operand target;
  mu::generic_callable_type function{};
  bool variadic = false;
  std::optional<Code> code; ///< of the function called, where devices know it
};

/// The functions that devices know.
using FunctionCodes = std::map<mu::erased_fun_type, Code>;

/// The byte code of muParser, a stack machine on numbers, as a list of operations on arrays. A
/// value that does not depend on a coordinate has an array without that direction. Immutable after
/// construction; run() may be called by any number of threads.
class Program
{
public:
  /// Translates the byte code of a parser that has parsed its expression; `variables` are the three
  /// numbers that the names x, y, z were bound to. Throws std::invalid_argument on assignments and
  /// on operations that no expression in numbers has.
  Program(const mu::ParserBase &parser, const double *variables, const FunctionCodes &codes);

  /// The coordinates on which the value depends.
  Mask mask() const { return result_.mask; }
  /// Whether the operations themselves make a polynomial of degree 1: sums, and products with and quotients by what depends on no coordinate.
  bool is_affine() const;

  /// The operations in their order, and what of theirs is the value.
  const std::vector<Instruction> &instructions() const { return instructions_; }
  const Operand &result() const { return result_; }

  /// Tensor grid: extents[d] values of each coordinate, all combinations, x fastest in `out`.
  /// Scattered points: extents[0] values of each coordinate, which run together.
  void run(const std::array<const double *, 3> &coordinates,
      const std::array<std::size_t, 3> &extents, bool scattered, double *out) const;

private:
  std::vector<Instruction> instructions_;
  Operand result_;
  int n_arrays_ = 0; ///< for results; an array is used again as soon as its content is not needed

  // While the byte code is translated.
  std::vector<Operand> stack_;
  std::vector<int> free_arrays_;

  void push(const Operand &operand) { stack_.push_back(operand); }
  void emit(Operation operation, int n_arguments);
  void emit_affine(const Operand &coordinate, double factor, double shift);
  void emit_power(const Operand &coordinate, int exponent);
  void emit_call(const mu::SToken &token, const FunctionCodes &codes);
};
} // namespace tensormg::expression
