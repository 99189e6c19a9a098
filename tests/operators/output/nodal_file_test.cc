// Arrays of solutions: every number, on any number of ranks, and nothing half-written.
// ranks: 1 2 4
#include "operators/output/nodal_file.h"

#include <array>
#include <csignal>
#include <stdexcept>
#include <system_error>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "kernels/basis/make_cell_basis.h"
#include "operators/data/errors.h"
#include "operators/data/npy_array.h"
#include "tests/support/temporary_directory.h"

namespace tensormg
{
namespace
{
  namespace fs = std::filesystem;

  Problem sample(int dim, int degree, std::array<std::int64_t, 3> cells, int refinements)
  {
    Problem problem;
    problem.dim = dim;
    problem.degree = degree;
    problem.coarse_cells = cells;
    problem.refinements = refinements;
    problem.lower = {-1., 0.5, 2.};
    problem.upper = {1., 1.5, 5.};
    return problem;
  }

  class NodalFile : public testing::Test
  {
  protected:
    void write(const Problem &problem, const std::string &u, const std::string &about = "") const
    {
      const CellBasis basis = make_cell_basis(problem.degree);
      const Grid grid = make_grid(problem, MPI_COMM_WORLD);
      write_nodal_file(grid, basis, project(problem, grid.finest(), basis, u),
          (directory_ / "a.npy").string(), about);
    }
    std::size_t n_files() const
    {
      MPI_Barrier(MPI_COMM_WORLD);
      const auto n = std::distance(fs::directory_iterator(directory_.path()), {});
      MPI_Barrier(MPI_COMM_WORLD);
      return static_cast<std::size_t>(n);
    }

    const test::TemporaryDirectory directory_{MPI_COMM_WORLD};
  };

  TEST_F(NodalFile, HasTheValuesAtTheNodes)
  {
    for (const int dim : {2, 3})
      for (const int degree : {1, 2, 5})
        for (const auto &cells : {std::array<std::int64_t, 3>{1, 1, 1}, {3, 5, 7}, {2, 6, 1}})
        {
          SCOPED_TRACE(
              testing::PrintToString(cells) + std::to_string(dim) + std::to_string(degree));
          const Problem problem = sample(
              dim, degree, {cells[0], cells[1], dim == 3 ? cells[2] : 1}, cells[0] == 3 ? 0 : 1);
          write(problem, dim == 3 ? "x*y*z + 2*z" : "x*y + 2");
          const NpyArray array((directory_ / "a.npy").string());
          EXPECT_EQ(array.shape(), nodal_shape(make_grid(problem, MPI_COMM_SELF)));
          const std::vector<double> nodes = nodes_of_file(degree);
          const auto at = [&](int d, std::int64_t cell, std::size_t node) {
            return problem.lower[d] +
                (static_cast<double>(cell) + nodes[node]) * problem.cell_size(d);
          };
          std::int64_t entry = 0;
          for (std::int64_t cz = 0; cz < problem.cells(2) && (dim == 3 || cz == 0); ++cz)
            for (std::int64_t cy = 0; cy < problem.cells(1); ++cy)
              for (std::int64_t cx = 0; cx < problem.cells(0); ++cx)
                for (std::size_t k = 0; k < (dim == 3 ? nodes.size() : 1); ++k)
                  for (std::size_t j = 0; j < nodes.size(); ++j)
                    for (std::size_t i = 0; i < nodes.size(); ++i)
                    {
                      const double z = dim == 3 ? at(2, cz, k) : 1.;
                      ASSERT_NEAR(array[entry++], at(0, cx, i) * at(1, cy, j) * z + 2. * z, 1e-12);
                    }
          EXPECT_EQ(entry, array.size());
          EXPECT_EQ(n_files(), 1U);
        }
  }

  TEST_F(NodalFile, LongRowsInSeveralParts)
  {
    const Problem problem = sample(2, 3, {20011, 4, 1}, 0);
    write(problem, "x + 100*y");
    const NpyArray array((directory_ / "a.npy").string());
    const double x = -1. + 2. * (20010. + nodes_of_file(3)[3]) / 20011.,
                 y = 0.5 + (3. + nodes_of_file(3)[3]) / 4.;
    EXPECT_NEAR(array[array.size() - 1], x + 100. * y, 1e-10);
  }

  TEST_F(NodalFile, ReplacesAndTakesAwayWhatTellsOfTheOldOne)
  {
    const fs::path about = directory_ / "a.json";
    const Problem problem = sample(2, 1, {4, 4, 1}, 0);
    if (directory_.path() != ".")
      test::write(about, "old");
    MPI_Barrier(MPI_COMM_WORLD);
    write(problem, "1", about.string());
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_FALSE(fs::exists(about));
    write(problem, "3");
    EXPECT_NEAR(NpyArray((directory_ / "a.npy").string())[5], 3., 1e-14);
  }

  TEST_F(NodalFile, MissingFolder)
  {
    const Problem problem = sample(2, 1, {4, 4, 1}, 0);
    const CellBasis basis = make_cell_basis(1);
    const Grid grid = make_grid(problem, MPI_COMM_WORLD);
    const std::string path = (directory_ / "missing" / "a.npy").string();
    try
    {
      write_nodal_file(grid, basis, Vector<double>(grid.finest().block), path);
      FAIL() << "no exception";
    }
    catch (const std::runtime_error &error)
    {
      EXPECT_NE(std::string(error.what()).find("cannot write " + path + ": No such file"),
          std::string::npos)
          << error.what();
    }
  }

  TEST_F(NodalFile, AFullDiskOfOneRankIsThatOfAll)
  {
    const fs::path about = directory_ / "a.json";
    int rank = 0, n_ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    if (rank == 0)
      test::write(about, "of the old one");
    MPI_Barrier(MPI_COMM_WORLD);
    const bool limited = rank == n_ranks - 1;
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const auto previous = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{1000, before.rlim_max};
    if (limited)
      setrlimit(RLIMIT_FSIZE, &small);
    std::string message;
    try
    {
      write(sample(3, 2, {4, 4, 4}, 0), "x", about.string());
    }
    catch (const std::runtime_error &error)
    {
      message = error.what();
    }
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, previous);
    EXPECT_NE(message.find("File too large"), std::string::npos) << message;
    EXPECT_EQ(n_files(), 1U);
    EXPECT_TRUE(fs::exists(about)) << "what it tells of is still there";
  }
} // namespace
} // namespace tensormg
