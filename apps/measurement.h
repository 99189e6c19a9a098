// What the programs that time kernels share: repeated timings, and the words for what came of them.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>

namespace tensormg
{
/// Where a kernel and its vectors are.
enum class Place : std::uint8_t
{
  host,
  device ///< the first GPU
};

enum class Outcome : std::uint8_t
{
  measured,
  failed,       ///< wrong results, or an error while it ran; not timed
  not_available ///< not in this build, not on this machine, or not for this problem
};

constexpr const char *place_word(Place place) { return place == Place::host ? "host" : "device"; }

constexpr const char *outcome_word(Outcome outcome)
{
  return outcome == Outcome::measured ? "measured"
      : outcome == Outcome::failed    ? "failed"
                                      : "not available";
}

/// Something that this build or this machine lacks; what() says what.
class NotAvailable : public std::runtime_error
{
  using std::runtime_error::runtime_error;
};

/// Median and spread of repeated timings in milliseconds.
struct Milliseconds
{
  double median = 0.;
  double fastest = 0.;
  double slowest = 0.;
  double spread = 0.; ///< distance of the quartiles
  int samples = 0;    ///< each of `runs` runs
  int runs = 1;
};

/// `time(runs)` is the time of `runs` runs in milliseconds. Runs that take less than a few
/// milliseconds are timed several at once. The first runs do not count, unless they alone take longer
/// than `max_seconds`.
Milliseconds measure(
    const std::function<double(int runs)> &time, int repetitions, double max_seconds);

/// Time of `other` over time of `one`, of single runs: the median over pairs of samples taken by turns, of so many runs each. What
/// the machine does to both (clock, power, temperature) is not in it. The first pair does not count; no further pair begins
/// after `max_seconds`.
double quotient_by_turns(const std::function<double(int runs)> &one, int runs_of_one,
    const std::function<double(int runs)> &other, int runs_of_other, int pairs, double max_seconds);

/// Now, as in "2020-01-31T12:34:56Z".
std::string utc_now();

/// The call of a subcommand as the user types it: the arguments of this process.
std::string command_line(const std::string &subcommand, int ranks);

/// The processor as the system names it.
std::string cpu_model();
} // namespace tensormg
