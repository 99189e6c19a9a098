// main() of the tests that use MPI: rank 0 reports, and a failure on any rank fails the run.
#include <iostream>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <mpi.h>

namespace
{
/// Code by which ctest knows a skipped test.
constexpr int skipped = 77;

/// Prints the failures of the ranks that otherwise stay silent.
class FailurePrinter : public testing::EmptyTestEventListener
{
public:
  explicit FailurePrinter(int rank)
    : rank_(rank)
  {}

private:
  void OnTestStart(const testing::TestInfo &test) override
  {
    name_ = std::string(test.test_suite_name()) + '.' + test.name();
  }

  // GoogleTest holds its lock here: do not ask it for the current test.
  void OnTestPartResult(const testing::TestPartResult &result) override
  {
    if (!result.failed())
      return;
    std::cerr << "rank " << rank_ << ": " << name_ << '\n'
              << (result.file_name() != nullptr ? result.file_name() : "") << ':'
              << result.line_number() << ": " << result.message() << std::endl;
  }

  int rank_;
  std::string name_;
};
} // namespace

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  testing::InitGoogleTest(&argc, argv);
  if (rank != 0)
  {
    testing::TestEventListeners &listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(std::make_unique<FailurePrinter>(rank).release());
  }
  int failed = RUN_ALL_TESTS();
  const testing::UnitTest &tests = *testing::UnitTest::GetInstance();
  int skipped_tests = tests.skipped_test_count();
  const int ran = tests.test_to_run_count();
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &skipped_tests, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  if (failed != 0 || ran == 0)
    return 1;
  return skipped_tests > 0 ? skipped : 0;
}
