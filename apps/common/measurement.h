// What the programs that time kernels share: repeated timings, and the words for what came of them.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
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

/// How runs follow one another.
struct Pace
{
  double warm_up = 30.; ///< milliseconds of runs that do not count
  double burst = std::numeric_limits<double>::infinity(); ///< milliseconds, warm-up and all
  /// Seconds without work, at the begin and behind each burst; then it is warmed up again.
  double pause = 0.;

  /// For a GPU: of a kernel that takes more power than it may the clock falls after 25 ms or more
  /// (docs/kernels.md).
  static Pace of_device(double pause) { return {5., 20., pause}; }
};

/// `time(runs)` is the time of `runs` runs in milliseconds. Runs that take less than a few
/// milliseconds are timed several at once. The first runs do not count, unless they alone take longer
/// than `max_seconds`. Pauses are not in that time.
Milliseconds measure(const std::function<double(int runs)> &time, int repetitions,
    double max_seconds, const Pace &pace = {});

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
