#include "operators/cellwise/sparse_solver.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include <deal.II/base/config.h>
#ifdef DEAL_II_WITH_UMFPACK
#include <deal.II/lac/dynamic_sparsity_pattern.h>
#include <deal.II/lac/sparse_direct.h>
#include <deal.II/lac/sparse_matrix.h>
#include <deal.II/lac/sparsity_pattern.h>
#include <deal.II/lac/vector.h>
#endif

#include "operators/cellwise/dense_level.h"

namespace tensormg
{
namespace
{
  /// With two of them, multigrid needs at most two iterations more than with an exact solution (measured up to 360 000 vertices); with one,
  /// five.
  constexpr int v_cycles = 2;

  double mean_of(const std::vector<double> &x)
  {
    return std::accumulate(x.begin(), x.end(), 0.) / static_cast<double>(x.size());
  }
  void subtract_mean(std::vector<double> &x)
  {
    const double subtrahend = mean_of(x);
    for (double &number : x)
      number -= subtrahend;
  }
  double dot(const std::vector<double> &x, const std::vector<double> &y)
  {
    return std::inner_product(x.begin(), x.end(), y.begin(), 0.);
  }

  /// With 1 more of the diagonal at the first unknown: a right-hand side without mean has the solution with zero there, and all others come
  /// from it by adding constants.
  void ground(SparseRows &matrix)
  {
    for (std::int64_t e = 0; e < matrix.begin[1]; ++e)
      if (matrix.columns[static_cast<std::size_t>(e)] == 0)
      {
        matrix.values[static_cast<std::size_t>(e)] *= 2.;
        return;
      }
  }
} // namespace

#ifdef DEAL_II_WITH_UMFPACK
namespace
{
  constexpr bool has_direct = true;
}
struct SparseSolver::Direct
{
  explicit Direct(const SparseRows &rows)
    : b(static_cast<unsigned>(rows.rows()))
  {
    const auto size = static_cast<unsigned>(rows.rows());
    dealii::DynamicSparsityPattern places(size, size);
    const auto for_entries = [&](const auto &use) {
      for (unsigned row = 0; row < size; ++row)
        for (std::int64_t e = rows.begin[row]; e < rows.begin[row + 1]; ++e)
          use(row, static_cast<unsigned>(rows.columns[static_cast<std::size_t>(e)]),
              rows.values[static_cast<std::size_t>(e)]);
    };
    for_entries([&](unsigned row, unsigned column, double) { places.add(row, column); });
    dealii::SparsityPattern pattern;
    pattern.copy_from(places);
    dealii::SparseMatrix<double> matrix(pattern);
    for_entries(
        [&](unsigned row, unsigned column, double value) { matrix.add(row, column, value); });
    try
    {
      factors.factorize(matrix);
    }
    catch (const dealii::ExceptionBase &error)
    {
      throw std::runtime_error(
          std::string("UMFPACK cannot factorise the matrix on the vertices of the mesh: ") +
          error.what());
    }
  }

  void solve(std::vector<double> &x, const std::vector<double> &from)
  {
    std::copy(from.begin(), from.end(), b.begin());
    factors.solve(b);
    x.assign(b.begin(), b.end());
  }

  dealii::SparseDirectUMFPACK factors;
  dealii::Vector<double> b;
};
#else
namespace
{
  constexpr bool has_direct = false;
}
struct SparseSolver::Direct
{
  explicit Direct(const SparseRows &)
  {
    throw std::logic_error("deal.II has been built without UMFPACK");
  }
  void solve(std::vector<double> &, const std::vector<double> &) {}
};
#endif

std::string to_text(SparseMethod method)
{
  switch (method)
  {
    case SparseMethod::dense:
      return "dense direct solver";
    case SparseMethod::direct:
      return "sparse direct solver";
    case SparseMethod::algebraic:
      return "algebraic multigrid";
    default:
      return "conjugate gradients";
  }
}

SparseMethod sparse_method(std::int64_t unknowns, int dim)
{
  // Where factors take as long as V-cycles, which depend on the matrix, and less than 400 MB.
  const std::int64_t most_direct = dim == 3 ? 20000 : 200000;
  if (unknowns <= DenseLevel::most_unknowns)
    return SparseMethod::dense;
  if (has_direct && (unknowns <= most_direct || !VertexAmg::is_available()))
    return SparseMethod::direct;
  return VertexAmg::is_available() ? SparseMethod::algebraic : SparseMethod::conjugate_gradients;
}

SparseSolver::SparseSolver(
    SparseRows matrix, SparseMethod method, bool is_singular, bool coefficients_jump)
  : method_(method)
  , is_singular_(is_singular)
  , coefficients_jump_(coefficients_jump)
{
  const auto size = static_cast<std::size_t>(matrix.rows());
  if (is_singular && (method == SparseMethod::dense || method == SparseMethod::direct))
    ground(matrix);
  if (method == SparseMethod::dense)
  {
    std::vector<double> dense(size * size, 0.);
    for (std::size_t row = 0; row < size; ++row)
      for (std::int64_t e = matrix.begin[row]; e < matrix.begin[row + 1]; ++e)
        dense[static_cast<std::size_t>(matrix.columns[static_cast<std::size_t>(e)]) * size + row] +=
            matrix.values[static_cast<std::size_t>(e)];
    factor_ = Cholesky(std::move(dense), "the matrix on the vertices of the mesh");
  }
  else if (method == SparseMethod::direct)
    direct_ = std::make_unique<Direct>(matrix);
  else if (method == SparseMethod::algebraic)
    amg_.emplace(matrix, is_singular);
  else
  {
    inverse_diagonal_.assign(size, 0.);
    for (std::size_t row = 0; row < size; ++row)
      for (std::int64_t e = matrix.begin[row]; e < matrix.begin[row + 1]; ++e)
        if (matrix.columns[static_cast<std::size_t>(e)] == static_cast<std::int32_t>(row))
          inverse_diagonal_[row] += matrix.values[static_cast<std::size_t>(e)];
    for (double &entry : inverse_diagonal_)
      entry = 1. / entry;
    matrix_ = std::move(matrix);
  }
}

SparseSolver::~SparseSolver() = default;
SparseSolver::SparseSolver(SparseSolver &&) noexcept = default;
SparseSolver &SparseSolver::operator=(SparseSolver &&) noexcept = default;

void SparseSolver::solve(std::vector<double> &x, std::vector<double> &b)
{
  if (is_singular_)
    subtract_mean(b);
  switch (method_)
  {
    case SparseMethod::dense:
      factor_.solve(b);
      x.swap(b);
      break;
    case SparseMethod::direct:
      direct_->solve(x, b);
      break;
    case SparseMethod::algebraic:
      if (coefficients_jump_)
        amg_->solve(x, b);
      else
        amg_->cycles(x, b, v_cycles);
      break;
    default:
      iterate(x, b);
  }
  if (is_singular_)
    subtract_mean(x);
}

/// So accurate that it is a fixed linear function for those who use it.
void SparseSolver::iterate(std::vector<double> &x, std::vector<double> &b) const
{
  constexpr int most_steps = 5000;
  constexpr double accuracy = 1e-10;
  const std::size_t size = b.size();
  std::vector<double> z(size), p(size, 0.), q(size);
  x.assign(size, 0.);
  double first = 0., before = 1.;
  for (int step = 0; step < most_steps; ++step)
  {
    for (std::size_t i = 0; i < size; ++i)
      z[i] = inverse_diagonal_[i] * b[i];
    const double rho = dot(z, b);
    first = step == 0 ? rho : first;
    if (!(rho > accuracy * accuracy * first))
      return;
    for (std::size_t i = 0; i < size; ++i)
      p[i] = z[i] + (step == 0 ? 0. : rho / before * p[i]);
    before = rho;
    for (std::size_t row = 0; row < size; ++row)
    {
      q[row] = 0.;
      for (std::int64_t e = matrix_.begin[row]; e < matrix_.begin[row + 1]; ++e)
        q[row] += matrix_.values[static_cast<std::size_t>(e)] *
            p[static_cast<std::size_t>(matrix_.columns[static_cast<std::size_t>(e)])];
    }
    const double alpha = rho / dot(p, q);
    for (std::size_t i = 0; i < size; ++i)
    {
      x[i] += alpha * p[i];
      b[i] -= alpha * q[i];
    }
  }
}

double SparseSolver::bytes(std::int64_t unknowns, int dim)
{
  const auto n = static_cast<double>(unknowns);
  switch (sparse_method(unknowns, dim))
  {
    case SparseMethod::dense:
      return 8. * n * n;
    case SparseMethod::direct:
      return dim == 3 ? 500. * std::pow(n, 4. / 3.) : 100. * n * std::log2(n); // measured
    default:
      return VertexAmg::bytes_per_vertex() * n;
  }
}
} // namespace tensormg
