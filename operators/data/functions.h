// Scalar functions of position given as text: right-hand side, boundary values, exact solutions.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>

#include "tensormg/problem.h"

namespace tensormg
{
namespace expression
{
  class Program;
}

/// An expression that cannot be used.
class ExpressionError : public std::invalid_argument
{
public:
  /// `reason` as in "is empty", "cannot be parsed: ...".
  ExpressionError(const std::string &expression, const std::string &reason);
  /// Of the parameter with this name.
  ExpressionError(const std::string &key, const std::string &expression, const std::string &reason);

  const std::string &key() const { return key_; } ///< empty: unknown
  const std::string &expression() const { return expression_; }
  const std::string &reason() const { return reason_; }

private:
  std::string key_, expression_, reason_;
};

/// A muParser expression in x, y (and z in 3D), compiled for evaluation at many points at once.
///
/// Language: muParser with the additions of deal.II's FunctionParser: if(c, a, b), |, &, int, ceil,
/// floor, cot, csc, sec, log (natural), pow, erf, erfc, blanks between a function's name and its
/// parenthesis; and the constants pi, _pi, _e. Not there: rand and rand_seed, because a function of
/// position must not depend on the order of evaluation. Both branches of if() and ?: are evaluated.
///
/// muParser's interpreter works point by point. Here its byte code is run operation by operation
/// over arrays of points, and a part of the expression that does not depend on a coordinate is
/// computed once along that coordinate: on a tensor grid sin(x)*sin(y)*sin(z) costs two
/// multiplications per point.
///
/// Immutable after construction, so that any number of threads may evaluate one object.
class ScalarFunction
{
public:
  /// Throws ExpressionError with the expression, muParser's message and the position if
  /// `expression` cannot be parsed, uses an unknown name (z in 2D), assigns to a variable or has
  /// several results, or if a name in `constants` cannot be used.
  ScalarFunction(
      const std::string &expression, int dim, const std::map<std::string, double> &constants = {});

  /// A function of the calling program, known by its name. Throws ExpressionError if it is empty.
  ScalarFunction(const std::string &name, Function function);

  const std::string &expression() const { return expression_; }
  /// nullptr: a function of the calling program.
  const expression::Program *program() const { return program_.get(); }
  /// True if no coordinate occurs; value() is then the same everywhere.
  bool is_constant() const;
  /// True if it is a polynomial of degree 1 by its operations themselves.
  bool is_affine() const;
  double value(double x = 0., double y = 0., double z = 0.) const;

  /// out[q] = f(x[q], y[q], z[q]), q < n. z may be nullptr in 2D.
  void values(std::size_t n, const double *x, const double *y, const double *z, double *out) const;

  /// On a tensor grid: out[(k * y.size() + j) * x.size() + i] = f(x[i], y[j], z[k]).
  /// z has one (unused) entry in 2D. Working memory: a few arrays as large as out.
  void tensor_values(std::span<const double> x, std::span<const double> y,
      std::span<const double> z, double *out) const;

private:
  std::string expression_;
  std::shared_ptr<const expression::Program> program_;
  Function function_;
};

/// The function that stands for the expression in problem.functions, or else the expression with the problem's constants.
ScalarFunction scalar_function(const Problem &problem, const std::string &expression);
} // namespace tensormg
