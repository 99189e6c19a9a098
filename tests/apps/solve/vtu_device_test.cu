// A solution file of a part of the box from a solve on a device: what the host writes of the whole solution, although no more than
// that part is copied.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "apps/common/memory_plan.h"
#include "apps/common/output.h"
#include "apps/solve/solve.h"
#include "apps/solve/system.h"
#include "kernels/basis/make_cell_basis.h"
#include "kernels/device/device.h"
#include "operators/data/npy_array.h"
#include "tests/support/json.h"
#include "tests/support/parameter_files.h"
#include "tests/support/temporary_directory.h"

namespace tensormg
{
namespace
{
  using Overrides = std::vector<std::string>;

  class VtuOfADeviceSolve : public testing::Test
  {
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
    }

  protected:
    Parameters parameters(Overrides overrides, const Overrides &more = {}) const
    {
      overrides.insert(overrides.end(), more.begin(), more.end());
      overrides.push_back("output.directory=" + directory_.path().string());
      return default_parameters(overrides);
    }

    /// The file of a run as the user starts it.
    std::string file_of(const Parameters &parameters) const
    {
      Console silent = Console::silent(MPI_COMM_SELF);
      const RunRecord record = run_solve(parameters, MPI_COMM_SELF, silent);
      EXPECT_TRUE(record.report.converged()) << record.report.detail;
      return test::content(directory_.path() / "solution.vtu");
    }

    /// The file of this part of the box, written from the solution on all cells.
    std::string file_of_all_cells(const Parameters &whole, const Parameters &part) const
    {
      Console silent = Console::silent(MPI_COMM_SELF);
      const Grid grid = make_grid(whole.problem, MPI_COMM_SELF);
      const CellBasis basis = make_cell_basis(whole.problem.degree);
      const System system{whole, whole.solver, grid, basis, laplace::Backend::cuda, silent};
      RunRecord record = begin_record(whole, grid, "cuda");
      record.device = device_properties();
      const Vector<double> x = solve_on_device(system, record);
      const Grid written = grid_of_output(grid, part.output);
      EXPECT_EQ(x.block(), written.finest().block);
      record.parameters = part;
      record.report.reason = StopReason::converged;
      write_field(record, written, basis, x, silent);
      return test::content(directory_.path() / "solution.vtu");
    }

    const test::TemporaryDirectory directory_;
  };

  TEST_F(VtuOfADeviceSolve, IsThatOfAllCells)
  {
    const Overrides in_2d{"operator.backend=cuda", "problem.dimension=2", "problem.degree=2",
        "problem.coarse_cells=3", "problem.refinements=2", "problem.right_hand_side=1 + x"},
        in_3d{"operator.backend=cuda", "problem.degree=1", "problem.coarse_cells=3,2,1",
            "problem.refinements=1", "problem.right_hand_side=1 + x*y + z^2",
            "problem.exact_solution=x*y*z"},
        singular{"operator.backend=cuda", "problem.dimension=2", "problem.degree=2",
            "problem.refinements=3", "boundary.left=neumann", "boundary.right=neumann",
            "boundary.front=periodic", "boundary.back=periodic",
            "problem.right_hand_side=pi^2*cos(pi*x)", "problem.exact_solution=1 + cos(pi*x)"};
    const Overrides corner_2d{"output.vtu_lower=0.3,0.5", "output.vtu_upper=0.6,0.8"},
        slice{"output.vtu_lower=0.5,0.1,0.5"}, rows{"output.vtu_upper=1,1,0.4"},
        inside{"output.vtu_lower=0.1,0.3,0.2", "output.vtu_upper=0.4,0.7,0.3"},
        coarser{"output.vtu_lower=0.1,0.6,0.2", "output.vtu_coarsening=1"};
    for (const auto &[problem, part] : {std::pair{in_2d, corner_2d}, {in_3d, slice}, {in_3d, rows},
             {in_3d, inside}, {in_3d, coarser}, {singular, corner_2d}})
    {
      SCOPED_TRACE(testing::PrintToString(part));
      const Parameters of_part = parameters(problem, part);
      Parameters of_whole = of_part;
      of_whole.output.vtu_lower = of_whole.output.vtu_upper = std::nullopt;
      const std::string expected = file_of_all_cells(of_whole, of_part);
      EXPECT_NE(file_of(of_whole), expected) << "not a part";
      EXPECT_EQ(file_of(of_part), expected);
    }
  }

  /// A run as the user starts it, with files in the folder `name`.
  RunRecord run(const test::TemporaryDirectory &directory, const std::string &name, Overrides more)
  {
    Overrides all{"problem.dimension=2", "problem.degree=2", "problem.coarse_cells=3",
        "problem.refinements=2", "problem.right_hand_side=1 + x", "solver.tolerance=1e-11",
        "output.write_npy=true", "output.directory=" + (directory / name).string()};
    all.insert(all.end(), more.begin(), more.end());
    Console silent = Console::silent(MPI_COMM_SELF);
    return run_solve(default_parameters(all), MPI_COMM_SELF, silent);
  }

  TEST_F(VtuOfADeviceSolve, ArraysAndNumbersAreThoseOfTheHost)
  {
    const Overrides about{
        "output.probes=0.5 0.5; 0.1 0.7", "output.vtu_lower=0.3,0.5", "output.vtu_upper=0.6,0.8"};
    Overrides host = about, device = about;
    host.emplace_back("operator.backend=cpu");
    device.emplace_back("operator.backend=cuda");
    const RunRecord expected = run(directory_, "host", host);
    const RunRecord found = run(directory_, "device", device);
    ASSERT_TRUE(found.device.has_value());
    ASSERT_TRUE(found.numbers.has_value());
    EXPECT_NEAR(found.numbers->integral, expected.numbers->integral, 1e-10);
    EXPECT_NEAR(found.numbers->l2_norm, expected.numbers->l2_norm, 1e-10);
    EXPECT_NEAR(*found.numbers->side_flux[1], *expected.numbers->side_flux[1], 1e-9);
    ASSERT_EQ(found.probes.size(), 2U);
    EXPECT_NEAR(found.probes[1].value, expected.probes[1].value, 1e-10);
    const NpyArray of_device((directory_ / "device/solution.npy").string()),
        of_host((directory_ / "host/solution.npy").string());
    ASSERT_EQ(of_device.shape(), of_host.shape());
    for (std::int64_t i = 0; i < of_host.size(); ++i)
      ASSERT_NEAR(of_device[i], of_host[i], 1e-10);
    // Of a part of the box the host has no numbers; of an array it can start again.
    EXPECT_FALSE(run(directory_, "part",
        {"operator.backend=cuda", "output.write_npy=false", "output.vtu_upper=0.6,0.3"})
                     .numbers.has_value());
    const RunRecord again = run(directory_, "again",
        {"operator.backend=cuda", "problem.initial_guess=T0", "solver.tolerance=1e-9",
            "problem.fields=T0=" + (directory_ / "device/solution.json").string()});
    EXPECT_TRUE(again.report.converged());
    EXPECT_LE(again.report.iterations, 1);
  }

  TEST_F(VtuOfADeviceSolve, NeedsMemoryForItsRowsAlone)
  {
    const Overrides problem{"problem.refinements=5", "problem.right_hand_side=1"};
    const auto bytes = [&](const Overrides &part) {
      const Parameters p = parameters(problem, part);
      const Grid grid = part_of_output(make_grid(p.problem, MPI_COMM_SELF), p.output);
      return make_memory_plan(grid, p.solver, MemoryPlace::beside_device).bytes();
    };
    const double all = bytes({});
    EXPECT_EQ(bytes({"output.vtu_upper=1,1,0.25"}), all / 4.);
    EXPECT_EQ(bytes({"output.vtu_lower=0.75,0.5,0.75"}), all / 8.);
  }
} // namespace
} // namespace tensormg
