// Expressions compiled to array operations against muParser's own interpreter, and their errors.
#include "operators/data/functions.h"

#include <atomic>
#include <cmath>
#include <numbers>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include <deal.II/base/function_parser.h>

#include <gtest/gtest.h>

namespace
{
using tensormg::ScalarFunction;

std::string message_of(
    const std::string &expression, int dim, const std::map<std::string, double> &constants = {})
{
  try
  {
    ScalarFunction function(expression, dim, constants);
  }
  catch (const std::invalid_argument &error)
  {
    return error.what();
  }
  return "";
}

TEST(Functions, AgreeWithFunctionParser)
{
  const std::map<std::string, double> constants{{"pi", std::numbers::pi}, {"k", 3.}, {"a_1", -0.5}};
  const std::vector<std::string> expressions{"x", "y*1", "z", "-x", "+x", "2*x+1", "1-3*(2*y-4)",
      "x*x", "x^2", "y^3", "z^4", "x^5", "x^-2", "(x+y)^2", "(x-y)^3", "(z+1)^4", "(x+1.5)^y",
      "2^x^2", "-x^2", "x-y-z", "x/(y+3)/(z+3)", "12*pi^2*sin(2*pi*x)*sin(2*pi*y)*sin(2*pi*z)",
      "sin(x)*y + cos(y*z)/(2+sin(x))", "exp(-10*((x-0.5)^2+(y-0.5)^2+(z-0.5)^2))", "if(x<0.5,1,0)",
      "if(x<y, sin(x), z)", "x<0.2 ? sin(x) : cos(y)", "x<0.2 ? y>0 ? 1 : 2 : z",
      "(x<y)+(x<=y)*2+(x>y)*4+(x>=y)*8", "(x==x)+(x!=y)", "x<0 && y<0 || z<0",
      "(x<0) & (y<0) | (z<0)", "min(x,y,z,0.1)+max(x,y)", "sum(x,y,z)+avg(x,y,z)", "sqrt(abs(x))",
      "log(2+x)+ln(2+y)+log2(2+z)+log10(3+x)", "atan2(y,x)", "asin(x)+acos(y)+atan(z)",
      "sinh(x)+cosh(y)+tanh(z)", "sign(x)+rint(3*y)", "int(5*x)+floor(5*y)+ceil(5*z)",
      "cot(2+x)+csc(2+y)+sec(1+z)", "pow(2+x,y)", "erfc(x)", "sin (x) + cos\t(y)", "k*x+a_1*z",
      "_pi*x+_e", "1+2*3", "pi", "1e-3*x + .5*y + 2.5E2*z"};
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(-1., 1.);
  const std::size_t n = 2500; // several chunks
  std::vector<double> x(n), y(n), z(n), out(n);
  for (std::size_t q = 0; q < n; ++q)
  {
    x[q] = uniform(random);
    y[q] = uniform(random);
    z[q] = uniform(random);
  }
  for (const std::string &expression : expressions)
  {
    const ScalarFunction function(expression, 3, constants);
    dealii::FunctionParser<3> reference;
    reference.initialize("x,y,z", expression, constants);
    function.values(n, x.data(), y.data(), z.data(), out.data());
    for (std::size_t q = 0; q < n; ++q)
    {
      const double expected = reference.value({x[q], y[q], z[q]});
      ASSERT_NEAR(out[q], expected, 4e-15 * (1. + std::abs(expected))) << expression;
    }
    // The same points in every position of a tensor grid.
    const std::span<const double> gx(x.data(), 7), gy(y.data(), 5), gz(z.data(), 3);
    std::vector<double> grid(gx.size() * gy.size() * gz.size(), NAN);
    function.tensor_values(gx, gy, gz, grid.data());
    for (std::size_t k = 0, q = 0; k < gz.size(); ++k)
      for (std::size_t j = 0; j < gy.size(); ++j)
        for (std::size_t i = 0; i < gx.size(); ++i, ++q)
          ASSERT_EQ(grid[q], function.value(gx[i], gy[j], gz[k])) << expression;
  }
  EXPECT_NEAR(ScalarFunction("erf(x)", 3).value(0.3), std::erf(0.3), 1e-15);
}

TEST(Functions, TwoDimensions)
{
  const ScalarFunction function("sin(x)*exp(y)+x", 2);
  const std::vector<double> x{0.1, 0.2, 0.3}, y{0.5, -0.5}, z{0.};
  std::vector<double> grid(6), points(2);
  function.tensor_values(x, y, z, grid.data());
  for (int j = 0; j < 2; ++j)
    for (int i = 0; i < 3; ++i)
      EXPECT_DOUBLE_EQ(grid[j * 3 + i], std::sin(x[i]) * std::exp(y[j]) + x[i]);
  function.values(2, x.data(), y.data(), nullptr, points.data());
  EXPECT_DOUBLE_EQ(points[1], std::sin(0.2) * std::exp(-0.5) + 0.2);
}

TEST(Functions, Constants)
{
  EXPECT_TRUE(ScalarFunction("1", 3).is_constant());
  EXPECT_TRUE(ScalarFunction("sin(pi/2) + c", 3, {{"c", 2.}}).is_constant());
  EXPECT_DOUBLE_EQ(ScalarFunction("sin(pi/2) + c", 3, {{"c", 2.}}).value(), 3.);
  EXPECT_DOUBLE_EQ(ScalarFunction("pi", 3, {{"pi", 3.}}).value(), 3.); // the user's wins
  EXPECT_FALSE(ScalarFunction("x", 3).is_constant());
  EXPECT_FALSE(ScalarFunction("if(z>0,1,1)", 3).is_constant());
}

TEST(Functions, AffineOnes)
{
  for (const char *affine : {"3", "y", "2*x - (y + 1)/4 + -z", "x*sin(pi/3) - pow(2, 0.5)*y",
           "(x + y)*c", "c*(1 - x)", "sqrt(c)/2"})
    EXPECT_TRUE(ScalarFunction(affine, 3, {{"c", 2.}}).is_affine()) << affine;
  for (const char *other : {"x*y", "x^2", "1/x", "sin(x)", "abs(x)", "if(x > 0, x, x)", "x < 1",
           "(x*y + x)*0.5", "c/(1 + x)", "max(x, y)"})
    EXPECT_FALSE(ScalarFunction(other, 3, {{"c", 2.}}).is_affine()) << other;
  EXPECT_FALSE(ScalarFunction("f", [](auto &&...) {}).is_affine()); // who knows
}

TEST(Functions, Errors)
{
  const auto mentions = [](const std::string &message, const std::vector<std::string> &parts) {
    for (const std::string &part : parts)
      EXPECT_NE(message.find(part), std::string::npos) << part << " is not in: " << message;
  };
  mentions(message_of("1+q*x", 3), {"\"1+q*x\"", "Unexpected token \"q", "position 2"});
  mentions(message_of("sin (x) + q", 3), {"position 10"});
  mentions(message_of("sin(x", 3), {"\"sin(x\"", "parenthesis"});
  mentions(message_of("x+z", 2), {"z"});
  mentions(message_of("", 3), {"empty"});
  mentions(message_of("  ", 3), {"empty"});
  mentions(message_of("x=1", 3), {"assignments"});
  mentions(message_of("x,y", 3), {"2 results"});
  mentions(message_of("rand()", 3), {"rand"});
  mentions(message_of("x", 3, {{"y", 1.}}), {"constant y", "coordinate"});
  mentions(message_of("x", 3, {{"sin", 1.}}), {"constant sin", "function"});
  mentions(message_of("x", 3, {{"a b", 1.}}), {"\"x\""});
  EXPECT_EQ(message_of("x", 2, {{"z", 1.}}), "");
}

TEST(Functions, ManyThreads)
{
  const ScalarFunction function("sin(x)*y + if(z<0, x^2, atan2(y,x))", 3);
  const std::size_t n = 4000;
  std::vector<double> x(n), expected(n);
  for (std::size_t q = 0; q < n; ++q)
    x[q] = 0.001 * static_cast<double>(q) - 2.;
  function.values(n, x.data(), x.data(), x.data(), expected.data());
  std::atomic<int> differences = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      std::vector<double> out(n);
      for (int repeat = 0; repeat < 20; ++repeat)
      {
        function.values(n, x.data(), x.data(), x.data(), out.data());
        differences += out != expected;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(differences, 0);
}
} // namespace
