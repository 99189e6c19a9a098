// tensormg-benchmark: measures the CPU solver and writes JSON and a table.
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>

#include <CLI/CLI.hpp>
#include <mpi.h>
#include <nlohmann/json.hpp>

#include "apps/benchmark.h"

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
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
  int code = 0;
  try
  {
    app.parse(argc, argv);
    const nlohmann::json result = tensormg::run_benchmark(options, MPI_COMM_WORLD);
    if (rank == 0)
    {
      const std::string table = tensormg::benchmark_table(result);
      std::cout << table;
      if (!output.empty())
      {
        std::ofstream json_file(output + ".json"), table_file(output + ".md");
        json_file << result.dump(1) << "\n";
        table_file << table;
        json_file.close();
        table_file.close();
        if (!json_file || !table_file)
          throw std::runtime_error("cannot write " + output + ".json or .md");
      }
    }
  }
  catch (const CLI::ParseError &error)
  {
    code = rank == 0 ? app.exit(error) : error.get_exit_code();
    code = code == 0 ? 0 : 2;
  }
  catch (const std::exception &error)
  {
    std::fprintf(stderr, "tensormg: error: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return code;
}
