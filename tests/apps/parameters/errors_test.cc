// Every kind of bad input ends in one message: where, which key, the value, and what is allowed.
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "apps/parameters/parameters.h"
#include "apps/parameters/words.h"
#include "tests/support/parameter_files.h"

namespace tensormg
{
namespace
{
  /// Overrides of the defaults, and what the message must contain.
  struct BadOverrides
  {
    std::vector<std::string> overrides;
    std::vector<std::string> parts;
  };

  void expect_all(const std::vector<BadOverrides> &cases)
  {
    for (const BadOverrides &bad : cases)
    {
      SCOPED_TRACE(bad.overrides.front());
      expect_message([&] { default_parameters(bad.overrides); }, bad.parts);
    }
  }

  /// A file with this content, and what the message must contain besides the name of the file.
  void expect_file(
      const std::string &name, const std::string &content, const std::vector<std::string> &parts)
  {
    SCOPED_TRACE(content);
    const TemporaryFile file(name, content);
    std::vector<std::string> all = parts;
    all.front().insert(0, file.path());
    expect_message([&] { read_parameters(file.path()); }, all);
  }

  TEST(ParameterErrors, Files)
  {
    const TemporaryFile good("good.prm", "subsection problem\n  set degree = 2\nend\n");
    EXPECT_NO_THROW(read_parameters(good.path()));

    expect_message(
        [] { read_parameters("not/there.prm"); }, {"not/there.prm: there is no such file"});
    expect_message([] { read_parameters(""); }, {"no such file"});
    expect_message([&] { read_parameters(good.path() + "/x.prm"); }, {"no such file"});
    expect_message([&] { read_parameters(good.directory()); },
        {good.directory() + ": is a directory", ".prm or .json"});
    if (::geteuid() != 0) // root may read everything
    {
      std::filesystem::permissions(good.path(), std::filesystem::perms::none);
      expect_message([&] { read_parameters(good.path()); }, {good.path() + ": cannot be read"});
    }
    expect_file(
        "case.txt", "subsection problem\nend\n", {": a parameter file ends in .prm or .json"});
    expect_file("case.prm", "", {": the file is empty"});
    expect_file("case.json", " \n", {": the file is empty"});
    expect_file("case.prm", "# nothing but a comment\n", {": the file sets no parameter"});
    expect_file("case.json", "{}", {": the file sets no parameter"});
  }

  TEST(ParameterErrors, PrmSyntax)
  {
    const std::string open = "subsection problem\n";
    expect_file("a.prm", open + "\n  sett degree = 3\nend\n",
        {":3: cannot read 'sett degree = 3'", "allowed: subsection NAME, set KEY = VALUE, end"});
    expect_file("a.prm", open + "  set degree 3\nend\n", {":2: cannot read 'set degree 3'"});
    expect_file("a.prm", open + "  set = 3\nend\n", {":2: cannot read 'set = 3'"});
    expect_file("a.prm", open + "  set degree = 3\n", {":1: subsection 'problem' is not closed"});
    expect_file("a.prm", open + "end\nend\n", {":3: 'end' without a subsection"});
    expect_file(
        "a.prm", open + "  set degree = 3 \\\n", {":2: the last line ends with a backslash"});
    expect_file("a.prm", "include b.prm\n", {":1: 'include' is not supported"});
    expect_file("a.prm", open + "  set degree = 3\n  set degree = 4\nend\n",
        {":3: problem.degree is set a second time; first in ", "a.prm:2"});
  }

  TEST(ParameterErrors, JsonSyntax)
  {
    expect_file("a.json", "{\"problem\":\n {\"degree\": 3,}\n}", {":2: not valid JSON", "line 2"});
    expect_file("a.json", "{\"problem\": {\"degree\": 3}", {":1: not valid JSON"});
    expect_file("a.json", "[1, 2]", {": not an object; allowed: {\"section\": {\"key\": value}}"});
    expect_file("a.json", R"({"problem": {"degree": null}})",
        {":1: problem.degree = null cannot be used; allowed: a number"});
    expect_file(
        "a.json", R"({"problem": {"lower": [0, [1], 2]}})", {":1: problem.lower = [0,[1],2]"});
    expect_file(
        "a.json", R"({"problem": {"degree": 1, "degree": 2}})", {":1: the key 'degree'", "twice"});
    expect_file("a.json", R"({"problem": {"degree": 1.5}})",
        {":1: problem.degree = '1.5' is not an integer; allowed: an integer from 1 to 8"});
    expect_file(
        "a.json", R"({"problem": {"degree": true}})", {":1: problem.degree = 'true' is not"});
    expect_file(
        "a.json", R"({"problem": {"right_hand_side": "1 # 2"}})", {":1: problem.right", "'#'"});
    expect_file("a.json", R"({"problem": {"box": {"lower": 1}}})",
        {":1: problem.box.lower: unknown section 'problem.box' (did you mean problem.lower?)"});
  }

  TEST(ParameterErrors, PlaceInThePrmFile)
  {
    expect_file("a.prm", "# comment\nsubsection solver\n  set tolerance = 2\nend\n",
        {":3: solver.tolerance = '2' is out of range; allowed: a number > 0 and < 1"});
    // A continued line is named by where it begins.
    expect_file("a.prm", "subsection problem\n set right_hand_side = x + \\\n  w\nend\n",
        {":2: problem.right_hand_side = 'x + w' cannot be parsed"});
    expect_file("a.prm", "subsection problem\n set dimension=2\n set lower=0,0,0\nend\n",
        {":3: problem.lower = '0,0,0' has 3 entries, but problem.dimension is 2"});
    expect_file("a.prm", "subsection problem\n set lower = 1\n set upper = 0\nend\n",
        {":2: problem.lower = 1, problem.upper = 0 (", "a.prm:3): the box has the length -1"});
  }

  TEST(ParameterErrors, PlaceInTheJsonFile)
  {
    const std::string open = "{\n  \"problem\": {\n    \"lower\": [0, 0,\n 0],\n";
    expect_file("a.json", open + "    \"degree\": 12\n  }\n}",
        {":5: problem.degree = '12' is out of range; allowed: an integer from 1 to 8"});
    expect_file("a.json", open + "    \"degre\":\n 12}}", {":5: problem.degre: unknown parameter"});
    expect_file("a.json", open + "\"degree\": 2},\n\n\"boundary\": {\"left\": \"periodic\"}}",
        {":7: boundary.left = periodic, boundary.right = dirichlet (default): a direction"});
    expect_file(
        "a.json", open + "\"degree\": 2,\n\"lower\": 1}}", {":6: the key 'lower' stands twice"});
  }

  TEST(ParameterErrors, UnknownNames)
  {
    expect_file("a.prm", "subsection solver\n\n  set tolerence = 1e-3\nend\n",
        {":3: solver.tolerence: unknown parameter (did you mean solver.tolerance?)",
            "allowed in section solver: solver, tolerance, max_iterations"});
    expect_file("a.prm", "subsection solvr\n  set tolerance = 1e-3\nend\n",
        {":2: solvr.tolerance: unknown section 'solvr' (did you mean solver?)",
            "allowed sections: problem, mesh, boundary, solver"});
    expect_file("a.prm", "set dimension = 3\n",
        {":1: dimension: parameter outside every section (did you mean problem.dimension?)"});
    expect_file("a.prm",
        "subsection problem\n subsection boundary\n  set left = neumann\n end\nend\n",
        {":3: problem.boundary.left: unknown section 'problem.boundary' (did you mean boundary?)"});
    expect_file("a.json", R"({"solver": {"precision": "half"}})",
        {":1: solver.precision: unknown parameter (did you mean multigrid.precision?)"});
    expect_all(
        {{{"solver.tolerence=1"}, {"--set solver.tolerence: unknown parameter", "tolerance"}},
            {{"qqqqqqqq.wwwwwwww=1"}, {"unknown section 'qqqqqqqq'; allowed sections"}},
            {{"solver.tol=1"}, {"(did you mean solver.tolerance?)"}},
            {{"solver.iterations=1"}, {"(did you mean solver.max_iterations?)"}},
            {{"solver.full=1"}, {"(did you mean solver.full_multigrid?)"}},
            {{"multigrid.smoother=cheb"}, {"did you mean 'chebyshev'?"}},
            {{"solver.wwwwwwwwww=1"}, {"unknown parameter; allowed in section solver"}},
            {{"tolerance=1"}, {"--set tolerance=1: cannot be read", "section.key=value"}},
            {{"solver.tolerance"}, {"--set solver.tolerance: cannot be read", "section.key=value"}},
            {{".tolerance=1"}, {"cannot be read"}}, {{"solver.=1"}, {"cannot be read"}},
            {{""}, {"cannot be read"}}});
  }

  TEST(ParameterErrors, NumbersAndWords)
  {
    const std::string unit = "allowed: a number > 0 and < 1";
    expect_all({
        {{"solver.tolerance=abc"}, {"--set solver.tolerance = 'abc' is not a finite number", unit}},
        {{"solver.tolerance=1e-8x"}, {"is not a finite number", unit}},
        {{"solver.tolerance="}, {"solver.tolerance = ''", unit}},
        {{"solver.tolerance=nan"}, {"'nan' is not a finite number", unit}},
        {{"solver.tolerance=0"}, {"'0' is out of range", unit}},
        {{"solver.tolerance=1"}, {"'1' is out of range", unit}},
        {{"solver.tolerance=1e-400"}, {"is not a finite number of double precision", unit}},
        {{"solver.max_iterations=0"},
            {"solver.max_iterations = '0' is out of range", "integer >= 1"}},
        {{"solver.max_iterations=9999999999"}, {"is out of range", "allowed: an integer >= 1"}},
        {{"solver.max_iterations=1.5"}, {"'1.5' is not an integer", "allowed: an integer >= 1"}},
        {{"solver.restart=0"}, {"solver.restart = '0'", "allowed: an integer >= 1"}},
        {{"solver.full_multigrid=yes"},
            {"solver.full_multigrid = 'yes'", "allowed: true or false"}},
        {{"solver.solver=gmres"},
            {"'gmres' is not a known word (did you mean 'fgmres'?)", "cg, direct"}},
        {{"problem.dimension=1"}, {"problem.dimension = '1'", "allowed: 2 or 3"}},
        {{"problem.degree=0"}, {"problem.degree = '0'", "allowed: an integer from 1 to 8"}},
        {{"problem.degree=9"}, {"problem.degree = '9'", "allowed: an integer from 1 to 8"}},
        {{"problem.refinements=-1"}, {"problem.refinements = '-1'", "an integer from 0 to 30"}},
        {{"problem.coefficient=0"},
            {"problem.coefficient = '0' is out of range", "allowed: a number > 0"}},
        {{"problem.coefficient=inf"},
            {"problem.coefficient = 'inf' cannot be parsed",
                "allowed: a number, an expression in"}},
        {{"problem.coefficient=1e-320"}, {"'1e-320' is out of range", "from 1e-300 to 1e300"}},
        {{"problem.lower=inf"},
            {"problem.lower = 'inf' has the entry 'inf'", "allowed: one number"}},
        {{"problem.upper=1,,1"},
            {"problem.upper = '1,,1' has the entry ''", "allowed: one number"}},
        {{"problem.upper="}, {"problem.upper = '' has 0 entries", "allowed: one number"}},
        {{"problem.coarse_cells=1, 0, 1"}, {"problem.coarse_cells", "has the entry '0'", ">= 1"}},
        {{"problem.coarse_cells=1.5"}, {"problem.coarse_cells", "has the entry '1.5'", ">= 1"}},
        {{"boundary.left=open"}, {"boundary.left = 'open'", "dirichlet, neumann, robin, periodic"}},
        {{"multigrid.precision=float"},
            {"multigrid.precision = 'float'", "auto, double, single, tf32, half"}},
        {{"multigrid.cycle=V"}, {"multigrid.cycle = 'V'", "allowed: v, w"}},
        {{"multigrid.smoother=sor"}, {"multigrid.smoother = 'sor'", "chebyshev, patch, jacobi"}},
        {{"multigrid.chebyshev_kind=4"}, {"multigrid.chebyshev_kind = '4'", "first, fourth"}},
        {{"multigrid.schwarz_kind=x"},
            {"multigrid.schwarz_kind = 'x'", "multiplicative, additive"}},
        {{"multigrid.degree=0"}, {"multigrid.degree = '0'", "an integer from 1 to 100"}},
        {{"multigrid.smoothing_range=1"}, {"multigrid.smoothing_range = '1'", "a number > 1"}},
        {{"multigrid.eigenvalue_steps=0"}, {"multigrid.eigenvalue_steps = '0'", "from 6 to 1000"}},
        {{"multigrid.eigenvalue_safety=0.99"}, {"multigrid.eigenvalue_safety", "a number >= 1"}},
        {{"multigrid.damping=-0.1"}, {"multigrid.damping = '-0.1'", "allowed: a number >= 0"}},
        {{"operator.backend=cpuu"},
            {"'cpuu' is not a known word (did you mean 'cpu'?)", "auto, ref"}},
        {{"output.directory="}, {"output.directory = '' is empty", "allowed: a path"}},
        {{"output.directory=~/x"}, {"'~/x' begins with '~'", "a path, written in full"}},
        {{"output.directory=$HOME/x"}, {"'$HOME/x' contains '$'", "a path, written in full"}},
        {{"output.directory=\"results\""},
            {"stands in quotation marks", "a path, written in full"}},
        {{"output.name=a/b"}, {"output.name = 'a/b' contains '/'", "allowed: a file name"}},
        {{"output.name="}, {"output.name = '' is empty", "allowed: a file name"}},
        {{"output.field_name="}, {"output.field_name = '' is empty", "allowed: a printable text"}},
        {{"output.field_name=rank"}, {"is the name of something else in the files"}},
        {{"output.field_name=a\tb"}, {"contains a control character"}},
        {{"output.field_unit=\xB0"
          "C"},
            {"output.field_unit", "is not in UTF-8"}},
        {{"output.field_unit=\xED\xA0\x80"}, {"is not in UTF-8"}},
        {{"output.vtu_precision=single"}, {"output.vtu_precision", "allowed: auto, double"}},
        {{"output.vtu_cells=quadratic"}, {"output.vtu_cells", "high_order, subdivided"}},
        {{"output.vtu_max_cells=-1"}, {"output.vtu_max_cells = '-1'", "an integer >= 0"}},
        {{"output.verbosity=loud"}, {"output.verbosity = 'loud'", "quiet, normal, verbose"}},
        {{"output.name=a#b"}, {"output.name = 'a#b' contains '#'"}},
        {{"output.name=a\\"}, {"a final backslash"}},
        {{"converge.degrees=1, 9"}, {"converge.degrees", "has the entry '9'", "from 1 to 8"}},
        {{"converge.degrees="}, {"converge.degrees = '' is empty", "an increasing list"}},
        {{"converge.refinements=2, 2"},
            {"converge.refinements", "is not increasing", "from 0 to 30"}},
        {{"converge.order_tolerance=0"}, {"converge.order_tolerance = '0'", "a number > 0"}},
    });
  }

  TEST(ParameterErrors, BackendsOfASolve)
  {
    const auto choose = [](const std::string &backend) {
      return default_parameters({"operator.backend=" + backend}).backend;
    };
    for (const std::string &backend : backend_words())
      EXPECT_EQ(choose(backend), backend);
    expect_message([&] { choose("device_reference"); },
        {"operator.backend = 'device_reference'", "auto, reference, cpu, cuda, wmma, mma"});
  }

  TEST(ParameterErrors, Constants)
  {
    const std::string allowed = "allowed: a list name=number";
    expect_all({
        {{"problem.constants=k"}, {"gives 'k' the value ''", allowed}},
        {{"problem.constants=k=2*pi"}, {"gives 'k' the value '2*pi', which is not", allowed}},
        {{"problem.constants=a=1, a=2"}, {"gives 'a' twice", allowed}},
        {{"problem.constants=2a=1"}, {"has '2a' where a name", allowed}},
        {{"problem.constants=a b=1"}, {"has 'a b' where a name", allowed}},
        {{"problem.constants=a=1,"}, {"has '' where a name", allowed}},
        {{"problem.constants=x=1"}, {"'x', which already has a meaning", allowed}},
        {{"problem.constants=pi=3"}, {"'pi', which already has a meaning", allowed}},
        {{"problem.constants=sin=1"}, {"'sin', which is a function", allowed}},
    });
  }

  TEST(ParameterErrors, Expressions)
  {
    const std::string f = "problem.right_hand_side=";
    const std::string allowed = "allowed: an expression in x, y, z and the constants pi";
    testing::internal::CaptureStderr();
    expect_all({
        {{f + "foo(x)"},
            {"--set problem.right_hand_side = 'foo(x)' cannot be parsed",
                "\"foo\" found at position 0", allowed}},
        {{f + "sin(x"}, {"Missing parenthesis at position 6", allowed}},
        {{f + "x +"}, {"Unexpected end of expression at position", allowed}},
        {{f + "2x"}, {"Unexpected variable \"x\" found at position 1", allowed}},
        {{f}, {"problem.right_hand_side = '' is empty", allowed}},
        {{f + "0,5"}, {"has a ',' at position 1, but one expression is needed", allowed}},
        {{f + "x; y"}, {"has a ';' at position 1", allowed}},
        {{f + "x = 2"}, {"assigns with '=' at position 2; '==' compares", allowed}},
        {{f + "a*x", "problem.constants=b=1"},
            {"\"a", "found at position 0", "and the constants b, pi"}},
        {{f + "z", "problem.dimension=2"},
            {"\"z\" found", "an expression in x, y and the constants"}},
        {{"boundary.left_value="}, {"boundary.left_value = '' is empty", allowed}},
        {{"boundary.left=robin", "boundary.left_robin_coefficient=u"},
            {"boundary.left_robin_coefficient = 'u' cannot be parsed", "values >= 0 and finite"}},
        {{"problem.exact_solution=u"}, {"problem.exact_solution = 'u' cannot be parsed", allowed}},
        {{"problem.initial_guess=1 + w"},
            {"problem.initial_guess = '1 + w' cannot be parsed", allowed}},
        {{"problem.initial_guess=x", "solver.solver=direct"},
            {"problem.initial_guess", "a direct solve has no start value"}},
        {{"problem.initial_guess=x", "solver.full_multigrid=true"},
            {"problem.initial_guess", "full multigrid makes a start value of its own"}},
        {{"problem.exact_solution=x", "problem.exact_gradient=1; 0; w"},
            {"problem.exact_gradient = 'w' cannot be parsed", allowed}},
        {{"problem.exact_solution=x", "problem.exact_gradient=1; 0"},
            {"problem.exact_gradient", "has 2 components, but problem.dimension is 3"}},
        {{"problem.exact_solution=x", "problem.exact_gradient=1; ; 0"}, {"has an empty component"}},
    });
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "the message should be the only one";
  }

  TEST(ParameterErrors, Contradictions)
  {
    expect_all({
        {{"problem.lower=1"},
            {"problem.lower = 1, problem.upper = 1 (default)", "the length 0 in x"}},
        {{"problem.lower=-1e308", "problem.upper=1e308"}, {"the length inf", "lower < upper"}},
        {{"problem.upper=1, 1, -1"}, {"the length -1 in z", "lower < upper"}},
        {{"problem.upper=1e-120"}, {"cells of the size", "cannot be resolved in double precision"}},
        {{"problem.lower=1e15", "problem.upper=1000000000000001"}, {"cannot be resolved"}},
        {{"problem.refinements=20"},
            {"problem.refinements = 20", "more than 2^62 degrees of freedom"}},
        {{"problem.coarse_cells=2000000000"}, {"problem.coarse_cells = 2000000000", "2^62"}},
        {{"boundary.left=periodic"},
            {"--set boundary.left = periodic, boundary.right = dirichlet (default)",
                "both of its sides"}},
        {{"boundary.top=periodic"},
            {"boundary.top = periodic, boundary.bottom = dirichlet (default)"}},
        {{"boundary.left=periodic", "boundary.right=periodic", "boundary.right_value=x"},
            {"boundary.right = periodic, boundary.right_value = x",
                "a periodic side has no value"}},
        {{"boundary.right_robin_coefficient=2"},
            {"boundary.right = dirichlet (default), boundary.right_robin_coefficient = 2",
                "only a robin side has such a coefficient"}},
        {{"boundary.top_robin_coefficient=2", "problem.dimension=2"},
            {"boundary.top_robin_coefficient = 2", "3 dimensions only"}},
        {{"boundary.top=neumann", "problem.dimension=2"},
            {"boundary.top = neumann", "3 dimensions only"}},
        {{"boundary.bottom_value=1", "problem.dimension=2"},
            {"boundary.bottom_value = 1", "dimensions"}},
        {{"problem.exact_gradient=1; 0; 0"},
            {"problem.exact_solution = (nothing) (default)", "allowed: both or none"}},
        {{"solver.solver=direct", "solver.full_multigrid=true"},
            {"solver.solver = direct, solver.full_multigrid = true", "full_multigrid = false"}},
        {{"diagnose.matrices="},
            {"diagnose.matrices = (nothing), diagnose.matrix_files = (nothing) (default)",
                "no matrix is left for spmv"}},
        {{"output.vtu_lower=0.5", "output.vtu_upper=0.5"},
            {"output.vtu_lower = 0.5, output.vtu_upper = 0.5", "a part of the box"}},
        {{"output.write_npy=true", "output.vtu_coarsening=1"},
            {"output.write_npy = true, output.vtu_coarsening = 1", "allowed: vtu_coarsening = 0"}},
        {{"output.write_npy=true", "output.name=run"}, {"output.name = run", "record run.json"}},
        {{"output.probes=0.5 0.5 0.5", "output.vtu_coarsening=1"},
            {"output.probes = 0.5 0.5 0.5, output.vtu_coarsening = 1", "vtu_coarsening = 0"}},
        {{"output.probes=0.5 0.5 0.5; 0.5 1.5 0.5"},
            {"a point with y = 1.5 lies outside of the box; allowed: from 0 to 1"}},
        {{"output.probes=0.5 0.5"}, {"has a point of 2 numbers, '0.5 0.5'", "semicolons"}},
        {{"output.probes=1 1 1;"}, {"has a point of 0 numbers"}},
        {{"output.probes=0 0 a"}, {"output.probes = '0 0 a' has the entry 'a'"}},
        {{"output.probe_lines=0 0 0 : 1 1 1 : 5", "output.vtu_coarsening=1"},
            {"output.probe_lines = 0 0 0 : 1 1 1 : 5, output.vtu_coarsening = 1"}},
        {{"output.probe_lines=2 0 0 : 3 1 1 : 5"}, {"no point of line 1 lies in the box"}},
        {{"output.probe_lines=0 0 0 : 1 1 1"}, {"'0 0 0 : 1 1 1'", "FROM : TO : POINTS"}},
        {{"output.probe_lines=0 0 : 1 1 1 : 5"}, {"has a point of 2 numbers"}},
        {{"output.probe_lines= : 1 1 1 : 5"}, {"without two points"}},
        {{"output.probe_lines=0 0 0 : 1 1 1 : 1"}, {"of '1' points", "from 2 to 1000000"}},
        {{"output.vtu_lower=1,0,0"}, {"output.vtu_lower = 1, 0, 0", "in x"}},
        {{"output.vtu_upper=1,2"},
            {"output.vtu_upper = '1,2' has 2 entries, but problem.dimension is 3"}},
        {{"multigrid.single_levels=1"},
            {"multigrid.single_levels = 1, multigrid.precision = auto", "half, 2xfp16 or tf32"}},
        {{"multigrid.single_levels=3", "multigrid.precision=half", "problem.refinements=2"},
            {"multigrid.single_levels = 3, problem.refinements = 2", "at most"}},
    });
  }

  TEST(ParameterErrors, WhatIsAllowedAtTheEdge)
  {
    EXPECT_NO_THROW(default_parameters({"boundary.left=periodic", "boundary.right=periodic"}));
    EXPECT_NO_THROW(default_parameters({"problem.refinements=18"}));
    EXPECT_NO_THROW(default_parameters(
        {"multigrid.single_levels=3", "multigrid.precision=half", "problem.refinements=3"}));
    // Stretched cells have more levels than refinements.
    EXPECT_NO_THROW(default_parameters({"multigrid.single_levels=4", "multigrid.precision=half",
        "problem.refinements=3", "problem.upper=1,1,0.1"}));
    EXPECT_NO_THROW(default_parameters({"solver.solver=cg", "multigrid.smoother=patch"}));
    EXPECT_NO_THROW(default_parameters({"multigrid.eigenvalue_safety=1", "multigrid.damping=0"}));
    EXPECT_NO_THROW(
        default_parameters({"problem.right_hand_side=(x>=0.5) && (y!=z) ? max(x,y) : 2"}));
  }
} // namespace
} // namespace tensormg
