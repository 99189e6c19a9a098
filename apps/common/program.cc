#include "apps/common/program.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <new>
#include <sstream>
#include <utility>

#include <dlfcn.h>

#include <CLI/CLI.hpp>
#include <deal.II/base/multithread_info.h>

#include "apps/common/output_directory.h"
#include "apps/common/report.h"
#include "apps/parameters/table.h"
#include "apps/parameters/text.h"
#include "kernels/device/device.h"
#include "operators/mesh/agreement.h"
#include "operators/mesh/lone_rank.h"
#include "version.h"

namespace tensormg
{
namespace
{
  /// How long a failing rank waits for the others to fail alike, in seconds.
  constexpr double patience = 2.;

  /// Standard output is written when it is flushed, that is text by text, to a terminal, too: lines of several processes
  /// do not mix.
  void write_texts_at_once()
  {
    static std::array<char, 1 << 16> buffer; // in use until the process ends
    std::setvbuf(stdout, buffer.data(), _IOFBF, buffer.size());
  }

  /// One thread per rank, also in libraries that would take all cores: as the record says.
  void limit_threads()
  {
    dealii::MultithreadInfo::set_thread_limit(1);
    using SetThreads = void (*)(int);
    if (void *function = ::dlsym(RTLD_DEFAULT, "openblas_set_num_threads"))
      reinterpret_cast<SetThreads>(function)(1);
  }

  struct CommandLine
  {
    std::string file;
    std::vector<std::string> arguments; ///< words and the file
    std::vector<std::string> overrides;
    std::vector<char> flags; ///< whether given
    bool quiet = false;
    bool verbose = false;
    bool dry_run = false;
    bool print_parameters = false;
    bool all = false; ///< parameters, also those of other programs

    /// What is no word of the program is the file; the words are an override.
    void sort_arguments(const Program &program)
    {
      std::vector<std::string> words, files;
      for (const std::string &argument : arguments)
        (std::find(program.words.begin(), program.words.end(), argument) != program.words.end()
                ? words
                : files)
            .push_back(argument);
      const auto is_file = [](const std::string &text) { return text.find('.') != text.npos; };
      for (const std::string &other : files)
        if (!program.words.empty() && !is_file(other))
          throw ParameterError("'" + other + "' is neither a parameter file nor one of " +
              join(program.words, ", ") + suggestion(other, program.words));
      if (files.size() > 1)
        throw ParameterError("two parameter files: '" + files[0] + "' and '" + files[1] + "'");
      if (!files.empty())
        file = files.front();
      std::vector<std::string> first;
      if (file.empty())
        first = program.overrides_without_file;
      if (!words.empty())
        first.push_back(program.words_parameter + '=' + join(words, ", "));
      for (std::size_t i = 0; i < flags.size(); ++i)
        if (flags[i] != 0)
          first.push_back(program.flags[i].setting);
      overrides.insert(overrides.begin(), first.begin(), first.end());
    }

    Parameters parameters() const
    {
      std::vector<std::string> all = overrides;
      if (quiet || verbose)
        all.emplace_back(quiet ? "output.verbosity=quiet" : "output.verbosity=verbose");
      return file.empty() ? default_parameters(all) : read_parameters(file, all);
    }
  };

  void declare(CLI::App &app, const Program &program, CommandLine &line)
  {
    std::string about = "a .prm or .json file";
    if (!program.words.empty())
      about += ", and any of " + join(program.words, ", ");
    app.add_option("PARAMETER_FILE", line.arguments, about)->type_name("");
    line.flags.resize(program.flags.size());
    for (std::size_t i = 0; i < program.flags.size(); ++i)
      app.add_flag_callback(
          program.flags[i].name, [&line, i] { line.flags[i] = 1; }, program.flags[i].description);
    app.add_option("-s,--set", line.overrides,
           "override a parameter: --set problem.degree=4; may be repeated")
        ->type_name("SECTION.KEY=VALUE")
        ->allow_extra_args(false);
    CLI::Option *quiet = app.add_flag("-q,--quiet", line.quiet, "show only the result");
    app.add_flag("-v,--verbose", line.verbose, "show everything")->excludes(quiet);
    if (program.dry_run)
      app.add_flag("--dry-run", line.dry_run,
          "check everything and show the memory that is needed; solve and write nothing");
    app.add_flag("--print-parameters", line.print_parameters,
        "print the parameters of this program as a commented file, and do nothing else");
    app.add_flag(
        "--all", line.all, "with --print-parameters: also the parameters of the other programs");
    app.set_version_flag("--version", version_text());
    app.footer("Exit codes: 0 success, 1 unexpected error, 2 unusable arguments or parameters, "
               "3 iteration limit,\n4 stagnation, 5 NaN or Inf, 6 indefinite preconditioner, "
               "7 convergence order missed, "
               "8 wrong results of a kernel, 9 the device failed or is out of memory.");
  }

  /// On the screen in one piece, and in the log.
  void say_error(const std::string &text, LogFile &log)
  {
    const std::string line = "tensormg: error: " + text + '\n';
    std::cerr << line << std::flush;
    log.write(line);
  }

  /// The message, once if all ranks failed; the program ends if only some did. Returns the code.
  int fail(MPI_Comm private_communicator, int code, const std::string &message, LogFile &log)
  {
    int rank = 0;
    MPI_Comm_rank(private_communicator, &rank);
    std::cout.flush();
    if (all_arrive(private_communicator, patience)) // all have failed alike
    {
      if (rank == 0)
        say_error(message, log);
      return code;
    }
    say_error("on rank " + std::to_string(rank) + ": " + message, log);
    MPI_Abort(MPI_COMM_WORLD, code);
    return code;
  }

  /// What ranks must have in common to give the same numbers.
  std::string build_text()
  {
    return std::string("tensormg ") + version + " (" + git_hash + ", " +
        (built_with_cuda() ? "with" : "without") + " kernels for GPUs)";
  }

  int run_with_arguments(int argc, char **argv, const Program &program, LogFile &log)
  {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!is_same_on_all_ranks(build_text(), MPI_COMM_WORLD))
      throw ParameterError("the ranks run different builds, one of them " + build_text() +
          "; allowed: the same program on all of them");
    CLI::App app(program.description, program.name);
    CommandLine line;
    declare(app, program, line);
    try
    {
      app.parse(argc, argv);
    }
    catch (const CLI::Success &request) // --help, --version
    {
      if (rank == 0)
        app.exit(request);
      return 0;
    }
    catch (const CLI::ParseError &error)
    {
      throw ParameterError(std::string(error.what()) + "; see " + program.name + " --help");
    }
    line.sort_arguments(program);
    if (line.file.empty() && line.overrides.empty() && !line.print_parameters)
      throw ParameterError("a parameter file is missing; see " + program.name +
          " --help; --print-parameters shows one to start from");

    const Parameters parameters = line.parameters();
    if (line.print_parameters)
    {
      if (rank == 0)
      {
        const std::string word = program.name.substr(program.name.rfind(' ') + 1);
        print_parameters(parameters, std::cout, ParameterFormat::prm,
            line.all ? std::vector<std::string>{} : sections_of(word, parameters));
      }
      return 0;
    }
    const OutputOptions &output = parameters.output;
    Console console(MPI_COMM_WORLD, output.verbosity, &log);
    if (line.dry_run)
      return program.dry_run(parameters, MPI_COMM_WORLD, console);
    const OutputDirectory directory(output.directory, MPI_COMM_WORLD);
    if (!output.log_file.empty())
      log = LogFile(std::filesystem::path(output.directory) / output.log_file, MPI_COMM_WORLD);
    return program.run(parameters, MPI_COMM_WORLD, console);
  }

  int run_guarded(int argc, char **argv, const Program &program, MPI_Comm private_communicator)
  {
    LogFile log;
    const auto fail_with = [&](int code, const std::string &message) {
      return fail(private_communicator, code, message, log);
    };
    try
    {
      return run_with_arguments(argc, argv, program, log);
    }
    catch (const ParameterError &error)
    {
      return fail_with(exit_parameters, error.what());
    }
    catch (const DeviceError &error)
    {
      return fail_with(exit_device_failed, error.what());
    }
    catch (const std::bad_alloc &)
    {
      return fail_with(exit_unexpected, "out of memory");
    }
    catch (const std::exception &error)
    {
      return fail_with(exit_unexpected, error.what());
    }
    catch (...)
    {
      return fail_with(exit_unexpected, "an exception of unknown type");
    }
  }
} // namespace

void begin_mpi()
{
  start_mpi();
  std::signal(SIGPIPE, SIG_IGN); // after MPI_Init, which may have its own way
}

int run_program(int argc, char **argv, const Program &program)
{
  write_texts_at_once();
  begin_mpi();
  // Messages of failing ranks must not meet those of the work that they left.
  MPI_Comm private_communicator = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &private_communicator);
  limit_threads();
  std::signal(SIGXFSZ, SIG_IGN); // a file that may not grow any more is an error with a message
  const int code = run_guarded(argc, argv, program, private_communicator);
  MPI_Comm_free(&private_communicator);
  MPI_Finalize();
  return code;
}
} // namespace tensormg
