// A device that runs out of memory or fails in the middle of a solve: an error that says so, and no file that
// looks like a result. The last test leaves a device with which this process can do nothing more. Needs a GPU of its own.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <ostream>
#include <streambuf>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "apps/common/output.h"
#include "apps/solve/solve.h"
#include "kernels/device/device.h"
#include "kernels/device/launch.cuh"
#include "tests/support/temporary_directory.h"

namespace tensormg
{
namespace
{
  /// Calls something once, when the text `mark` has been written.
  class Trigger : public std::streambuf
  {
  public:
    Trigger(std::string mark, std::function<void()> action)
      : mark_(std::move(mark))
      , action_(std::move(action))
    {}
    bool was_pulled() const { return !action_; }

  private:
    int_type overflow(int_type c) override
    {
      const char letter = traits_type::to_char_type(c);
      xsputn(&letter, 1);
      return c;
    }
    std::streamsize xsputn(const char *text, std::streamsize size) override
    {
      text_.append(text, static_cast<std::size_t>(size));
      if (action_ && text_.find(mark_) != std::string::npos)
        std::exchange(action_, nullptr)();
      return size;
    }

    std::string text_, mark_;
    std::function<void()> action_;
  };

  __global__ void trap_kernel(int *never_written)
  {
    if (never_written == nullptr)
      __trap();
  }

  class DeviceFailure : public testing::Test
  {
  protected:
    void SetUp() override
    {
      if (device_count() == 0)
        GTEST_SKIP() << why_no_device();
      parameters_.backend = "cuda";
      parameters_.problem.dim = 2;
      parameters_.problem.degree = 2;
      parameters_.problem.coarse_cells = {3, 1, 1};
      parameters_.problem.refinements = 4;
      parameters_.problem.right_hand_side = "1";
      parameters_.solver.tolerance = 1e-11;
      // A long basis, whose vectors are taken when they are needed.
      parameters_.solver.basis_precision = BasisPrecision::double_precision;
      parameters_.solver.restart = 100;
      parameters_.solver.multigrid.degree = 1;
      parameters_.output.directory = directory_.path().string();
    }

    /// Solves; `action` is done after the first iteration. Returns the message of the error.
    std::string failure_of(const std::function<void()> &action)
    {
      Trigger trigger("\n          1  ", action);
      std::ostream out(&trigger), error(nullptr);
      Console console(MPI_COMM_SELF, Verbosity::normal, out, error);
      std::string message;
      try
      {
        run_solve(parameters_, MPI_COMM_SELF, console);
      }
      catch (const DeviceError &failure)
      {
        message = failure.what();
      }
      EXPECT_TRUE(trigger.was_pulled());
      return message;
    }

    Parameters parameters_;
    test::TemporaryDirectory directory_;
  };

  TEST_F(DeviceFailure, OutOfMemory)
  {
    Console console = Console::silent(MPI_COMM_SELF);
    ASSERT_TRUE(run_solve(parameters_, MPI_COMM_SELF, console).report.converged());
    ASSERT_TRUE(std::filesystem::exists(directory_ / "run.json"));
    {
      std::vector<DeviceArray<char>> all;
      const std::string message = failure_of([&] {
        for (std::int64_t size = std::int64_t(1) << 40; size > 0; size /= 2)
          while (size <= free_device_bytes())
            try
            {
              all.emplace_back(size);
            }
            catch (const DeviceError &)
            {
              break;
            }
      });
      EXPECT_NE(message.find("memory"), std::string::npos) << message;
      EXPECT_FALSE(std::filesystem::exists(directory_ / "run.json")); // that of the last solve
    }
    EXPECT_TRUE(run_solve(parameters_, MPI_COMM_SELF, console).report.converged());
  }

  TEST_F(DeviceFailure, Lost)
  {
    const std::string message = failure_of([] {
      launch("launching the end", &trap_kernel, 1, 1, 0, nullptr, static_cast<int *>(nullptr));
    });
    EXPECT_FALSE(message.empty());
    EXPECT_FALSE(std::filesystem::exists(directory_ / "run.json"));
    for (const auto &entry : std::filesystem::directory_iterator(directory_.path()))
      EXPECT_EQ(entry.path().extension(), ".prm") << entry.path();
  }
} // namespace
} // namespace tensormg
