#include "apps/common/measurement.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <ctime>
#include <fstream>
#include <thread>
#include <vector>

#include "apps/parameters/text.h"

namespace tensormg
{
namespace
{
  constexpr double shortest_sample = 3.; ///< milliseconds
} // namespace

Milliseconds measure(const std::function<double(int runs)> &time, int repetitions,
    double max_seconds, const Pace &pace)
{
  const auto rest = [&] { std::this_thread::sleep_for(std::chrono::duration<double>(pace.pause)); };
  Milliseconds result;
  rest();
  const double first = time(1);
  if (first > 1e3 * max_seconds)
    return {first, first, first, 0., 1, 1};
  // The first run may have been slow for reasons of its own.
  double busy = first, one = first;
  const auto warm_up = [&] {
    do
    {
      const double again = time(1);
      one = std::min(one, again);
      busy += again;
    }
    while (busy < pace.warm_up);
  };
  warm_up();
  result.runs = std::clamp(static_cast<int>(std::ceil(shortest_sample / one)), 1, 1000);

  std::vector<double> samples;
  double total = 0.;
  while (static_cast<int>(samples.size()) < repetitions && total < 1e3 * max_seconds)
  {
    if (busy > pace.burst)
    {
      rest();
      busy = 0.;
      warm_up();
    }
    const double sample = time(result.runs);
    busy += sample;
    total += sample;
    samples.push_back(sample / result.runs);
  }
  std::sort(samples.begin(), samples.end());
  result.samples = static_cast<int>(samples.size());
  result.median = 0.5 * (samples[samples.size() / 2] + samples[(samples.size() - 1) / 2]);
  result.fastest = samples.front();
  result.slowest = samples.back();
  result.spread = samples[3 * samples.size() / 4] - samples[samples.size() / 4];
  return result;
}

double quotient_by_turns(const std::function<double(int runs)> &one, int runs_of_one,
    const std::function<double(int runs)> &other, int runs_of_other, int pairs, double max_seconds)
{
  one(runs_of_one);
  other(runs_of_other);
  std::vector<double> quotients;
  double total = 0.;
  do
  {
    const double first = one(runs_of_one), second = other(runs_of_other);
    total += first + second;
    quotients.push_back((second / runs_of_other) / (first / runs_of_one));
  }
  while (static_cast<int>(quotients.size()) < pairs && total < 1e3 * max_seconds);
  std::sort(quotients.begin(), quotients.end());
  return 0.5 * (quotients[quotients.size() / 2] + quotients[(quotients.size() - 1) / 2]);
}

std::string utc_now()
{
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text.data();
}

std::string command_line(const std::string &subcommand, int ranks)
{
  std::string command = "./tensormg " + subcommand;
  if (ranks > 1)
    command += " -n " + std::to_string(ranks);
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string argument;
  std::getline(file, argument, '\0'); // the program
  while (std::getline(file, argument, '\0'))
    command += ' ' +
        (argument.find_first_of(" ;*'\"") == std::string::npos ? argument : "'" + argument + "'");
  return command;
}

std::string cpu_model()
{
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("model name", 0) == 0 && line.find(':') != std::string::npos)
      return trim(line.substr(line.find(':') + 1));
  return "unknown CPU";
}
} // namespace tensormg
