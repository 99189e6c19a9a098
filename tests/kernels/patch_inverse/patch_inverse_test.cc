// The local inverse without a GPU: the reference against the dense matrix that it diagonalises, the
// pseudo-inverse, and that it inverts the nodal operator of the same one-dimensional matrices.
#include "kernels/patch_inverse/patch_inverse.h"

#include <cmath>

#include <gtest/gtest.h>

#include "kernels/diagnostics/nodal/nodal.h"
#include "tests/support/tensor_batches.h"

namespace tensormg
{
namespace
{
  using patch_inverse::Backend;
  using patch_inverse::Factors;
  using test::SquareMatrix;

  std::vector<double> apply(
      const test::BatchCase &c, const Factors &factors, const std::vector<double> &b, bool add)
  {
    const auto kernel = patch_inverse::select<double>({Backend::reference}, c.batch.dim, c.batch.n);
    const std::vector<std::byte> tables = kernel.pack(factors, c.batch.n);
    std::vector<double> x(b.size(), 100.);
    kernel.apply({c.batch, tables.data(), b.data(), x.data(), add, nullptr});
    return x;
  }

  TEST(PatchInverseReference, IsTheProductOfItsFactors)
  {
    for (const test::BatchCase &c : {test::cell_case(2, 2, 3), test::cell_case(3, 1, 5),
             test::patch_case(2, 1, {4, 5, 1}, {0, 1, 0}),
             test::patch_case(3, 1, {2, 3, 5}, {0, 1, 1})})
    {
      SCOPED_TRACE(c.name);
      const Factors factors = test::random_factors<Factors>(c.batch);
      const std::vector<double> b = test::random_numbers(c.vector_size, 1);
      const std::vector<double> found = apply(c, factors, b, true);
      std::vector<double> expected(b.size(), 100.);
      test::for_each_tensor(c.batch, [&](const auto &which, const auto &positions) {
        const int n = c.batch.n;
        SquareMatrix q(1, {1.}), values(1, {0.});
        for (int d = 0; d < c.batch.dim; ++d)
        {
          const auto &line = factors[d][static_cast<int>(c.batch.end(d, which[d]))];
          SquareMatrix one(n), identity(values.n), diagonal(n);
          for (int i = 0; i < n; ++i)
          {
            one(i, i) = 1.;
            diagonal(i, i) = line.values[i];
          }
          for (int i = 0; i < values.n; ++i)
            identity(i, i) = 1.;
          values = test::add(test::kronecker(one, values), test::kronecker(diagonal, identity));
          q = test::kronecker(SquareMatrix(n, line.vectors), q);
        }
        for (int i = 0; i < q.n; ++i)
          for (int j = 0; j < q.n; ++j)
          {
            double sum = 0.;
            for (int k = 0; k < q.n; ++k)
              sum += q(i, k) / values(k, k) * q(j, k);
            expected[positions[i]] += sum * b[positions[j]];
          }
      });
      for (std::size_t i = 0; i < b.size(); ++i)
        EXPECT_NEAR(found[i], expected[i], 1e-12);
    }
  }

  TEST(PatchInverseReference, LeavesOutWhatIsSingular)
  {
    const test::BatchCase c = test::cell_case(2, 1, 1);
    Factors factors;
    for (int d = 0; d < 2; ++d)
      factors[d][0] = {{1., 0., 0., 1.}, {0., 2.}};
    const std::vector<double> x = apply(c, factors, {1., 2., 4., 8.}, false);
    EXPECT_EQ(x, (std::vector<double>{0., 1., 2., 2.}));
  }

  // M = 1, S = Q l Q' with Q orthogonal.
  TEST(PatchInverseReference, InvertsTheNodalOperator)
  {
    const test::BatchCase c = test::cell_case(3, 3, 4);
    const int n = c.batch.n;
    Factors factors;
    nodal::Matrices matrices;
    for (int d = 0; d < 3; ++d)
    {
      auto &line = factors[d][0];
      line.vectors.resize(n * n);
      line.values.resize(n);
      auto &matrix = matrices[d][0];
      matrix.mass.assign(n * n, 0.);
      matrix.stiffness.assign(n * n, 0.);
      for (int i = 0; i < n; ++i)
      {
        matrix.mass[i * n + i] = 1.;
        line.values[i] = 1. + i + d;
        for (int k = 0; k < n; ++k) // the cosines are orthogonal
          line.vectors[i * n + k] =
              std::sqrt((k == 0 ? 1. : 2.) / n) * std::cos(M_PI * (i + .5) * k / n);
      }
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
          for (int k = 0; k < n; ++k)
            matrix.stiffness[i * n + j] +=
                line.vectors[i * n + k] * line.values[k] * line.vectors[j * n + k];
    }
    const std::vector<double> b = test::random_numbers(c.vector_size, 1);
    const std::vector<double> x = apply(c, factors, b, false);
    const auto kernel = nodal::select<double>({}, 3, n);
    const std::vector<std::byte> tables = kernel.pack(matrices, n);
    std::vector<double> found(b.size());
    kernel.apply({c.batch, tables.data(), x.data(), found.data(), false, nullptr});
    for (std::size_t i = 0; i < b.size(); ++i)
      EXPECT_NEAR(found[i], b[i], 1e-13);
  }

  TEST(PatchInverseTable, SaysWhatThereIs)
  {
    const auto message_of = [](const patch_inverse::Variant &variant, int n) -> std::string {
      try
      {
        patch_inverse::select<float>(variant, 3, n);
      }
      catch (const std::exception &error)
      {
        return error.what();
      }
      return "";
    };
    EXPECT_EQ(message_of({Backend::reference}, 18), "");
    EXPECT_NE(
        message_of({Backend::reference}, 17).find("there are reference fp64"), std::string::npos);
    EXPECT_NE(message_of({Backend::mma, tensor::Arithmetic::fp64}, 8).find("mma 3xtf32"),
        std::string::npos);
    EXPECT_EQ(message_of({Backend::mma, tensor::Arithmetic::tf32}, 8).empty(), device_count() > 0);
    const auto kernel = patch_inverse::select<double>({Backend::reference}, 3, 4);
    const tensor::Batch cells = tensor::make_cell_batch(3, 2, 1);
    EXPECT_THROW(kernel.pack(test::random_factors<Factors>(cells), 4), std::invalid_argument);
  }
} // namespace
} // namespace tensormg
