// Every solver of sparse systems gives the solution, or a symmetric approximation of it.
#include "operators/cellwise/sparse_solver.h"

#include <cmath>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace tensormg
{
namespace
{
  /// Differences of neighbours on a square of n x n points; with ends the points at the boundary have zeros behind them.
  SparseRows matrix(int n, bool has_ends)
  {
    SparseRows a;
    for (int y = 0; y < n; ++y)
      for (int x = 0; x < n; ++x)
      {
        for (const auto &[dx, dy] : {std::pair{1, 0}, {-1, 0}, {0, 1}, {0, -1}})
        {
          const int u = x + dx, v = y + dy;
          const bool is_inside = u >= 0 && v >= 0 && u < n && v < n;
          // Entries of the same place are summed.
          if (is_inside || has_ends)
            a.add(x + n * y, 1.);
          if (is_inside)
            a.add(u + n * v, -1.);
        }
        a.end_row();
      }
    return a;
  }

  std::vector<double> times(const SparseRows &a, const std::vector<double> &x)
  {
    std::vector<double> y(x.size(), 0.);
    for (std::size_t row = 0; row < x.size(); ++row)
      for (std::int64_t e = a.begin[row]; e < a.begin[row + 1]; ++e)
        y[row] += a.values[e] * x[static_cast<std::size_t>(a.columns[e])];
    return y;
  }

  double dot(const std::vector<double> &x, const std::vector<double> &y)
  {
    return std::inner_product(x.begin(), x.end(), y.begin(), 0.);
  }

  std::vector<double> numbers(std::size_t size, double frequency)
  {
    std::vector<double> x;
    for (std::size_t i = 0; i < size; ++i)
      x.push_back(std::sin(frequency * static_cast<double>(i + 1)));
    const double mean = std::accumulate(x.begin(), x.end(), 0.) / static_cast<double>(size);
    for (double &number : x)
      number -= mean;
    return x;
  }

  std::vector<SparseMethod> methods()
  {
    std::vector<SparseMethod> result{SparseMethod::dense, SparseMethod::conjugate_gradients};
    if (sparse_method(2000, 2) == SparseMethod::direct)
      result.push_back(SparseMethod::direct);
    if (VertexAmg::is_available())
      result.push_back(SparseMethod::algebraic);
    return result;
  }

  TEST(SparseSolver, Solves)
  {
    constexpr int n = 25;
    for (const bool is_singular : {false, true})
      for (const SparseMethod method : methods())
      {
        SCOPED_TRACE(to_text(method) + (is_singular ? ", singular" : ""));
        const SparseRows a = matrix(n, !is_singular);
        SparseSolver solver(a, method, is_singular);
        const std::vector<double> x = numbers(n * n, 0.37), y = numbers(n * n, 2.1);
        std::vector<double> b = times(a, x), c = y, z, w;
        solver.solve(z, b);
        b = times(a, x);
        for (std::size_t i = 0; i < x.size(); ++i)
          z[i] -= x[i];
        EXPECT_LT(
            std::sqrt(dot(z, z) / dot(x, x)), method == SparseMethod::algebraic ? 0.05 : 1e-8);
        // C is symmetric.
        std::vector<double> of_x = x, of_y = y;
        solver.solve(z, of_x);
        solver.solve(w, of_y);
        EXPECT_NEAR(dot(z, y), dot(x, w), 1e-9 * std::sqrt(dot(z, z) * dot(y, y)));
        if (is_singular)
        {
          // Constants change nothing.
          std::vector<double> moved = y;
          for (double &number : moved)
            number += 3.;
          solver.solve(z, moved);
          for (std::size_t i = 0; i < w.size(); ++i)
            EXPECT_NEAR(z[i], w[i], 1e-8);
        }
      }
  }

  TEST(SparseSolver, SizesChooseTheMethod)
  {
    EXPECT_EQ(sparse_method(1500, 2), SparseMethod::dense);
    EXPECT_NE(sparse_method(1501, 2), SparseMethod::dense);
    if (!VertexAmg::is_available())
      return;
    EXPECT_EQ(sparse_method(20001, 3), SparseMethod::algebraic);
    EXPECT_EQ(sparse_method(200001, 2), SparseMethod::algebraic);
  }
} // namespace
} // namespace tensormg
