// Reading and writing of parameters: defaults, files, overrides, and the texts made from them.
#include <cmath>
#include <fstream>
#include <numbers>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "apps/parameters/parameters.h"
#include "apps/parameters/table.h"
#include "apps/parameters/words.h"
#include "tests/support/parameter_files.h"

namespace tensormg
{
namespace
{
  std::string printed(const Parameters &parameters, ParameterFormat format = ParameterFormat::prm)
  {
    std::ostringstream out;
    print_parameters(parameters, out, format);
    return out.str();
  }

  /// Every parameter differs from its default.
  const char *const everything = R"(# all parameters
subsection problem
  set dimension       = 2
  set lower           = -1, 0.5
  set upper           = 2.25, 1e1
  set coarse_cells    = 3, 5
  set refinements     = 2
  set degree          = 7
  set coefficient     = 0.1
  set coefficient_in_cell = mean
  set constants       = k = 2, long_name_1=-1.5e-3
  set right_hand_side = if(x < 1, k, \
                        0) + y
  set initial_guess   = 2*y
  set exact_solution  = pi*x
  set exact_gradient  = pow(pi, 1); 0
end
subsection boundary
  set left        = periodic
  set right       = periodic
  set front       = neumann
  set front_value = sin(x)
  set back_value  = long_name_1
end
subsection solver
  set solver         = cg
  set tolerance      = 1e-11
  set max_iterations = 17
  set restart        = 5
  set basis_precision = double
  set full_multigrid_cycles = 3
end
SUBSECTION multigrid
  SET precision         = half
  set cycle             = w
  set coarsening        = vertices
  set smoother          = patch
  set chebyshev_kind    = first
  set degree            = 3   # a comment
  set smoothing_range   = 20.5
  set eigenvalue_steps  = 9
  set eigenvalue_safety = 1.2
  set schwarz_kind      = additive
  set damping           = 0.7
  set precision_fallback = false
  set single_levels     = 2
  set replicated_dofs   = 1000
END
subsection operator
  set backend = reference
end
subsection output
  set directory     = some where/else
  set name          = u
  set field_name    = temperature <°>
  set field_unit    = K
  set gradient      = true
  set flux          = true
  set write_vtu     = false
  set vtu_precision = double
  set vtu_cells     = subdivided
  set vtu_coarsening = 2
  set vtu_lower     = 0.25, 1
  set vtu_upper     = 2
  set vtu_max_cells = 0
  set level_times = true
  set verbosity     = quiet
  set log_file      = log.txt
end
subsection converge
  set degrees         = 2, 5
  set refinements     = 0, 1
  set check_orders    = false
  set order_tolerance = 0.5
end
subsection compare
  set solve = true
  set solvers = cg, direct
  set smoothers = jacobi, patch
  set dimensions  = 2, 3
  set degrees     = 8
  set dofs        = 1, 250000000000
  set powers_of_two = true
  set backends    = mma, reference
  set forms       = nodal, rank2
  set steps       = residual
  set precisions  = tf32, double
  set repetitions = 3
  set max_seconds = 0.25
  set rest_seconds = 0
  set lasting_seconds = 0.5
end
subsection diagnose
  set classes          = spmv, scale
  set quick            = true
  set counters         = false
  set place            = both
  set threads          = 3
  set cached_megabytes = 0.5
  set memory_megabytes = 2048
  set matrices         = dg, twin_pwtk
  set matrix_files     = a b.mtx, /c/d\,e.mtx
  set stencils         = 2d49pt
  set depths           = 3, 16
  set stencil_grids    = 10x20, 30x40x50
  set gemm_sizes       = 5x1x1, 7x8x9
  set sum_lengths      = 3, 100
  set time_limit       = 90
  set repetitions      = 7
  set max_seconds      = 0.75
end
)";

  void expect_everything(const Parameters &p)
  {
    const Problem &problem = p.problem;
    EXPECT_EQ(problem.dim, 2);
    EXPECT_EQ(problem.lower, (std::array<double, 3>{-1., 0.5, 0.}));
    EXPECT_EQ(problem.upper, (std::array<double, 3>{2.25, 10., 1.}));
    EXPECT_EQ(problem.coarse_cells, (std::array<std::int64_t, 3>{3, 5, 1}));
    EXPECT_EQ(problem.refinements, 2);
    EXPECT_EQ(problem.degree, 7);
    EXPECT_EQ(problem.coefficient, 0.1);
    const std::map<std::string, double> constants{
        {"k", 2.}, {"long_name_1", -1.5e-3}, {"pi", std::numbers::pi}};
    EXPECT_EQ(problem.constants, constants);
    EXPECT_EQ(problem.right_hand_side, "if(x < 1, k, 0) + y");
    EXPECT_EQ(problem.exact_solution, "pi*x");
    EXPECT_EQ(problem.exact_gradient, (std::array<std::string, 3>{"pow(pi, 1)", "0", ""}));
    EXPECT_EQ(problem.boundary[0], BoundaryKind::periodic);
    EXPECT_EQ(problem.boundary[1], BoundaryKind::periodic);
    EXPECT_EQ(problem.boundary[2], BoundaryKind::neumann);
    EXPECT_EQ(problem.boundary[3], BoundaryKind::dirichlet);
    EXPECT_EQ(problem.boundary_value,
        (std::array<std::string, 6>{"0", "0", "sin(x)", "long_name_1", "0", "0"}));
    EXPECT_EQ(p.solver.solver, OuterSolver::cg);
    EXPECT_EQ(p.solver.tolerance, 1e-11);
    EXPECT_EQ(p.solver.max_iterations, 17);
    EXPECT_EQ(p.solver.restart, 5);
    EXPECT_EQ(p.solver.basis_precision, BasisPrecision::double_precision);
    EXPECT_TRUE(p.problem.initial_guess == "2*y" && !p.output.write_vtu);
    EXPECT_EQ(p.solver.full_multigrid_cycles, 3);
    EXPECT_EQ(p.solver.multigrid.precision, Precision::half_precision);
    EXPECT_EQ(p.solver.multigrid.cycle, Cycle::w);
    EXPECT_EQ(p.solver.multigrid.smoother, Smoother::patch);
    EXPECT_EQ(p.solver.multigrid.chebyshev_kind, ChebyshevKind::first);
    EXPECT_EQ(p.solver.multigrid.degree, 3);
    EXPECT_EQ(p.solver.multigrid.smoothing_range, 20.5);
    EXPECT_EQ(p.solver.multigrid.eigenvalue_steps, 9);
    EXPECT_EQ(p.solver.multigrid.eigenvalue_safety, 1.2);
    EXPECT_EQ(p.solver.multigrid.schwarz_kind, SchwarzKind::additive);
    EXPECT_EQ(p.solver.multigrid.damping, 0.7);
    EXPECT_EQ(p.backend, "reference");
    EXPECT_EQ(p.output.directory, "some where/else");
    EXPECT_EQ(p.output.name, "u");
    EXPECT_TRUE(p.output.field_name == "temperature <°>" && p.output.field_unit == "K");
    EXPECT_TRUE(p.output.gradient && p.output.flux);
    EXPECT_EQ(p.output.vtu_precision, VtuPrecision::double_precision);
    EXPECT_EQ(p.output.vtu_cells, VtuCells::subdivided);
    EXPECT_EQ(p.output.vtu_coarsening, 2);
    EXPECT_EQ(p.output.vtu_lower.value()[1] + p.output.vtu_upper.value()[0], 3.);
    EXPECT_EQ(p.output.vtu_max_cells, 0);
    EXPECT_EQ(p.output.verbosity, Verbosity::quiet);
    EXPECT_EQ(p.output.log_file, "log.txt");
    EXPECT_EQ(p.converge.degrees, (std::vector<int>{2, 5}));
    EXPECT_EQ(p.converge.refinements, (std::vector<int>{0, 1}));
    EXPECT_TRUE(!p.converge.check_orders && p.converge.order_tolerance == 0.5);
    EXPECT_EQ(p.compare.dimensions, (std::vector<int>{2, 3}));
    EXPECT_EQ(p.compare.degrees, std::vector<int>{8});
    EXPECT_EQ(p.compare.dofs, (std::vector<std::int64_t>{1, 250'000'000'000}));
    EXPECT_TRUE(p.compare.powers_of_two && p.compare.steps == std::vector<std::string>{"residual"});
    EXPECT_EQ(p.compare.backends, (std::vector<std::string>{"mma", "reference"}));
    EXPECT_EQ(p.compare.forms, (std::vector<std::string>{"nodal", "rank2"}));
    EXPECT_EQ(p.compare.precisions, (std::vector<std::string>{"tf32", "double"}));
    EXPECT_TRUE(p.compare.repetitions == 3 && p.compare.max_seconds == 0.25);
    EXPECT_TRUE(p.compare.rest_seconds == 0. && p.compare.lasting_seconds == 0.5);
    EXPECT_EQ(p.diagnose.classes, (std::vector<std::string>{"spmv", "scale"}));
    EXPECT_TRUE(p.diagnose.quick && !p.diagnose.counters);
    EXPECT_TRUE(p.diagnose.place == "both" && p.diagnose.threads == 3);
    EXPECT_EQ(p.diagnose.cached_megabytes, 0.5);
    EXPECT_EQ(p.diagnose.memory_megabytes, 2048.);
    EXPECT_EQ(p.diagnose.matrices, (std::vector<std::string>{"dg", "twin_pwtk"}));
    EXPECT_EQ(p.diagnose.matrix_files, (std::vector<std::string>{"a b.mtx", "/c/d,e.mtx"}));
    EXPECT_EQ(p.diagnose.stencils, std::vector<std::string>{"2d49pt"});
    EXPECT_EQ(p.diagnose.depths, (std::vector<int>{3, 16}));
    EXPECT_EQ(p.diagnose.stencil_grids,
        (std::vector<std::array<std::int64_t, 3>>{{10, 20, 1}, {30, 40, 50}}));
    EXPECT_EQ(
        p.diagnose.gemm_sizes, (std::vector<std::array<std::int64_t, 3>>{{5, 1, 1}, {7, 8, 9}}));
    EXPECT_EQ(p.diagnose.sum_lengths, (std::vector<int>{3, 100}));
    EXPECT_EQ(p.diagnose.repetitions, 7);
    EXPECT_EQ(p.diagnose.max_seconds, 0.75);
    EXPECT_EQ(p.diagnose.time_limit, 90.);
  }

  TEST(Parameters, DefaultsAreThoseOfTheStructs)
  {
    const Parameters p = default_parameters();
    EXPECT_EQ(printed(p), printed(Parameters{}));
    EXPECT_EQ(p.problem.constants, (std::map<std::string, double>{{"pi", std::numbers::pi}}));
    EXPECT_EQ(p.source, "");

    EXPECT_EQ(p.problem.dim, 3);
    EXPECT_EQ(p.problem.degree, 3);
    EXPECT_EQ(p.problem.refinements, 4);
    EXPECT_EQ(p.problem.upper, (std::array<double, 3>{1., 1., 1.}));
    EXPECT_EQ(p.problem.right_hand_side, "1");
    EXPECT_EQ(p.problem.exact_solution, "");
    EXPECT_EQ(p.solver.solver, OuterSolver::fgmres);
    EXPECT_EQ(p.solver.tolerance, 1e-8);
    EXPECT_EQ(p.solver.multigrid.precision, Precision::automatic);
    EXPECT_EQ(p.solver.multigrid.smoother, Smoother::chebyshev);
    EXPECT_EQ(p.backend, "auto");
    EXPECT_EQ(p.output.vtu_max_cells, 200000);
    EXPECT_EQ(p.output.verbosity, Verbosity::normal);
  }

  TEST(Parameters, EveryKeyIsRead)
  {
    const TemporaryFile file("everything.prm", everything);
    const Parameters p = read_parameters(file.path());
    expect_everything(p);
    EXPECT_EQ(p.source, file.path());

    // The file above leaves no parameter of 2D problems out: any new one has to be added to it.
    const Parameters defaults;
    for (const ParameterEntry &entry : parameter_table())
    {
      const bool without_value = entry.key == "left_value" || entry.key == "right_value" ||
          entry.key == "full_multigrid" ||                       // which excludes an initial guess
          entry.key == "write_npy" || entry.key == "probes" ||   // a coarser grid
          entry.key == "probe_lines" || entry.key == "fields" || // needs a file: fields_test.cc
          entry.key == "grading" ||                              // grading_test.cc
          entry.key == "materials" || entry.key == "reaction" || // coefficients_test.cc
          entry.section == "mesh" || entry.key == "conditions" || entry.key == "relaxation" ||
          entry.key == "operator" || // mesh_test.cc
          entry.key.ends_with("_robin_coefficient");
      const bool only_3d = entry.key.starts_with("bottom") || entry.key.starts_with("top");
      if (!without_value && !only_3d && entry.key != "back")
      {
        EXPECT_NE(entry.write(p), entry.write(defaults)) << entry.name();
      }
    }
  }

  TEST(Parameters, PrintedParametersReadBack)
  {
    const TemporaryFile file("everything.prm", everything);
    const Parameters p = read_parameters(file.path());
    for (const auto &[name, format] : {std::pair("copy.prm", ParameterFormat::prm),
             std::pair("copy.json", ParameterFormat::json)})
    {
      const TemporaryFile copy(name, printed(p, format));
      const Parameters again = read_parameters(copy.path());
      expect_everything(again);
      EXPECT_EQ(printed(again), printed(p));
    }
  }

  TEST(Parameters, NumbersSurvivePrintingExactly)
  {
    Parameters p = default_parameters();
    p.problem.coefficient = 0.1 + 0.2;
    p.problem.upper = {1. / 3., 1e-30 / 7., 12345678.9};
    p.problem.constants["a"] = std::nextafter(1., 2.);
    const TemporaryFile copy("copy.prm", printed(p));
    const Parameters again = read_parameters(copy.path());
    EXPECT_EQ(again.problem.coefficient, p.problem.coefficient);
    EXPECT_EQ(again.problem.upper, p.problem.upper);
    EXPECT_EQ(again.problem.constants, p.problem.constants);
  }

  TEST(Parameters, PrintedDefaultsReadBackAndCarryDescriptions)
  {
    std::ostringstream out;
    print_default_parameters(out);
    const TemporaryFile file("default.prm", out.str());
    EXPECT_EQ(printed(read_parameters(file.path())), printed(Parameters{}));
    for (const ParameterEntry &entry : parameter_table())
    {
      EXPECT_NE(out.str().find("set " + entry.key), std::string::npos) << entry.name();
      EXPECT_GT(entry.description.size(), 5u) << entry.name();
      EXPECT_EQ(entry.description.back(), '.') << entry.name();
    }
    // The comment is wrapped, so only its first words are sure to stand in one line.
    EXPECT_NE(out.str().find("# The method: fgmres and cg iterate"), std::string::npos);
  }

  TEST(Parameters, JsonTakesNumbersWordsAndLists)
  {
    const TemporaryFile file("case.json", R"({
    "problem": {"dimension": 2, "lower": [-1, 0.5], "degree": "4", "exact_solution": "x*y",
                "exact_gradient": ["y", "x"], "constants": ["a=1", "b=2.5"]},
    "solver": {"tolerance": 1e-9, "full_multigrid": true, "solver": "cg"},
    "converge": {"degrees": [1, 3]}
  })");
    const Parameters p = read_parameters(file.path());
    EXPECT_EQ(p.problem.dim, 2);
    EXPECT_EQ(p.problem.lower, (std::array<double, 3>{-1., 0.5, 0.}));
    EXPECT_EQ(p.problem.degree, 4);
    EXPECT_EQ(p.problem.exact_gradient, (std::array<std::string, 3>{"y", "x", ""}));
    EXPECT_EQ(p.problem.constants.at("b"), 2.5);
    EXPECT_EQ(p.solver.tolerance, 1e-9);
    EXPECT_TRUE(p.solver.full_multigrid);
    EXPECT_EQ(p.solver.solver, OuterSolver::cg);
    EXPECT_EQ(p.converge.degrees, (std::vector<int>{1, 3}));
  }

  TEST(Parameters, OverridesWinOverTheFileAndLaterOverEarlier)
  {
    const TemporaryFile file("case.prm", "subsection solver\n set tolerance = 1e-4\nend\n");
    EXPECT_EQ(read_parameters(file.path()).solver.tolerance, 1e-4);
    const Parameters p = read_parameters(file.path(),
        {"solver.tolerance=1e-5", " solver.tolerance = 1e-6 ", "problem.constants=a=1,b=2",
            "problem.right_hand_side=a*(x<=b)"});
    EXPECT_EQ(p.solver.tolerance, 1e-6);
    EXPECT_EQ(p.problem.constants.at("b"), 2.);
    EXPECT_EQ(p.problem.right_hand_side, "a*(x<=b)");
    EXPECT_EQ(default_parameters({"problem.degree=8"}).problem.degree, 8);
  }

  TEST(Parameters, OneNumberStandsForAllDirections)
  {
    const Parameters p = default_parameters({"problem.coarse_cells=3", "problem.lower=-2"});
    EXPECT_EQ(p.problem.coarse_cells, (std::array<std::int64_t, 3>{3, 3, 3}));
    EXPECT_EQ(p.problem.lower, (std::array<double, 3>{-2., -2., -2.}));
    const Parameters flat = default_parameters({"problem.dimension=2", "problem.coarse_cells=3"});
    EXPECT_EQ(flat.problem.coarse_cells, (std::array<std::int64_t, 3>{3, 3, 1}));
  }

  TEST(Parameters, FormatsOfOtherSystemsAreRead)
  {
    const TemporaryFile file(
        "case.prm", "subsection solver\r\n\tset  tolerance  =  +1e-4\t# x\r\nend\r\n");
    EXPECT_EQ(read_parameters(file.path()).solver.tolerance, 1e-4);
  }

  TEST(Parameters, WordsAndEnumeratorsCorrespond)
  {
    EXPECT_EQ(to_word(Precision::half_precision), "half");
    EXPECT_EQ(from_word<Precision>("half"), Precision::half_precision);
    EXPECT_EQ(from_word<Precision>("Half"), std::nullopt);
    EXPECT_EQ(from_word<Precision>("tf32"), Precision::tf32_precision);
    EXPECT_EQ(from_word<Precision>("2xfp16"), Precision::corrected_half_precision);
    EXPECT_EQ(to_word(BoundaryKind::periodic), "periodic");
  }

  TEST(Parameters, LessThanSingleFallsBackToIt)
  {
    MultigridOptions options;
    for (const auto &[precision, falls_back] : {std::pair{Precision::double_precision, false},
             {Precision::single_precision, false}, {Precision::tf32_precision, true},
             {Precision::half_precision, true}, {Precision::corrected_half_precision, true}})
    {
      options.precision = precision;
      options.precision_fallback = true;
      EXPECT_EQ(options.falls_back_to_single(), falls_back) << to_word(precision);
      options.precision_fallback = false;
      EXPECT_FALSE(options.falls_back_to_single()) << to_word(precision);
    }
  }

  TEST(Parameters, ConvergeNeedsASolutionAndTwoGrids)
  {
    const std::vector<std::string> solution{"problem.exact_solution=x"};
    EXPECT_NO_THROW(check_for_converge(default_parameters(solution)));
    expect_message([] { check_for_converge(default_parameters()); },
        {"problem.exact_solution = (nothing)", "needs problem.exact_solution"});
    const auto one_grid = [&](const std::string &check) {
      check_for_converge(default_parameters(
          {solution[0], "converge.refinements=3", "converge.check_orders=" + check}));
    };
    EXPECT_NO_THROW(one_grid("false"));
    expect_message([&] { one_grid("true"); }, {"converge.refinements = 3", "check_orders = false"});
    expect_message(
        [&] {
          check_for_converge(default_parameters({solution[0], "converge.refinements=20, 30"}));
        },
        {"converge.refinements = 20, 30", "2^62"});
    const TemporaryFile file("case.prm", "subsection problem\n set degree = 2\nend\n");
    expect_message([&] { check_for_converge(read_parameters(file.path())); }, {file.path()});
  }

  TEST(Parameters, ReferenceInTheDocumentationIsCurrent)
  {
    std::ifstream stream(source_directory() / "docs/parameters.md");
    ASSERT_TRUE(stream) << "docs/parameters.md is missing";
    std::ostringstream file, generated;
    file << stream.rdbuf();
    print_parameter_reference(generated);
    EXPECT_EQ(file.str(), generated.str()) << "run: tensormg-parameters > docs/parameters.md";
  }
} // namespace
} // namespace tensormg
