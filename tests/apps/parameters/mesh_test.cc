// Meshes of curved cells in parameter files: every way to write them, that they are read back, and what is refused.
#include "apps/parameters/mesh.h"

#include <sstream>

#include <gtest/gtest.h>

#include "tests/support/parameter_files.h"

namespace tensormg
{
namespace
{
  using Parts = std::vector<std::string>;

  const Parts mapped{"mesh.type=mapped", "problem.dimension=2", "mesh.map=x + 0.1*sin(y); y"};
  const Parts ring{"mesh.type=generate", "problem.dimension=2", "mesh.generator=hyper_shell",
      "mesh.generator_arguments=0,0 : 0.5 : 1 : 5 : true"};

  Parameters read(Parts base, const Parts &overrides)
  {
    base.insert(base.end(), overrides.begin(), overrides.end());
    return default_parameters(base);
  }
  void expect_refused(const Parts &base, const Parts &overrides, const Parts &parts)
  {
    SCOPED_TRACE(parts.front());
    expect_message([&] { read(base, overrides); }, parts);
  }

  TEST(MeshParameters, AreReadAndWritten)
  {
    const Parameters p = read(ring,
        {"mesh.degree=2", "problem.coefficient=2; 1+x; 0.5*material",
            "boundary.conditions=0: robin max(1, x), 3*y; * : neumann 2"});
    EXPECT_EQ(p.mesh.type, MeshType::generate);
    EXPECT_EQ(p.mesh.generator, "hyper_shell");
    EXPECT_EQ(p.mesh.degree, 2);
    EXPECT_EQ(p.problem.cell_coefficient[1], "1+x");
    EXPECT_EQ(p.problem.mixed_coefficient[0], "0.5*material");
    ASSERT_EQ(p.mesh.conditions.size(), 2u);
    EXPECT_EQ(p.mesh.conditions[0].first, "0");
    EXPECT_EQ(p.mesh.conditions[0].second.kind, BoundaryKind::robin);
    EXPECT_EQ(p.mesh.conditions[0].second.robin_coefficient, "max(1, x)");
    EXPECT_EQ(p.mesh.conditions[0].second.value, "3*y");
    EXPECT_EQ(p.mesh.conditions[1].first, "*");
    EXPECT_EQ(p.solver.restart, restart_on_blocks);
    EXPECT_EQ(read(ring, {"solver.restart=7"}).solver.restart, 7);
    std::ostringstream text, again;
    print_parameters(p, text);
    const TemporaryFile file("copy.prm", text.str());
    print_parameters(read_parameters(file.path()), again);
    EXPECT_EQ(again.str(), text.str());
    EXPECT_EQ(read(mapped, {}).mesh.map[0], "x + 0.1*sin(y)");
  }

  TEST(MeshParameters, WhatATypeNeedsOrHasNot)
  {
    expect_refused({"mesh.type=mapped"}, {}, {"mesh.type = mapped", "mesh.map", "needs it"});
    expect_refused({"mesh.type=generate"}, {}, {"mesh.generator", "needs it"});
    expect_refused({"mesh.type=file"}, {}, {"mesh.file", "needs it"});
    expect_refused({}, {"mesh.file=a.msh"}, {"mesh.file", "mesh.type = file"});
    expect_refused({}, {"mesh.generator_arguments=1"}, {"mesh.generator_arguments", "generate"});
    expect_refused(ring, {"boundary.left=neumann"}, {"boundary.left", "boundary.conditions"});
    expect_refused(
        mapped, {"boundary.conditions=0: neumann 1"}, {"boundary.conditions", "boundary.left"});
    expect_refused({"mesh.type=mapped", "problem.dimension=3"}, {"mesh.map=x; y"},
        {"has 2 entries", "problem.dimension is 3"});
    expect_refused({}, {"problem.dimension=2", "problem.coefficient=1; 2; 0.5"},
        {"problem.coefficient = 1; 2; 0.5", "a full tensor", "mapped"});
    expect_refused({}, {"multigrid.relaxation=lines"}, {"multigrid.relaxation", "mesh.type"});
    EXPECT_EQ(
        read(ring, {"multigrid.relaxation=lines"}).solver.multigrid.relaxation, Relaxation::lines);
    expect_refused({}, {"multigrid.operator=cell_mean"},
        {"multigrid.operator", "mesh.type", "one metric each"});
    expect_refused(ring, {"multigrid.operator=mean"}, {"auto, true_metric, cell_mean"});
    EXPECT_EQ(read(ring, {"multigrid.operator=cell_mean"}).solver.multigrid.cycle_operator,
        CycleOperator::cell_mean);
    expect_refused({}, {"mesh.averages=harmonic"}, {"mesh.averages", "mesh.type"});
    EXPECT_EQ(read(ring, {"mesh.averages=harmonic"}).mesh.averages, FaceAverage::harmonic);
    expect_refused(ring, {"mesh.averages=harmonic", "multigrid.operator=cell_mean"},
        {"multigrid.operator", "mesh.averages", "true_metric"});
    expect_refused(ring, {"problem.materials=1: 50, 2: 0.05"},
        {"problem.materials", "if(material == 1, 50, 0.05)"});
    expect_refused(ring, {"mesh.type=shell"}, {"mesh.type", "box, mapped, generate, file"});
  }

  TEST(MeshParameters, ConditionsThatCannotBeRead)
  {
    for (const auto &[text, complaint] : std::vector<std::pair<std::string, std::string>>{
             {"dirichlet 1", "without a colon"}, {": dirichlet 1", "without a name"},
             {"0: drichlet 1", "has the kind 'drichlet'"}, {"0: periodic", "without its partner"},
             {"0: robin 1", "without 'r, q'"}, {"0: neumann 1; 0: neumann 2", "'0' twice"},
             {"0: neumann 1 +", "cannot be parsed"}, {"0: neumann foo", "boundary.conditions"}})
      expect_refused(ring, {"boundary.conditions=" + text}, {complaint});
  }

  TEST(MeshParameters, WhatCurvedCellsDoNotHave)
  {
    for (const std::string setting : {"solver.solver=direct", "multigrid.smoother=patch",
             "multigrid.coarsening=vertices_and_lines", "multigrid.coarsening=fast_diagonalisation",
             "multigrid.precision=tf32", "solver.full_multigrid=true", "operator.backend=mma",
             "problem.grading=tanh 3 both", "output.write_npy=true", "output.vtu_coarsening=1",
             "output.vtu_lower=0.5, 0.5", "solver.basis_precision=single"})
      expect_refused(mapped, {setting},
          {setting.substr(0, setting.find('=')), "mesh.type = mapped",
              "allowed: ", "or mesh.type = box"});
    for (const char *backend : {"auto", "cpu", "cuda"})
      EXPECT_NO_THROW(read(mapped, {std::string("operator.backend=") + backend}));
  }

  TEST(MeshParameters, ExpressionsAreParsed)
  {
    expect_refused(mapped, {"mesh.map=x; y + sine(x)"}, {"mesh.map", "sine"});
    expect_refused(ring, {"problem.coefficient=1 + q"}, {"problem.coefficient", "q"});
    expect_refused(ring, {"problem.right_hand_side=x +"}, {"problem.right_hand_side"});
    EXPECT_NO_THROW(read(ring, {"problem.right_hand_side=material"}));
    expect_refused({"problem.dimension=2"}, {"problem.right_hand_side=material"}, {"material"});
  }
} // namespace
} // namespace tensormg
