// What `tensormg diagnose` measures: every class has a table with one row per kernel, and a candidate for
// each of them: a kernel with data to work on.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/common/measurement.h"
#include "apps/common/thread_team.h"
#include "kernels/diagnostics/roofline/roofline.h"

namespace tensormg::diagnose
{
using roofline::Work;

/// One more number about a kernel, for the report.
struct Figure
{
  std::string name; ///< "preprocessing"
  double value = 0.;
  std::string unit; ///< "products"
};

/// What users count: updates of points, products of matrices.
struct Items
{
  double count = 0.; ///< of one run; 0: nothing but flops
  const char *name = "";
};

/// A kernel with data to work on.
class Candidate
{
public:
  virtual ~Candidate() = default;
  /// Largest difference from the reference in double precision, relative to what the row's tolerance
  /// refers to; outputs are full of NaN before. Infinite if an entry is not finite.
  virtual double error() = 0;
  /// Of `runs` runs one after the other, in milliseconds.
  virtual double milliseconds(int runs) = 0;
  /// Useful flops and compulsory bytes of one run.
  virtual Work work() const = 0;
  /// The flops that the unit does, redundant and padded ones included.
  virtual double executed_flops() const { return work().flops; }
  /// Bytes that must pass through shared memory: fragments and copies of tiles; 0: not counted.
  virtual double shared_bytes() const { return 0.; }
  /// Bytes that a run goes through again and again: decides which cache could hold them.
  virtual double working_set() const { return work().bytes; }
  virtual Items items() const { return {}; }
  /// By how much the problem's size raises the error that its row allows.
  virtual double error_growth() const { return 1.; }
  virtual std::vector<Figure> figures() const { return {}; }
  /// The kernels that a run takes, where a library chooses them.
  virtual std::vector<std::string> library_kernels() { return {}; }
};

/// One kernel of a class. A kernel of the device enters the report by a row here, nothing else.
template <typename Problem>
struct Row
{
  const char *kernel;    ///< its name in the report
  const char *precision; ///< of what is stored: double, single, half
  Place place;
  const char *ceiling; ///< does the arithmetic: a name in ceiling_rows() of apps/diagnose/machine.h
  /// The kernel of this table, precision and place that does the same without tensor cores, or that this
  /// one should beat; "a, b": the faster of both; empty: none. Must stand above.
  const char *twin;
  double tolerance; ///< for Candidate::error()
  /// Throws NotAvailable, std::invalid_argument if the problem is none for this kernel, or DeviceError.
  std::unique_ptr<Candidate> (*make)(const Problem &, ThreadTeam &);
};

/// Bytes that this process can still get: of the machine, of its control group, and below the limit of its address space.
double available_host_bytes();

/// Why something was not measured that ended with std::bad_alloc.
std::string out_of_host_memory();

/// Throws NotAvailable unless so many bytes more fit into host memory.
void require_host_bytes(double bytes, const std::string &what_for);

/// Milliseconds that the team needs for `runs` times work(thread) followed by then() in one thread.
double team_milliseconds(ThreadTeam &team, int runs, const std::function<void(int thread)> &work,
    const std::function<void()> &then = {});
} // namespace tensormg::diagnose
