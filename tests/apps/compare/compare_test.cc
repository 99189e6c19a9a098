// The comparison: wrong kernels are noticed, missing ones named, and the files say what was measured.
// ranks: 1 2
#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <sstream>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "apps/common/program.h"
#include "apps/compare/compare.h"
#include "apps/compare/operation.h"
#include "apps/compare/report.h"
#include "apps/parameters/text.h"
#include "apps/parameters/words.h"
#include "kernels/basis/make_cell_basis.h"
#include "tests/support/json.h"
#include "tests/support/parameter_files.h"
#include "tests/support/temporary_directory.h"

namespace tensormg
{
namespace
{
  using laplace::Form;
  using test::TemporaryDirectory;

  /// The cpu operator, right or with one mistake at a time.
  enum class Mistake : std::uint8_t
  {
    none,
    wrong_entry,   ///< of the last cell
    missing_entry, ///< not written
    padding,       ///< not zero
    ignores_old    ///< reads a zero vector in its place
  };
  Mistake mistake = Mistake::none;

  template <Form form>
  void operator_with_mistake(const laplace::Arguments<double> &a)
  {
    const Block &block = a.block;
    const std::int64_t last =
        block.index(block.cells[0] - 1, block.cells[1] - 1, block.cells[2] - 1, 1, 1, 0);
    const double before = a.dst[last];
    laplace::Arguments<double> arguments = a;
    if (mistake == Mistake::ignores_old)
      arguments.old = nullptr;
    laplace::select<double>(laplace::Backend::cpu, form, block.dim, block.degree())(arguments);
    if (mistake == Mistake::wrong_entry)
      a.dst[last] *= 1. + 1e-9;
    if (mistake == Mistake::missing_entry)
      a.dst[last] = before;
    if (mistake == Mistake::padding)
      a.dst[block.cells[0]] = 1e-30;
  }

  template <Form form>
  double error_with(Mistake m, const OperationSetup &setup)
  {
    mistake = m;
    const CellBasis basis = make_cell_basis(setup.block.degree());
    return Operation<double, HostArray<double>>(setup, basis, operator_with_mistake<form>).check();
  }

  template <Form form>
  void expect_mistakes_are_found(const OperationSetup &setup)
  {
    EXPECT_LT(error_with<form>(Mistake::none, setup), 1e-14);
    EXPECT_GT(error_with<form>(Mistake::wrong_entry, setup), 1e-13);
    EXPECT_TRUE(std::isinf(error_with<form>(Mistake::missing_entry, setup)));
    if (setup.block.pitch > setup.block.cells[0])
    {
      EXPECT_TRUE(std::isinf(error_with<form>(Mistake::padding, setup)));
    }
    if (form == Form::chebyshev)
    {
      EXPECT_GT(error_with<form>(Mistake::ignores_old, setup), 1e-3);
    }
  }

  TEST(CompareCheck, FindsMistakes)
  {
    for (const int dim : {2, 3})
    {
      for (const OperationSetup &small : small_setups(dim, 3, Form::apply))
        expect_mistakes_are_found<Form::apply>(small);
      for (const OperationSetup &small : small_setups(dim, 2, Form::chebyshev))
        expect_mistakes_are_found<Form::chebyshev>(small);
      // Larger than what is compared completely.
      const auto cells = nearest_cells(dim, 3, 200'000);
      expect_mistakes_are_found<Form::residual>(timed_setup(dim, 3, cells, Form::residual, 0));
      expect_mistakes_are_found<Form::chebyshev>(timed_setup(dim, 3, cells, Form::chebyshev, 1));
    }
  }

  TEST(CompareCheck, PartsOfARandomVectorAreThoseOfTheWhole)
  {
    const OperationSetup setup = small_setups(3, 2, Form::apply)[0];
    const std::int64_t pitch = setup.block.pitch, lines = setup.block.size() / pitch;
    std::vector<float> whole(static_cast<std::size_t>(setup.block.size())), part(whole.size());
    fill_lines(setup, Operand::b, 0, lines, whole.data());
    fill_lines(setup, Operand::b, 7, lines - 7, part.data());
    double sum = 0., squares = 0.;
    for (std::size_t i = 0; i < static_cast<std::size_t>((lines - 7) * pitch); ++i)
    {
      ASSERT_EQ(part[i], whole[i + static_cast<std::size_t>(7 * pitch)]);
      sum += part[i];
      squares += part[i] * part[i];
    }
    const auto n = static_cast<double>(setup.block.dofs());
    EXPECT_NEAR(sum / n, 0., 0.03);
    EXPECT_NEAR(squares / n, 1. / 12., 0.01); // uniform in [-1/2, 1/2)
    std::vector<float> other(whole.size());
    fill_lines(setup, Operand::src, 0, lines, other.data());
    EXPECT_NE(other, whole);
  }

  TEST(CompareTable, NearestCells)
  {
    using Cells = std::array<std::int64_t, 3>;
    EXPECT_EQ(nearest_cells(3, 3, 16'777'216), (Cells{64, 64, 64}));
    EXPECT_EQ(nearest_cells(2, 3, 16'777'216), (Cells{1024, 1024, 1}));
    EXPECT_EQ(nearest_cells(3, 1, 1000), (Cells{5, 5, 5}));
    EXPECT_EQ(nearest_cells(3, 8, 1), (Cells{1, 1, 1}));
    EXPECT_EQ(nearest_cells(3, 2, 453'000'000, true), (Cells{256, 256, 256}));
    EXPECT_EQ(nearest_cells(2, 3, 17'000'000, true), (Cells{1024, 1024, 1}));
    EXPECT_EQ(nearest_cells(3, 4, 600'000'000, true), (Cells{128, 128, 128}));
    EXPECT_EQ(nearest_cells(3, 8, 1, true), (Cells{1, 1, 1}));
  }

  TEST(CompareTable, RowsAreInWordsOfTheParameterFile)
  {
    const auto is_known = [](const auto &list, const std::string &word) {
      return std::find(list.begin(), list.end(), word) != list.end();
    };
    for (const Implementation &row : implementations())
    {
      EXPECT_TRUE(is_known(compare_backends(), row.backend)) << row.backend;
      EXPECT_TRUE(is_known(compare_forms, row.form)) << row.form;
      EXPECT_TRUE(is_known(compare_precisions, row.precision)) << row.precision;
      EXPECT_EQ(
          &find_implementation({3, 1, 1, "apply", row.form, row.precision, row.backend}), &row);
    }
    try
    {
      find_implementation({3, 1, 1, "apply", "rank2", "tf32", "cpu"});
      ADD_FAILURE();
    }
    catch (const NotAvailable &error)
    {
      EXPECT_STREQ(error.what(),
          "no kernel for rank2 tf32; there are rank2 double, rank2 single, rank2 half");
    }
  }

  TEST(CompareMeasure, MedianAndRunsPerSample)
  {
    int calls = 0;
    const auto slow =
        measure([&](int runs) { return ++calls < 4 ? 50. : runs * 10. * calls; }, 5, 1e3);
    EXPECT_EQ(slow.runs, 1);
    EXPECT_EQ(slow.samples, 5); // calls 3 to 7: 50, 40, 50, 60, 70
    EXPECT_DOUBLE_EQ(slow.median, 50.);
    EXPECT_DOUBLE_EQ(slow.fastest, 40.);
    EXPECT_DOUBLE_EQ(slow.slowest, 70.);
    EXPECT_EQ(measure([](int runs) { return 0.1 * runs; }, 3, 1.).runs, 30);
    EXPECT_EQ(measure([](int) { return 5e3; }, 9, 1.).samples, 1);
    EXPECT_EQ(measure([](int) { return 600.; }, 9, 1.).samples, 2);
  }

  TEST(CompareMeasure, RestsBetweenBursts)
  {
    using Clock = std::chrono::steady_clock;
    constexpr double pause = 0.02;
    int calls = 0;
    std::vector<int> after_pause;
    Clock::time_point last = Clock::now();
    const auto time = measure(
        [&](int) {
          if (std::chrono::duration<double>(Clock::now() - last).count() >= pause)
            after_pause.push_back(calls);
          last = Clock::now();
          return ++calls == 1 ? 40. : 10.; // the first run is slow
        },
        5, 1., {.warm_up = 45., .burst = 65., .pause = pause});
    // Warm-up 40, 10, samples 10, 10; warm-up 5 times 10, samples 10, 10; warm-up, a sample.
    EXPECT_EQ(time.samples, 5);
    EXPECT_EQ(calls, 4 + 7 + 6);
    EXPECT_DOUBLE_EQ(time.slowest, 10.);
    for (const int begin : {0, 4, 11}) // the machine may add others
      EXPECT_EQ(std::count(after_pause.begin(), after_pause.end(), begin), 1) << begin;
  }

  TEST(CompareMeasure, ClockInABurstAndSpeedUnderLastingLoad)
  {
    double now = 0., begin = 0.; // milliseconds
    std::vector<double> starts;
    const CoreClock clock{[&] { starts.push_back(begin = now); },
        [&]() -> std::optional<double> { return 1e-3 * (now - begin); }};
    // 1 ms each for the first 30 ms, then 2.
    const auto time = [&](int runs) {
      const double before = now;
      for (int r = 0; r < runs; ++r)
        now += now < 30. ? 1. : 2.;
      return now - before;
    };
    const Pace pace{.warm_up = 5., .burst = 20., .pause = 0.};
    const UnderLoad load = measure_under_load(time, clock, 3, pace, 0.1);
    // Warm-up until 5, sample until 8; by threes half of the time until 58, and the other one, 9 times 6.
    EXPECT_EQ(starts, (std::vector<double>{5., 58.}));
    EXPECT_DOUBLE_EQ(load.burst_gigahertz.value_or(0.), 3e-3);
    ASSERT_TRUE(load.lasting.has_value());
    EXPECT_DOUBLE_EQ(load.lasting->milliseconds, 2.);
    EXPECT_DOUBLE_EQ(load.lasting->gigahertz.value_or(0.), 54e-3);

    EXPECT_FALSE(measure_under_load(time, clock, 3, pace, 0.).lasting.has_value());
    EXPECT_FALSE(measure_under_load(time, clock, 3, pace, 12e-3).lasting.has_value()); // 6 ms alone
    const CoreClock unknown{[] {}, []() -> std::optional<double> { return std::nullopt; }};
    const UnderLoad other = measure_under_load(time, unknown, 1, pace, 0.02);
    EXPECT_EQ(other.burst_gigahertz, std::nullopt);
    ASSERT_TRUE(other.lasting.has_value());
    EXPECT_EQ(other.lasting->gigahertz, std::nullopt);
  }

  /// An entry of 1e9 unknowns that takes `milliseconds` on a machine of 1 TB/s and 10 TFLOP/s.
  struct Example
  {
    explicit Example(double milliseconds)
    {
      entry.dofs = 1'000'000'000;
      entry.work = {16., 25.};
      entry.time.median = milliseconds;
      machine.scale_bandwidth = 1e12;
      machine.peaks[peak::Unit::fp64] = 1e13;
      machine.peaks[peak::Unit::shared_memory] = 1e13;
    }
    CompareEntry entry;
    Machine machine;
  };

  TEST(CompareBounds, TheTightestOfThoseKnown)
  {
    Example example(20.);
    EXPECT_DOUBLE_EQ(percent_of_scale(example.entry, example.machine), 80.);
    EXPECT_DOUBLE_EQ(percent_of_peak(example.entry, example.machine), 12.5);
    EXPECT_EQ(predict(example.entry, example.machine).size(), 2u);
    EXPECT_STREQ(tightest_bound(example.entry, example.machine).name, "memory");
    EXPECT_DOUBLE_EQ(tightest_bound(example.entry, example.machine).milliseconds, 16.);
    example.entry.resources = Resources{128, 65536, 0.25, 180., std::nullopt};
    example.entry.instructions_per_dof = 40.;
    EXPECT_EQ(predict(example.entry, example.machine).size(), 3u); // no rate of issue
    EXPECT_STREQ(tightest_bound(example.entry, example.machine).name, "shared memory");
    EXPECT_DOUBLE_EQ(tightest_bound(example.entry, example.machine).milliseconds, 18.);
    example.entry.resources->wavefronts = 1.5; // bank conflicts
    EXPECT_DOUBLE_EQ(tightest_bound(example.entry, example.machine).milliseconds, 27.);
    example.machine.peaks[peak::Unit::issue] = 1.25e12;
    EXPECT_STREQ(tightest_bound(example.entry, example.machine).name, "issue");
    const auto bounds = predict(example.entry, example.machine);
    EXPECT_DOUBLE_EQ(predicted_milliseconds(bounds, "issue").value_or(0.), 32.);
    EXPECT_DOUBLE_EQ(predicted_milliseconds(bounds, "memory").value_or(0.), 16.);
    EXPECT_EQ(predicted_milliseconds(bounds, "latency"), std::nullopt);
  }

  Parameters small_comparison(const TemporaryDirectory &directory)
  {
    return default_parameters(
        {"compare.degrees=1, 2", "compare.dofs=3000", "compare.backends=reference, cpu, cuda, mma",
            "compare.dimensions=2, 3", "compare.steps=apply, chebyshev", "compare.repetitions=2",
            "output.directory=" + directory.path().string()});
  }

  TEST(CompareProgram, MeasuresAndWrites)
  {
    const TemporaryDirectory directory(MPI_COMM_WORLD);
    std::ostringstream out, error;
    Console console(MPI_COMM_WORLD, Verbosity::normal, out, error);
    ASSERT_EQ(compare_program(small_comparison(directory), MPI_COMM_WORLD, console), 0);
    int rank = 0, ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank != 0)
      return;
    EXPECT_NE(out.str().find("p = 2, single: cpu"), std::string::npos) << out.str();
    EXPECT_NE(
        out.str().find(
            "mma: no kernel for rank2 single; there are rank2 double, rank2 tf32, rank2 half, "
            "rank2 2xfp16 (8 entries)"),
        std::string::npos)
        << out.str();

    const auto json = test::parse_json(test::content(directory / "compare.json"));
    for (const char *key : {"device", "driver", "git", "date", "command"})
      EXPECT_TRUE(json.contains(key)) << key;
    EXPECT_EQ(json["complete"], true);
    EXPECT_GT(json["scale_bandwidth_gb_per_s"], 0.1);
    EXPECT_EQ(json["failed"].size(), 0u);
    std::size_t host_entries = 0;
    for (const auto &entry : json["entries"])
    {
      host_entries += entry["place"] == "host";
      EXPECT_LE(entry["error"], entry["error_allowed"]);
      for (const char *key : {"milliseconds", "gdofs_per_second", "bytes", "percent_of_scale"})
        EXPECT_GT(entry[key].get<double>(), 0.) << key;
      if (entry["place"] == "host")
      {
        double dofs = ranks;
        for (const auto &cells : entry["cells"])
          dofs *= cells.get<double>() * (entry["degree"].get<double>() + 1.);
        EXPECT_EQ(entry["dofs"].get<double>(), dofs);
      }
    }
    EXPECT_EQ(host_entries, 48u);
    EXPECT_EQ(json["entries"].size() + json["not_available"].size(), 96u);

    std::istringstream csv(test::content(directory / "compare.csv"));
    std::string line;
    std::getline(csv, line);
    const std::size_t n_columns = split(line, ',').size();
    int lines = 0;
    for (; std::getline(csv, line); ++lines)
    {
      // Commas within quotes separate nothing.
      const std::size_t quote = line.find('"');
      const std::string plain = line.substr(0, quote) + (quote == std::string::npos ? "" : "x");
      EXPECT_EQ(
          static_cast<std::size_t>(std::count(plain.begin(), plain.end(), ',')) + 1, n_columns)
          << line;
    }
    EXPECT_EQ(lines, 96);
  }

  TEST(CompareProgram, NothingAvailableIsAnError)
  {
    const TemporaryDirectory directory(MPI_COMM_WORLD);
    Console console = Console::silent(MPI_COMM_WORLD);
    Parameters parameters = small_comparison(directory);
    parameters.compare.backends = {"mma"};
    EXPECT_EQ(compare_program(parameters, MPI_COMM_WORLD, console), exit_unexpected);
  }

  TEST(CompareParameters, WrongWordsAreNamed)
  {
    expect_message([] { default_parameters({"compare.backends=cpu, cudda"}); },
        {"compare.backends", "'cudda'", "did you mean 'cuda'?", "device_reference"});
    expect_message([] { default_parameters({"compare.steps=apply, apply"}); }, {"twice"});
    expect_message([] { default_parameters({"compare.precisions="}); }, {"is empty", "half"});
    expect_message([] { default_parameters({"compare.dofs=20, 10"}); }, {"is not increasing"});
    expect_message([] { default_parameters({"compare.dimensions=1"}); }, {"'1'", "from 2 to 3"});
  }
} // namespace
} // namespace tensormg
