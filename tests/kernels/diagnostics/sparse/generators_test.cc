// Generated matrices: the structures they promise, the project's own operator entry by entry, and twins
// with the published fingerprints.
#include "kernels/diagnostics/sparse/generators.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "kernels/diagnostics/sparse/twins.h"
#include "kernels/laplace/laplace.h"
#include "operators/vectors/vector.h"

namespace tensormg
{
namespace
{
  using sparse::Fingerprint;
  using sparse::SparseMatrix;

  template <typename Number>
  void expect_valid(const SparseMatrix<Number> &m)
  {
    ASSERT_EQ(m.row_begin.size(), m.rows + 1);
    ASSERT_EQ(m.row_begin[0], 0);
    ASSERT_EQ(m.column.size(), m.entries());
    ASSERT_EQ(m.value.size(), m.entries());
    for (std::int32_t row = 0; row < m.rows; ++row)
    {
      ASSERT_LE(m.row_begin[row], m.row_begin[row + 1]);
      for (std::int32_t e = m.row_begin[row]; e < m.row_begin[row + 1]; ++e)
      {
        ASSERT_TRUE(m.column[e] >= 0 && m.column[e] < m.columns);
        ASSERT_TRUE(e == m.row_begin[row] || m.column[e] > m.column[e - 1]) << "row " << row;
        ASSERT_TRUE(std::isfinite(m.value[e]) && m.value[e] != Number(0));
      }
    }
  }

  TEST(Generators, AreValidAndAboutAsLargeAsWanted)
  {
    std::set<std::string> names;
    for (const sparse::Generator &generator : sparse::generators())
    {
      SCOPED_TRACE(generator.name);
      EXPECT_TRUE(names.insert(generator.name).second);
      for (const std::int64_t entries : {1, 1000, 300'000})
      {
        const SparseMatrix<double> matrix = generator.make(entries);
        expect_valid(matrix);
        if (entries > 1000)
        {
          EXPECT_NEAR(matrix.entries(), entries, 0.35 * static_cast<double>(entries));
        }
      }
    }
  }

  TEST(Generators, Grids)
  {
    EXPECT_EQ(sparse::grid_matrix(2, false, 10).entries(), 5 * 100 - 4 * 10);
    EXPECT_EQ(sparse::grid_matrix(2, true, 10).entries(), 28 * 28);
    EXPECT_EQ(sparse::grid_matrix(3, false, 10).entries(), 7 * 1000 - 6 * 100);
    EXPECT_EQ(sparse::grid_matrix(3, true, 10).entries(), 28 * 28 * 28);
    const SparseMatrix<double> cross = sparse::grid_matrix(2, false, 3);
    // The point in the middle and its four neighbours.
    EXPECT_EQ(std::vector<std::int32_t>(cross.column.data() + cross.row_begin[4],
                  cross.column.data() + cross.row_begin[5]),
        (std::vector<std::int32_t>{1, 3, 4, 5, 7}));
  }

  TEST(Generators, ElasticityHasTheSizeOfElasticity3D60)
  {
    EXPECT_EQ(sparse::elasticity_matrix(5).entries(), 9 * 13 * 13 * 13);
    EXPECT_EQ(9 * 178 * 178 * 178, 50'757'768); // 60 points: 648000 rows, 50.76 M entries
    EXPECT_EQ(sparse::fingerprint(sparse::elasticity_matrix(6)).longest, 81);
  }

  TEST(Generators, LatticeIsThatOfConf5)
  {
    const Fingerprint lattice = sparse::fingerprint(sparse::lattice_matrix(8));
    EXPECT_EQ(lattice.rows, 49152);
    EXPECT_EQ(lattice.entries, 1916928);
    EXPECT_EQ(lattice.longest, 39);
    EXPECT_EQ(lattice.deviation, 0.);
  }

  TEST(Generators, PowerLawAndCircuitHaveLongRows)
  {
    const Fingerprint links = sparse::fingerprint(sparse::power_law_matrix(14, 200'000));
    EXPECT_GT(links.skew(), 50.);
    EXPECT_GT(links.deviation, 2. * links.mean);
    const SparseMatrix<double> circuit = sparse::circuit_matrix(20'001);
    const Fingerprint nets = sparse::fingerprint(circuit);
    EXPECT_NEAR(nets.mean, 5.5, 0.5);
    EXPECT_GE(nets.longest, 10'000);
    EXPECT_EQ(sparse::empty_rows(circuit), 0);
    std::int64_t in_first_column = 0;
    for (const std::int32_t column : circuit.column)
      in_first_column += column == 0 ? 1 : 0;
    EXPECT_GE(in_first_column, 10'000);
  }

  // The matrix times a vector is the operator, in the other order of the unknowns.
  TEST(Generators, DgMatrixIsTheOperator)
  {
    for (const int degree : {1, 3, 4})
      for (const std::int64_t cells : {1, 2, 3})
      {
        SCOPED_TRACE("degree " + std::to_string(degree) + ", cells " + std::to_string(cells));
        const SparseMatrix<double> matrix = sparse::dg_matrix(degree, cells);
        expect_valid(matrix);
        const Block block(3, degree, {cells, cells, cells});
        const CellBasis basis = make_cell_basis(degree);
        Vector<double> u(block), au(block);
        std::vector<double> x(static_cast<std::size_t>(matrix.rows)), y(x.size());
        const int n = basis.n;
        const auto for_all = [&](auto &&function) {
          std::int64_t row = 0;
          for (std::int64_t cz = 0; cz < cells; ++cz)
            for (std::int64_t cy = 0; cy < cells; ++cy)
              for (std::int64_t cx = 0; cx < cells; ++cx)
                for (int k = 0; k < n; ++k)
                  for (int j = 0; j < n; ++j)
                    for (int i = 0; i < n; ++i)
                      function(static_cast<std::size_t>(row++), block.index(cx, cy, cz, i, j, k));
        };
        for_all([&](std::size_t row, std::int64_t at) {
          x[row] = std::sin(1.3 * static_cast<double>(row) + 0.2);
          u[at] = x[row];
        });
        laplace::Arguments<double> arguments;
        arguments.block = block;
        arguments.basis = &basis;
        arguments.factor = {1., 1., 1.};
        arguments.sides.fill(Side::dirichlet);
        arguments.src = u.data();
        arguments.dst = au.data();
        laplace::select<double>(laplace::Backend::reference, laplace::Form::apply, 3, degree)(
            arguments);
        spmv::reference(matrix.view(), x.data(), y.data());
        double largest = 0.;
        for (const double value : y)
          largest = std::max(largest, std::abs(value));
        for_all([&](std::size_t row, std::int64_t at) {
          ASSERT_NEAR(y[row], au[at], 1e-13 * largest) << row;
        });
      }
  }

  TEST(Generators, DgMatrixStoresOnlyWhatCouples)
  {
    const Fingerprint f = sparse::fingerprint(sparse::dg_matrix(3, 4));
    EXPECT_EQ(f.longest, 25); // 1 + 6 * 4
  }

  TEST(SparseMatrix, FingerprintByHand)
  {
    // Rows {0, 1, 2}, {}, {1, 4}, {2, 3}; five columns.
    const SparseMatrix<double> matrix =
        sparse::build_by_rows(4, 5, [](std::int64_t row, const sparse::Emit &emit) {
          const std::vector<std::vector<int>> columns{{0, 1, 2}, {}, {1, 4}, {2, 3}};
          for (const int column : columns[static_cast<std::size_t>(row)])
            emit(column, 1.);
        });
    const Fingerprint f = sparse::fingerprint(matrix);
    EXPECT_EQ(f.rows, 4);
    EXPECT_EQ(f.entries, 7);
    EXPECT_DOUBLE_EQ(f.mean, 1.75);
    EXPECT_DOUBLE_EQ(f.deviation, std::sqrt((1.5625 + 3.0625 + 2 * 0.0625) / 4.));
    EXPECT_EQ(f.longest, 3);
    EXPECT_DOUBLE_EQ(f.skew(), 1.25 / 1.75);
    EXPECT_DOUBLE_EQ(f.bandwidth, (3. + 4. + 2.) / 3. / 5.);
    EXPECT_DOUBLE_EQ(f.neighbours, 2. * 3. / 7.); // 0-1, 1-2, 2-3
    EXPECT_DOUBLE_EQ(f.similarity, 2. / 7.);      // row {1, 4}: 1 beside 2, 4 beside 3
    EXPECT_EQ(sparse::empty_rows(matrix), 1);
    const SparseMatrix<float> rounded = sparse::convert<float>(matrix);
    expect_valid(rounded);
    EXPECT_EQ(rounded.entries(), 7);
    EXPECT_THROW(sparse::check_size(3'000'000'000, 1, 1), std::length_error);
  }

  TEST(Twins, HaveThePublishedFingerprints)
  {
    ASSERT_EQ(sparse::twins().size(), 21u);
    for (const sparse::Twin &twin : sparse::twins())
    {
      const Fingerprint &f = twin.original;
      EXPECT_NEAR(
          static_cast<double>(f.entries) / static_cast<double>(f.rows), f.mean, 6e-3 * f.mean)
          << twin.name;
      if (f.entries > 5'000'000)
        continue; // takes its time
      SCOPED_TRACE(twin.name);
      const SparseMatrix<double> matrix = twin.make(f);
      expect_valid(matrix);
      const Fingerprint own = sparse::fingerprint(matrix);
      EXPECT_EQ(own.rows, f.rows);
      EXPECT_EQ(own.entries, f.entries);
      EXPECT_EQ(own.longest, f.longest);
      if (!twin.complete)
        continue;
      EXPECT_NEAR(own.deviation, f.deviation, 0.15 * f.deviation);
      EXPECT_NEAR(own.neighbours, f.neighbours, 0.5);
      EXPECT_NEAR(own.similarity, f.similarity, 0.1);
      EXPECT_GT(own.bandwidth, 0.6 * f.bandwidth);
      EXPECT_LT(own.bandwidth, 3. * f.bandwidth);
    }
  }
} // namespace
} // namespace tensormg
