#include "operators/data/functions.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <utility>
#include <vector>

#include <muParser.h>

#include "operators/data/function_program.h"
#include "operators/data/short_text.h"

namespace tensormg
{
namespace
{
  // The functions that deal.II adds to muParser, with its rules of rounding.
  bool truth(double value) { return std::lround(value) != 0; }
  double f_if(double c, double a, double b) { return truth(c) ? a : b; }
  double f_or(double a, double b) { return truth(a) || truth(b); }
  double f_and(double a, double b) { return truth(a) && truth(b); }
  double f_int(double a) { return std::round(a); }
  double f_ceil(double a) { return std::ceil(a); }
  double f_floor(double a) { return std::floor(a); }
  double f_cot(double a) { return 1. / std::tan(a); }
  double f_csc(double a) { return 1. / std::sin(a); }
  double f_sec(double a) { return 1. / std::cos(a); }
  double f_log(double a) { return std::log(a); }
  double f_pow(double a, double b) { return std::pow(a, b); }
  double f_erf(double a) { return std::erf(a); }
  double f_erfc(double a) { return std::erfc(a); }

  void define_functions(mu::Parser &parser)
  {
    parser.DefineConst("pi", std::numbers::pi);
    parser.DefineFun("if", f_if);
    parser.DefineOprt("|", f_or, 1);
    parser.DefineOprt("&", f_and, 2);
    parser.DefineFun("int", f_int);
    parser.DefineFun("ceil", f_ceil);
    parser.DefineFun("floor", f_floor);
    parser.DefineFun("cot", f_cot);
    parser.DefineFun("csc", f_csc);
    parser.DefineFun("sec", f_sec);
    parser.DefineFun("log", f_log);
    parser.DefineFun("pow", f_pow);
    parser.DefineFun("erf", f_erf);
    parser.DefineFun("erfc", f_erfc);
  }

  /// The parser's functions by their addresses.
  expression::FunctionCodes function_codes(const mu::Parser &parser)
  {
    using expression::Code;
    static const std::map<std::string, Code> by_name{{"sin", Code::sine}, {"cos", Code::cosine},
        {"tan", Code::tangent}, {"cot", Code::cotangent}, {"sec", Code::secant},
        {"csc", Code::cosecant}, {"asin", Code::arc_sine}, {"acos", Code::arc_cosine},
        {"atan", Code::arc_tangent}, {"atan2", Code::arc_tangent_of_quotient},
        {"sinh", Code::hyperbolic_sine}, {"cosh", Code::hyperbolic_cosine},
        {"tanh", Code::hyperbolic_tangent}, {"asinh", Code::area_sine},
        {"acosh", Code::area_cosine}, {"atanh", Code::area_tangent}, {"exp", Code::exponential},
        {"log", Code::logarithm}, {"ln", Code::logarithm}, {"log2", Code::logarithm_2},
        {"log10", Code::logarithm_10}, {"sqrt", Code::square_root}, {"pow", Code::power},
        {"erf", Code::error_function}, {"erfc", Code::complementary_error_function},
        {"abs", Code::absolute}, {"sign", Code::sign}, {"rint", Code::round_half_up},
        {"int", Code::round}, {"ceil", Code::ceil}, {"floor", Code::floor},
        {"if", Code::rounded_select}, {"min", Code::minimum}, {"max", Code::maximum},
        {"sum", Code::add}};
    expression::FunctionCodes codes{{reinterpret_cast<mu::erased_fun_type>(f_or), Code::rounded_or},
        {reinterpret_cast<mu::erased_fun_type>(f_and), Code::rounded_and}};
    for (const auto &[name, callback] : parser.GetFunDef())
      if (const auto code = by_name.find(name); code != by_name.end())
        codes.emplace(reinterpret_cast<mu::erased_fun_type>(callback.GetAddr()), code->second);
    return codes;
  }

  /// muParser wants no blanks between a function's name and its parenthesis. They are moved before
  /// the name rather than removed, so that the positions in messages stay true.
  std::string move_blanks(std::string text, const mu::Parser &parser)
  {
    const auto is_name = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    };
    const auto is_blank = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
    for (std::size_t open = 0; open < text.size(); ++open)
    {
      if (text[open] != '(')
        continue;
      std::size_t end = open;
      while (end > 0 && is_blank(text[end - 1]))
        --end;
      std::size_t begin = end;
      while (begin > 0 && is_name(text[begin - 1]))
        --begin;
      if (end < open && parser.GetFunDef().contains(text.substr(begin, end - begin)))
        std::rotate(text.begin() + begin, text.begin() + end, text.begin() + open);
    }
    return text;
  }

  /// muParser's message with the position, which some of its messages lack.
  std::string words_of(const mu::Parser::exception_type &error)
  {
    std::string message = error.GetMsg();
    while (!message.empty() && (message.back() == '.' || message.back() == '\n'))
      message.pop_back();
    if (message.find("position") == std::string::npos)
      message += " at position " + std::to_string(error.GetPos());
    return cut_middle(message);
  }
} // namespace

ExpressionError::ExpressionError(const std::string &expression, const std::string &reason)
  : std::invalid_argument("expression \"" + cut(expression) + "\" " + reason)
  , expression_(expression)
  , reason_(reason)
{}

ExpressionError::ExpressionError(
    const std::string &key, const std::string &expression, const std::string &reason)
  : std::invalid_argument(key + " = '" + cut(expression) + "' " + reason)
  , key_(key)
  , expression_(expression)
  , reason_(reason)
{}

ScalarFunction::ScalarFunction(
    const std::string &expression, int dim, const std::map<std::string, double> &constants)
  : expression_(expression)
{
  const auto fail = [&](const std::string &reason) { throw ExpressionError(expression, reason); };
  if (std::all_of(expression.begin(), expression.end(),
          [](unsigned char c) { return std::isspace(c) != 0; }))
    fail("is empty");
  if (expression.size() >= static_cast<std::size_t>(mu::MaxLenExpression))
    fail("has " + std::to_string(expression.size()) + " characters; the longest one has " +
        std::to_string(mu::MaxLenExpression - 1));

  const std::array<std::string, 3> names{"x", "y", "z"};
  std::array<double, 3> variables{};
  mu::Parser parser;
  try
  {
    define_functions(parser);
    for (int d = 0; d < dim; ++d)
      parser.DefineVar(names[d], &variables[d]);
    for (const auto &[name, number] : constants)
    {
      if (std::find(names.begin(), names.begin() + dim, name) != names.begin() + dim)
        fail("cannot be used: the constant " + name + " has the name of a coordinate");
      if (parser.GetFunDef().contains(name))
        fail("cannot be used: the constant " + name + " has the name of a function");
      parser.DefineConst(name, number);
    }
    parser.SetExpr(move_blanks(expression, parser));
    parser.Eval(); // parses
    if (parser.GetNumResults() != 1)
      fail("has " + std::to_string(parser.GetNumResults()) + " results separated by commas");
  }
  catch (const mu::Parser::exception_type &error)
  {
    fail("cannot be parsed: " + words_of(error));
  }
  try
  {
    program_ = std::make_shared<const expression::Program>(
        parser, variables.data(), function_codes(parser));
  }
  catch (const std::invalid_argument &error)
  {
    fail("cannot be used: " + std::string(error.what()));
  }
}

ScalarFunction::ScalarFunction(const std::string &name, Function function)
  : expression_(name)
  , function_(std::move(function))
{
  if (!function_)
    throw ExpressionError(name, "is the name of an empty function");
}

bool ScalarFunction::is_constant() const { return program_ != nullptr && program_->mask() == 0; }

bool ScalarFunction::is_affine() const { return program_ != nullptr && program_->is_affine(); }

double ScalarFunction::value(double x, double y, double z) const
{
  double result = 0.;
  values(1, &x, &y, &z, &result);
  return result;
}

void ScalarFunction::values(
    std::size_t n, const double *x, const double *y, const double *z, double *out) const
{
  if (program_ == nullptr)
  {
    const std::vector<double> zeros(z == nullptr ? n : 0, 0.);
    function_(n, x, y, z == nullptr ? zeros.data() : z, out);
    return;
  }
  constexpr std::size_t chunk = 1024; // a few arrays of this size fit into the cache
  for (std::size_t q = 0; q < n; q += chunk)
    program_->run({x + q, y + q, z != nullptr ? z + q : nullptr}, {std::min(chunk, n - q), 1, 1},
        true, out + q);
}

void ScalarFunction::tensor_values(std::span<const double> x, std::span<const double> y,
    std::span<const double> z, double *out) const
{
  if (program_ != nullptr)
  {
    program_->run({x.data(), y.data(), z.data()}, {x.size(), y.size(), z.size()}, false, out);
    return;
  }
  std::array<std::vector<double>, 3> points;
  for (std::vector<double> &coordinates : points)
    coordinates.reserve(x.size() * y.size() * z.size());
  for (const double z_here : z)
    for (const double y_here : y)
    {
      points[0].insert(points[0].end(), x.begin(), x.end());
      points[1].insert(points[1].end(), x.size(), y_here);
      points[2].insert(points[2].end(), x.size(), z_here);
    }
  function_(points[0].size(), points[0].data(), points[1].data(), points[2].data(), out);
}

ScalarFunction scalar_function(const Problem &problem, const std::string &expression)
{
  const auto function = problem.functions.find(expression);
  return function != problem.functions.end()
      ? ScalarFunction(function->first, function->second)
      : ScalarFunction(expression, problem.dim, problem.constants);
}
} // namespace tensormg
