// Coefficient, reaction and materials: every way to write them, that they are read back, and what is refused.
#include <cstring>
#include <sstream>

#include <gtest/gtest.h>

#include "apps/parameters/parameters.h"
#include "apps/solve/solve.h"
#include "operators/data/functions.h"
#include "operators/data/npy_array.h"
#include "tests/support/parameter_files.h"
#include "tests/support/temporary_directory.h"

namespace tensormg
{
namespace
{
  using Parts = std::vector<std::string>;

  class Coefficients : public testing::Test
  {
  protected:
    /// An array of the shape (2, 3) with this type.
    template <typename Number>
    void put(const std::string &name, const std::string &type, const std::vector<Number> &numbers,
        const std::string &order = "False") const
    {
      std::string head =
          "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': (2, 3), }\n";
      std::string bytes(numbers.size() * sizeof(Number), '\0');
      std::memcpy(bytes.data(), numbers.data(), bytes.size());
      std::string text = std::string("\x93NUMPY\1\0", 8) + static_cast<char>(head.size()) + '\0';
      test::write(directory_ / name, text + head + bytes);
    }
    void put_numbers(const std::vector<double> &numbers) const { put("k.npy", "<f8", numbers); }
    void put_labels() const { put("m.npy", "|u1", std::vector<std::uint8_t>{0, 1, 7, 7, 1, 0}); }
    /// A box of 6 x 4 cells; the array's voxels have 2 x 2 cells each.
    Parameters read(const Parts &overrides) const
    {
      Parts all{"problem.dimension=2", "problem.coarse_cells=3,2", "problem.refinements=1",
          "problem.degree=1", "output.write_vtu=false",
          "output.directory=" + directory_.path().string() + "/out"};
      all.insert(all.end(), overrides.begin(), overrides.end());
      return default_parameters(all);
    }
    std::string field(const std::string &name) const
    {
      return "problem.fields=" + name.substr(0, 1) + " = " + (directory_ / name).string();
    }
    void expect_refused(const Parts &overrides, const Parts &parts) const
    {
      SCOPED_TRACE(parts.front());
      expect_message([&] { read(overrides); }, parts);
    }
    /// By the evaluation in all cells, with which a run begins.
    void expect_run_refused(const Parts &overrides, const Parts &parts) const
    {
      SCOPED_TRACE(parts.front());
      Console console = Console::silent(MPI_COMM_SELF);
      expect_message([&] { dry_run_solve(read(overrides), MPI_COMM_SELF, console); }, parts);
    }

    const test::TemporaryDirectory directory_;
  };

  std::array<std::string, 3> parts_of(const Parameters &p) { return p.problem.cell_coefficient; }
  using Texts = std::array<std::string, 3>;

  TEST_F(Coefficients, AreNumbersExpressionsOrFields)
  {
    EXPECT_EQ(read({"problem.coefficient=2.5"}).problem.coefficient, 2.5);
    EXPECT_FALSE(read({"problem.coefficient=2.5"}).problem.is_cellwise());
    EXPECT_EQ(parts_of(read({"problem.coefficient=if(x<0.5,1,2)"})), (Texts{"if(x<0.5,1,2)"}));
    EXPECT_EQ(
        parts_of(read({"problem.coefficient= 1 ;k", "problem.constants=k=2"})), (Texts{"1", "k"}));
    EXPECT_EQ(parts_of(default_parameters({"problem.coefficient=1;2;3"})), (Texts{"1", "2", "3"}));
    put_numbers({1., 2., 3., 4., 5., 6.});
    const Parameters p = read({field("k.npy"), "problem.coefficient=k"});
    EXPECT_EQ(scalar_function(p.problem, p.problem.cell_coefficient[0]).value(0.9, 0.1), 3.);
    EXPECT_EQ(p.problem.voxels.at("k"), (std::array<std::int64_t, 3>{3, 2, 1}));
  }

  TEST_F(Coefficients, ReactionOfZeroIsNone)
  {
    for (const char *none : {"", "0", "0.0"})
      EXPECT_FALSE(read({std::string("problem.reaction=") + none}).problem.is_cellwise());
    const Parameters p = read({"problem.reaction=3", "boundary.left=neumann",
        "boundary.right=neumann", "boundary.front=neumann", "boundary.back=neumann"});
    EXPECT_EQ(p.problem.reaction, "3");
    EXPECT_FALSE(p.problem.is_singular());
  }

  TEST_F(Coefficients, OfRobinSides)
  {
    const Parts robin{"boundary.left=robin", "boundary.left_robin_coefficient=if(y<0.5,1,2)",
        "boundary.left_value=3*y"};
    const auto with = [&](const std::string &more) {
      Parts all = robin;
      all.push_back(more);
      return all;
    };
    const Parameters p = read(robin);
    for (const ParameterFormat format : {ParameterFormat::prm, ParameterFormat::json})
    {
      std::ostringstream text;
      print_parameters(p, text, format);
      const TemporaryFile file(format == ParameterFormat::prm ? "a.prm" : "a.json", text.str());
      const Problem again = read_parameters(file.path()).problem;
      EXPECT_EQ(again.boundary[0], BoundaryKind::robin);
      EXPECT_EQ(again.robin_coefficient[0], "if(y<0.5,1,2)");
      EXPECT_EQ(again.boundary_value[0], "3*y");
    }
    expect_refused(with("solver.solver=direct"),
        {"boundary.left = robin", "neither reaction nor robin sides", "or no robin side"});
    expect_refused(
        with("multigrid.smoother=patch"), {"patches need equal cells with one coefficient"});
    expect_refused(with("boundary.left_robin_coefficient=1/0"),
        {"boundary.left_robin_coefficient = '1/0'", "values >= 0 and finite"});
    expect_run_refused(with("boundary.left_robin_coefficient=y-0.5"),
        {"boundary.left_robin_coefficient = 'y-0.5' is -0.375, allowed: >= 0,",
            "on the face at (0, 0.125)"});
    expect_run_refused(with("boundary.left_robin_coefficient=1+y"), {"near a corner"});
    Console console = Console::silent(MPI_COMM_SELF);
    EXPECT_NO_THROW(dry_run_solve(read(robin), MPI_COMM_SELF, console));
  }

  TEST_F(Coefficients, LabelsAreMaterials)
  {
    put_labels();
    const Parameters p =
        read({field("m.npy"), "problem.coefficient=m", "problem.materials=0: 1.2, 1: 45, 7: 0.3"});
    const ScalarFunction k = scalar_function(p.problem, "m");
    EXPECT_EQ(k.value(0.1, 0.1), 1.2);
    EXPECT_EQ(k.value(0.5, 0.1), 45.);
    EXPECT_EQ(k.value(0.1, 0.9), 0.3);
    EXPECT_EQ(p.fields.at("m").labels, "uint8");
  }

  TEST_F(Coefficients, AreReadBack)
  {
    put_labels();
    const Parameters p = read({field("m.npy"), "problem.coefficient=m; if(y<0.5,1,2)",
        "problem.materials=7:0.3,0:1.2, 1 : 45", "problem.reaction=if(x<0.5,0,1)",
        "problem.coefficient_in_cell=mean"});
    for (const ParameterFormat format : {ParameterFormat::prm, ParameterFormat::json})
    {
      std::ostringstream text;
      print_parameters(p, text, format);
      const TemporaryFile file(format == ParameterFormat::prm ? "a.prm" : "a.json", text.str());
      const Parameters again = read_parameters(file.path());
      EXPECT_EQ(parts_of(again), (Texts{"m", "if(y<0.5,1,2)"}));
      EXPECT_EQ(again.materials, p.materials);
      EXPECT_EQ(again.problem.reaction, p.problem.reaction);
      EXPECT_EQ(again.problem.coefficient_in_cell, InCell::mean);
    }
    const TemporaryFile json("a.json", R"({"problem": {"dimension": 2, "coefficient": [1, "2"]}})");
    EXPECT_EQ(parts_of(read_parameters(json.path())), (Texts{"1", "2"}));
  }

  TEST_F(Coefficients, WrongTexts)
  {
    expect_refused({"problem.coefficient="}, {"problem.coefficient = '' is empty"});
    expect_refused({"problem.coefficient=1;2;3"}, {"a full tensor needs cells with points"});
    expect_refused({"problem.coefficient=x;"}, {"has an empty entry", "separated by semicolons"});
    expect_refused({"problem.coefficient=sin("},
        {"--set problem.coefficient = 'sin(' cannot be parsed",
            "allowed: a number, an expression"});
    expect_refused({"problem.coefficient=1/0"}, {"problem.coefficient = '1/0' is infinite"});
    expect_refused({"problem.reaction=w"}, {"problem.reaction = 'w' cannot be parsed", ">= 0"});
    expect_refused(
        {"problem.coefficient_in_cell=average"}, {"'average'", "allowed: constant, mean"});
    const std::string allowed = "allowed: a list label: number, ...";
    expect_refused({"problem.materials=1"}, {"has the entry '1'", allowed});
    expect_refused({"problem.materials=a: 1"}, {"has the entry 'a: 1'", allowed});
    expect_refused({"problem.materials=1: b"}, {"has the entry '1: b'", allowed});
    expect_refused(
        {"problem.materials=1: 0"}, {"the label 1 the value '0', which is out of range"});
    expect_refused({"problem.materials=1: 2, 1: 3"}, {"gives the label 1 twice", allowed});
    const TemporaryFile file(
        "a.prm", "subsection problem\n set dimension = 2\n set coefficient = 1+w\nend\n");
    expect_message([&] { read_parameters(file.path()); },
        {file.path() + ":3: problem.coefficient = '1+w' cannot be parsed"});
  }

  TEST_F(Coefficients, Contradictions)
  {
    expect_refused({"problem.coefficient=if(x<0.5,1,2)", "solver.solver=direct"},
        {"solver.solver = direct, problem.coefficient = if(x<0.5,1,2)",
            "fgmres or cg, or a number"});
    expect_refused({"problem.reaction=1", "solver.solver=direct"},
        {"problem.reaction = 1", "fgmres or cg, or no reaction"});
    expect_refused({"problem.coefficient=if(x<0.5,1,2)", "multigrid.smoother=patch"},
        {"multigrid.smoother = patch", "smoother = chebyshev or jacobi"});
    put_labels();
    expect_refused({field("m.npy"), "problem.coefficient=m"},
        {"problem.coefficient = m", "the field m has labels (uint8)", "materials = label: number"});
    expect_refused(
        {field("m.npy"), "problem.materials=0: 1"}, {"no coefficient is a field of labels"});
    expect_refused({field("m.npy"), "problem.right_hand_side=m"},
        {"problem.right_hand_side = 'm' has labels (uint8), which only a coefficient may have"});
    expect_refused({field("m.npy"), "problem.reaction=m"}, {"problem.reaction = 'm' has labels"});
    expect_refused({field("m.npy"), "problem.coefficient=2*m"},
        {"the field m can only be the whole expression"});
  }

  TEST_F(Coefficients, Labels)
  {
    put_labels();
    expect_refused({field("m.npy"), "problem.coefficient=m", "problem.materials=0: 1, 1: 2"},
        {"problem.coefficient = 'm' has the label 7 at (",
            "to which problem.materials gives no number",
            "the file is " + (directory_ / "m.npy").string()});
    put("m.npy", "<i4", std::vector<std::int32_t>{0, 1, 1, 1, 1, -3});
    expect_refused({field("m.npy"), "problem.coefficient=m", "problem.materials=0: 1, 1: 2"},
        {"has the label -3 at (0.75, 0.625)"});
    EXPECT_NO_THROW(read(
        {field("m.npy"), "problem.coefficient=m", "problem.materials=0: 1, 1: 2, -3: 1, 8: 1"}));
  }

  TEST_F(Coefficients, ValuesOfVoxels)
  {
    const Parts k{field("k.npy"), "problem.coefficient=k"};
    const double nan = std::numeric_limits<double>::quiet_NaN();
    put_numbers({1., 2., nan, 4., 5., 6.});
    expect_refused(k, {"problem.coefficient = 'k' is not a number at (0.75, 0.125)", "k.npy"});
    put_numbers({1., 2., 3., -4., 5., 6.});
    expect_run_refused(k, {"'k' is -4, allowed: > 0, at (0.08333333333, 0.625)", "k.npy"});
    put_numbers({1., 2., 3., 4., 0., 6.});
    expect_run_refused(k, {"'k' is 0, allowed: > 0, at (0.4166666667, 0.625)", "k.npy"});
    expect_run_refused(
        {field("k.npy"), "problem.coefficient=k", "problem.coefficient_in_cell=mean"},
        {"'k' is 0, allowed: > 0, at ("});
    const Parts c{field("k.npy"), "problem.reaction=k"};
    EXPECT_NO_THROW(read(c));
    put_numbers({1., 2., 3., 4., 5., -6.});
    expect_run_refused(c, {"problem.reaction = 'k' is -6, allowed: >= 0, at (0.75, 0.625)"});
    // Another grid of cells than of voxels.
    put_numbers({1., 2., 3., 4., 5., 6.});
    const Parts other{field("k.npy"), "problem.coefficient=k", "problem.coarse_cells=2"};
    expect_run_refused(other,
        {"'k' is 1 at (0.2916666667, 0.125) and 2 at (0.4166666667, 0.125), in the same cell",
            "problem.coefficient_in_cell = mean", "k.npy"});
    Parts mean = other;
    mean.emplace_back("problem.coefficient_in_cell=mean");
    Console console = Console::silent(MPI_COMM_SELF);
    EXPECT_NO_THROW(dry_run_solve(read(mean), MPI_COMM_SELF, console));
  }

  TEST_F(Coefficients, WrongFiles)
  {
    const std::vector<double> numbers(6, 1.);
    const Parts k{field("k.npy"), "problem.coefficient=k"};
    put("k.npy", ">f8", numbers);
    expect_refused(k, {"k.npy: has numbers of type '>f8'", "little-endian"});
    put("k.npy", "<i8", numbers);
    expect_refused(k, {"k.npy: has numbers of type '<i8'", "labels in uint8, uint16 or int32"});
    put("k.npy", "<f8", numbers, "True");
    expect_refused(k, {"k.npy: is in Fortran order"});
    put("k.npy", "<f4", numbers);
    expect_refused(k, {"k.npy: has", "not complete, or damaged"});
    put("k.npy", "<f8", numbers);
    expect_refused(
        {field("k.npy"), "problem.coefficient=k", "problem.dimension=3", "problem.coarse_cells=1"},
        {"k.npy: has the shape (2, 3); allowed without a description: (n_z, n_y, n_x)"});
  }

  TEST_F(Coefficients, NoDirichletSide)
  {
    const Parts sides{"boundary.left=neumann", "boundary.right=neumann", "boundary.front=neumann",
        "boundary.back=neumann", "problem.reaction=0*x"};
    expect_run_refused(
        sides, {"problem.reaction = '0*x' is zero in all cells", "no side is dirichlet"});
  }
} // namespace
} // namespace tensormg
