// Solution files: what is written, what is refused, and that nothing half-written stays. Their
// contents are read back by vtu_reread_test.py, which runs WritesSamples.
// ranks: 1 3
#include "operators/output/field_output.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>

#include <mpi.h>
#include <sys/resource.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "kernels/basis/make_cell_basis.h"
#include "operators/data/errors.h"
#include "tests/support/temporary_directory.h"

namespace
{
using namespace tensormg;
namespace fs = std::filesystem;

/// A folder that all ranks share, removed at the end.
class FieldOutput : public testing::Test
{
protected:
  void SetUp() override
  {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks_);
    char name[256] = {};
    if (rank_ == 0)
    {
      const std::string pattern = (fs::temp_directory_path() / "field_output_XXXXXX").string();
      ASSERT_LT(pattern.size(), sizeof(name));
      pattern.copy(name, pattern.size());
      ASSERT_NE(mkdtemp(name), nullptr);
    }
    MPI_Bcast(name, sizeof(name), MPI_CHAR, 0, MPI_COMM_WORLD);
    folder_ = name;
  }
  void TearDown() override
  {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_ == 0)
      fs::remove_all(folder_);
  }

  std::size_t n_files() const
  {
    MPI_Barrier(MPI_COMM_WORLD);
    const std::size_t n = std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
    MPI_Barrier(MPI_COMM_WORLD);
    return n;
  }

  int rank_ = 0;
  int n_ranks_ = 1;
  fs::path folder_;
};

/// A polynomial that the elements represent, so that every point of the file has a known value.
Problem sample(int dim, int degree)
{
  Problem problem;
  problem.dim = dim;
  problem.degree = degree;
  problem.lower = {-1., 0., 2.};
  problem.upper = {1., 0.5, 3.};
  problem.coarse_cells = {3, 4, dim == 3 ? 2 : 1};
  problem.refinements = 1;
  problem.exact_solution = dim == 2 ? "x*(1+y)+1" : "x*(1+y)*z+1";
  if (degree > 1)
    problem.exact_solution += "+y^2-x^2*y";
  return problem;
}

std::string write(const Problem &problem, const fs::path &base, const FieldOutputOptions &options,
    const std::string &solution)
{
  const CellBasis basis = make_cell_basis(problem.degree);
  const Grid grid = make_grid(problem, MPI_COMM_WORLD);
  const Vector<double> u = project(problem, grid.finest(), basis, solution);
  return write_field_output(grid, basis, u, base.string(), options).path;
}

TEST_F(FieldOutput, WritesSamples)
{
  const char *folder = std::getenv("TENSORMG_SAMPLE_FOLDER");
  const fs::path target = folder != nullptr ? fs::path(folder) : folder_;
  for (const int dim : {2, 3})
    for (const int degree : {1, 2, 3, 5})
      for (const bool high_order : {true, false})
      {
        const Problem problem = sample(dim, degree);
        const std::string base = std::to_string(dim) + "d_p" + std::to_string(degree) +
            (high_order ? "_lagrange" : "_subdivided");
        FieldOutputOptions options;
        options.high_order = high_order;
        if (degree == 2)
        {
          options.field = {"a<b> \"c\" & d", "K"};
          options.gradient = options.flux = true;
          options.converged = false;
        }
        const std::string path =
            write(problem, target / base, options, problem.exact_solution + "+0.25");
        EXPECT_EQ(path, (target / base).string() + (n_ranks_ == 1 ? ".vtu" : ".pvtu"));
        EXPECT_TRUE(fs::exists(path));
        if (degree != 3)
          continue;
        options.lower = {-0.4, 0.1, 2.3};
        options.upper = {0.3, 0.2, 2.6};
        write(problem, target / (base + "_part"), options, problem.exact_solution + "+0.25");
      }
  if (folder == nullptr)
  {
    EXPECT_EQ(n_files(), 20u * (n_ranks_ == 1 ? 1 : n_ranks_ + 1)); // no temporary ones
  }
}

TEST_F(FieldOutput, IsReproducibleAndReplaces)
{
  const Problem problem = sample(2, 3);
  const auto content = [](const std::string &path) {
    std::ifstream in(path);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const std::string first = content(write(problem, folder_ / "a", {}, "x"));
  EXPECT_FALSE(first.empty());
  const std::string path = write(problem, folder_ / "a", {}, "x");
  EXPECT_TRUE(content(path) == first);
  MPI_Barrier(MPI_COMM_WORLD);
  write(problem, folder_ / "a", {}, "y");
  const std::string piece =
      n_ranks_ == 1 ? path : (folder_ / ("a.000" + std::to_string(rank_) + ".vtu")).string();
  EXPECT_TRUE(content(piece) != first);
}

TEST_F(FieldOutput, HasNoDate)
{
  const std::string text = test::content(write(sample(2, 1), folder_ / "a", {}, "x"));
  EXPECT_NE(text.find("<!-- solution written by tensormg -->"), std::string::npos) << text;
}

TEST_F(FieldOutput, RemovesWhatOtherNumbersOfRanksLeft)
{
  const std::string generated = "<!-- solution written by tensormg -->\n";
  const std::vector<std::string> stale = {
      "a.pvtu", "a.vtu", "a.0000.vtu", "a.0007.vtu", "a.12345.vtu"};
  const std::vector<std::string> others = {"a.0008.vtu", "a.12.vtu", "a.00x1.vtu", "b.0007.vtu",
      "ba.0007.vtu", "a.b.0007.vtu", "a.0007.vtu.bak", "a.csv"};
  if (rank_ == 0)
  {
    for (const std::string &name : stale)
      test::write(folder_ / name, generated);
    for (const std::string &name : others)
      test::write(folder_ / name, name == "a.0008.vtu" ? "somebody else's" : generated);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  write(sample(2, 1), folder_ / "a", {}, "x");
  const std::size_t written = n_ranks_ == 1 ? 1 : n_ranks_ + 1;
  EXPECT_EQ(n_files(), others.size() + written);
  for (const std::string &name : others)
    EXPECT_TRUE(fs::exists(folder_ / name)) << name;
  EXPECT_EQ(fs::exists(folder_ / "a.vtu"), n_ranks_ == 1);
  EXPECT_EQ(fs::exists(folder_ / "a.pvtu"), n_ranks_ > 1);
  EXPECT_FALSE(fs::exists(folder_ / "a.0007.vtu"));
}

TEST_F(FieldOutput, RefusesLargeMeshes)
{
  const CellBasis basis = make_cell_basis(2);
  const Grid grid = make_grid(sample(3, 2), MPI_COMM_WORLD); // 6 * 8 * 4 cells
  FieldOutputOptions options;
  EXPECT_FALSE(refuse_output(grid, options).has_value());
  options.max_cells = 192;
  EXPECT_FALSE(refuse_output(grid, options).has_value());
  options.max_cells = 191;
  const std::string reason = refuse_output(grid, options).value_or("");
  EXPECT_NE(reason.find("192 cells"), std::string::npos) << reason;
  EXPECT_NE(reason.find("limit is 191"), std::string::npos) << reason;
  const Vector<double> u(grid.finest().block);
  EXPECT_THROW(write_field_output(grid, basis, u, folder_ / "a", options), std::invalid_argument);
  EXPECT_EQ(n_files(), 0u);
}

TEST_F(FieldOutput, CellsOfAPart)
{
  const Grid grid =
      make_grid(sample(3, 1), MPI_COMM_WORLD); // 6 * 8 * 4 cells in (-1, 0, 2) to (1, 0.5, 3)
  FieldOutputOptions options;
  EXPECT_EQ(n_output_cells(grid, options), 192);
  options.upper[0] = 0.;
  EXPECT_EQ(n_output_cells(grid, options), 3 * 8 * 4);
  options.upper[0] = 1e-3;
  EXPECT_EQ(n_output_cells(grid, options), 4 * 8 * 4);
  options.lower = {-1. / 3. + 1e-12, 0.4999, 2.5}; // the side of a cell, up to rounding
  options.upper[2] = 100.;
  EXPECT_EQ(n_output_cells(grid, options), 2 * 1 * 2);
  options.max_cells = 4;
  EXPECT_FALSE(refuse_output(grid, options).has_value());
  options.max_cells = 3;
  EXPECT_TRUE(refuse_output(grid, options).has_value());
  const Grid flat = make_grid(sample(2, 1), MPI_COMM_WORLD);
  EXPECT_EQ(n_output_cells(flat, options), 2 * 1);
}

TEST_F(FieldOutput, MissingFolder)
{
  const std::string base = folder_ / "missing" / "a";
  try
  {
    write(sample(2, 2), base, {}, "x");
    FAIL() << "no exception";
  }
  catch (const std::system_error &error)
  {
    const std::string message = error.what();
    EXPECT_EQ(message.find("cannot write " + base), 0u) << message;
    EXPECT_NE(message.find("No such file or directory"), std::string::npos) << message;
  }
}

TEST_F(FieldOutput, FullDisk)
{
  // A limit on the size of files fails in the middle of writing, like a full disk. Of several
  // ranks only the last one hits it, and all of them have to notice.
  const bool limited = rank_ == n_ranks_ - 1;
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto previous = std::signal(SIGXFSZ, SIG_IGN);
  if (limited)
  {
    const rlimit small{1000, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
  }
  std::string message;
  bool own = false;
  try
  {
    write(sample(3, 3), folder_ / "a", {}, "x");
  }
  catch (const std::system_error &error)
  {
    own = true;
    message = error.what();
  }
  catch (const std::runtime_error &error)
  {
    message = error.what();
  }
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, previous);

  EXPECT_EQ(own, limited);
  EXPECT_NE(message.find(limited ? "File too large" : "rank " + std::to_string(n_ranks_ - 1)),
      std::string::npos)
      << message;
  EXPECT_FALSE(fs::exists(folder_ / "a.pvtu"));
  EXPECT_EQ(n_files(), 0U); // not even the pieces that are complete
}
} // namespace
