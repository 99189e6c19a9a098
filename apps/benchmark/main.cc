// tensormg-benchmark: measures the CPU solver and writes JSON and a table.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>

#include <CLI/CLI.hpp>
#include <mpi.h>
#include <nlohmann/json.hpp>

#include "apps/benchmark/benchmark.h"
#include "apps/common/output.h"
#include "apps/common/program.h"
#include "apps/parameters/parameters.h"

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
} // namespace

int main(int argc, char **argv)
{
  tensormg::begin_mpi();
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  tensormg::BenchmarkOptions options;
  std::string output;
  CLI::App app{"Measures scale bandwidth, operator and solve on the CPU", "tensormg benchmark"};
  app.add_option("--degrees", options.degrees, "Polynomial degrees")->check(CLI::Range(1, 8));
  app.add_option("--dofs", options.dofs, "Unknowns wanted")->check(CLI::PositiveNumber);
  app.add_option("--dimension", options.dim, "2 or 3")->check(CLI::Range(2, 3));
  app.add_option("--repetitions", options.repetitions, "Of every kernel")
      ->check(CLI::Range(1, 1000));
  app.add_option("--output", output, "Stem of the result files, .json and .md are appended");
  bool is_quiet = false;
  app.add_flag("-q,--quiet", is_quiet, "Show only the table at the end, no line per part");
  int code = 0;
  try
  {
    app.parse(argc, argv);
    if (!output.empty())
      require_writable(output);
    const nlohmann::json result =
        tensormg::run_benchmark(options, MPI_COMM_WORLD, voice_of(is_quiet || rank > 0));
    if (rank == 0)
    {
      const std::string table = tensormg::benchmark_table(result);
      std::cout << table;
      if (!output.empty())
      {
        tensormg::write_file(output + ".json", result.dump(1) + "\n");
        tensormg::write_file(output + ".md", table);
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
  catch (const std::exception &error)
  {
    std::fprintf(stderr, "tensormg: error: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return code;
}
