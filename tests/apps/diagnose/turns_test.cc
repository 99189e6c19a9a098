// The diagnosis on a machine that becomes slower: kernels about as fast as their twins are measured by turns.
#include <array>
#include <sstream>

#include <gtest/gtest.h>

#include "apps/diagnose/classes.h"
#include "apps/diagnose/run.h"

namespace tensormg::diagnose
{
namespace
{
  struct Problem
  {};

  Machine machine_bound_by_arithmetic()
  {
    Machine machine;
    machine.place = Place::device;
    for (const double bytes : {1e6, 1e8})
      machine.stream.push_back({stream::Operation::scale, true, bytes, 1e12});
    for (const CeilingRow &row : ceiling_rows())
      if (row.place == Place::device)
        machine.ceilings.push_back({&row, 1e12, Milliseconds{}, {}});
    return machine;
  }

  /// The machine becomes slower with every run that it makes.
  double clock_of_machine = 1.;
  std::vector<int> order_of_runs;

  template <int own>
  class Slowing : public Candidate
  {
  public:
    double error() override { return 0.; }
    double milliseconds(int runs) override
    {
      order_of_runs.push_back(own);
      clock_of_machine *= 1.001;
      return (own == 1 ? 5. : 4.8) * runs * clock_of_machine;
    }
    Work work() const override { return {1e9, 16.}; }
  };
  template <int own>
  std::unique_ptr<Candidate> make_slowing(const Problem &, ThreadTeam &)
  {
    return std::make_unique<Slowing<own>>();
  }

  /// A library and a kernel that is as 5 to 4.8 faster; what the screen shows.
  std::string run_both(bool quick, Diagnosis &diagnosis)
  {
    diagnosis.parameters.diagnose.place = "both";
    diagnosis.machines.push_back(machine_bound_by_arithmetic());
    DiagnoseOptions options;
    options.quick = quick;
    ThreadTeam team(1);
    std::ostringstream out, err;
    Console console(MPI_COMM_SELF, Verbosity::normal, out, err);
    const std::vector<MatrixFile> no_files;
    Run run{diagnosis, options, team, console, no_files};
    const std::array rows{
        Row<Problem>{"library", "double", Place::device, "FP64 FMA", "", 1., make_slowing<1>},
        Row<Problem>{"own", "double", Place::device, "FP64 FMA", "library", 1., make_slowing<2>}};
    clock_of_machine = 1.;
    order_of_runs.clear();
    run_rows<Problem>(rows, "gemm", {}, "a problem", run);
    return out.str();
  }

  TEST(DiagnoseTurns, CloseCallsAreMeasuredByTurns)
  {
    Diagnosis diagnosis;
    const std::string screen = run_both(false, diagnosis);
    const std::optional<Gain> g = gain(diagnosis.entries.at(1), diagnosis);
    ASSERT_TRUE(g);
    EXPECT_TRUE(g->is_by_turns);
    EXPECT_NEAR(g->measured, 5. / 4.8, 2e-3);
    for (std::size_t i = order_of_runs.size() - 6; i < order_of_runs.size(); ++i)
      EXPECT_NE(order_of_runs[i], order_of_runs[i - 1]);
    EXPECT_NE(screen.find("x library by turns"), std::string::npos) << screen;
  }

  TEST(DiagnoseTurns, NotInAQuickRun)
  {
    Diagnosis diagnosis;
    run_both(true, diagnosis);
    const std::optional<Gain> g = gain(diagnosis.entries.at(1), diagnosis);
    ASSERT_TRUE(g);
    EXPECT_FALSE(g->is_by_turns);
    EXPECT_LT(g->measured, 5. / 4.8 - 4e-3); // measured later, so it seems slower
  }
} // namespace
} // namespace tensormg::diagnose
