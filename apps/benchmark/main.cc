// tensormg-benchmark: measures the solver and writes JSON and a table.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>

#include <CLI/CLI.hpp>
#include <mpi.h>
#include <nlohmann/json.hpp>

#include "apps/benchmark/benchmark.h"
#include "apps/benchmark/curved.h"
#include "apps/benchmark/curved_device.h"
#include "apps/common/output.h"
#include "apps/common/program.h"
#include "apps/parameters/parameters.h"
#include "operators/solver/backend_choice.h"

namespace
{
/// What cannot be written shall be known before minutes of measuring. Leaves earlier results alone.
void require_writable(const std::string &output)
{
  try
  {
    tensormg::on_first_rank(MPI_COMM_WORLD, [&] {
      const std::filesystem::path folder = std::filesystem::path(output).parent_path();
      if (!folder.empty())
        std::filesystem::create_directories(folder);
      for (const char *ending : {".json", ".md"})
        if (!std::ofstream(output + ending, std::ios::app))
          throw std::runtime_error("cannot write " + output + ending);
    });
  }
  catch (const std::exception &error)
  {
    throw tensormg::ParameterError(std::string("--output: ") + error.what());
  }
}

/// On standard error: the output is a table that people keep.
tensormg::BenchmarkVoice voice_of(bool is_quiet)
{
  tensormg::BenchmarkVoice voice;
  if (!is_quiet)
    voice.say = [](const std::string &line) { std::fputs(line.c_str(), stderr); };
  voice.progress = tensormg::Progress::on_screen(is_quiet);
  return voice;
}
struct CommandLine
{
  tensormg::BenchmarkOptions options;
  std::string output;
  bool is_quiet = false;
};

void declare(CLI::App &app, CommandLine &line)
{
  tensormg::BenchmarkOptions &options = line.options;
  app.add_option("--degrees", options.degrees, "Polynomial degrees")->check(CLI::Range(1, 8));
  auto *const curved = app.add_flag("--curved", options.curved,
      "Curved cells in 3D: on a GPU, or on the CPU, each rank with a mesh of its own, and deal.II's MatrixFree beside them");
  app.add_option("--backend", options.backend,
         "auto, which takes a GPU for each rank if there are such; cpu; or cuda, wmma, mma")
      ->check(CLI::IsMember({"auto", "cpu", "cuda", "wmma", "mma"}));
  auto *const dofs =
      app.add_option("--dofs", options.dofs, "Unknowns wanted, of all ranks, with --curved of each")
          ->check(CLI::PositiveNumber);
  app.add_option_function<std::int64_t>(
         "--dofs-per-rank",
         [&options](std::int64_t wanted) {
           options.dofs = wanted;
           options.dofs_per_rank = true;
         },
         "Unknowns wanted of each rank")
      ->check(CLI::PositiveNumber)
      ->excludes(dofs);
  app.add_option("--dimension", options.dim, "2 or 3")->check(CLI::Range(2, 3))->excludes(curved);
  app.add_option("--repetitions", options.repetitions, "Of every kernel")
      ->check(CLI::Range(1, 1000));
  app.add_option("--output", line.output, "Stem of the result files, .json and .md are appended");
  app.add_flag("-q,--quiet", line.is_quiet, "Show only the table at the end, no line per part");
}

/// Of curved cells; takes the device.
bool is_on_device(const std::string &backend, const tensormg::BenchmarkVoice &voice)
{
  try
  {
    const tensormg::BackendChoice choice =
        tensormg::choose_backend_of_blocks(backend, MPI_COMM_WORLD);
    if (!choice.reason.empty())
      voice.say("  no GPU is used: " + choice.reason + '\n');
    return tensormg::laplace::is_device_backend(choice.backend);
  }
  catch (const std::invalid_argument &error)
  {
    throw tensormg::ParameterError(std::string("--") + error.what());
  }
}

struct Measured
{
  nlohmann::json result;
  std::string table;
};
Measured measure(const CommandLine &line, bool has_dofs, const tensormg::BenchmarkVoice &voice)
{
  using namespace tensormg;
  BenchmarkOptions options = line.options;
  if (!options.curved)
  {
    const nlohmann::json result = run_benchmark(options, MPI_COMM_WORLD, voice);
    return {result, benchmark_table(result)};
  }
  const bool on_device = is_on_device(options.backend, voice);
  options.dofs_per_rank = true;
  if (!has_dofs)
    options.dofs = on_device ? dofs_of_curved_device_benchmark : dofs_of_curved_benchmark;
  const nlohmann::json result = on_device ? run_curved_benchmark_on_device(options, voice)
                                          : run_curved_benchmark(options, MPI_COMM_WORLD, voice);
  return {
      result, on_device ? curved_device_benchmark_table(result) : curved_benchmark_table(result)};
}
} // namespace

int main(int argc, char **argv)
{
  tensormg::begin_mpi();
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  CLI::App app{"Measures scale bandwidth, operator, exchange and solve", "tensormg benchmark"};
  CommandLine line;
  declare(app, line);
  int code = 0;
  try
  {
    app.parse(argc, argv);
    if (!line.output.empty())
      require_writable(line.output);
    const tensormg::BenchmarkVoice voice = voice_of(line.is_quiet || rank > 0);
    const bool has_dofs = app.count("--dofs") + app.count("--dofs-per-rank") > 0;
    const auto [result, table] = measure(line, has_dofs, voice);
    if (rank == 0)
    {
      std::cout << table;
      if (!line.output.empty())
      {
        tensormg::write_file(line.output + ".json", result.dump(1) + "\n");
        tensormg::write_file(line.output + ".md", table);
      }
    }
  }
  catch (const CLI::Success &request) // --help
  {
    if (rank == 0)
      app.exit(request);
  }
  catch (const CLI::ParseError &error)
  {
    if (rank == 0)
      std::fprintf(stderr, "tensormg: error: %s; see tensormg benchmark --help\n", error.what());
    code = tensormg::exit_parameters;
  }
  catch (const tensormg::ParameterError &error) // alike on all ranks
  {
    if (rank == 0)
      std::fprintf(stderr, "tensormg: error: %s\n", error.what());
    code = tensormg::exit_parameters;
  }
  catch (const tensormg::DeviceError &error)
  {
    std::fprintf(stderr, "tensormg: error: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, tensormg::exit_device_failed);
  }
  catch (const std::exception &error)
  {
    std::fprintf(stderr, "tensormg: error: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, tensormg::exit_unexpected);
  }
  MPI_Finalize();
  return code;
}
