#include "apps/diagnose/table.h"

#include <algorithm>
#include <chrono>
#include <fstream>

#include <sys/resource.h>
#include <unistd.h>

#include "apps/common/console.h"
#include "operators/solver/memory_plan.h"

namespace tensormg::diagnose
{
double available_host_bytes()
{
  double available = available_memory();
  rlimit limit{};
  double pages = 0.;
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      std::ifstream("/proc/self/statm") >> pages)
    available = std::min(available,
        static_cast<double>(limit.rlim_cur) - pages * static_cast<double>(sysconf(_SC_PAGESIZE)));
  return std::max(0., available);
}

std::string out_of_host_memory()
{
  return "host memory is too small; " + format_bytes(available_host_bytes()) + " are available";
}

void require_host_bytes(double bytes, const std::string &what_for)
{
  const double available = available_host_bytes();
  if (bytes > MemoryBudget::usable_part * available)
    throw NotAvailable(what_for + " need " + format_bytes(bytes) + " of host memory, " +
        format_bytes(available) + " are available");
}

double team_milliseconds(ThreadTeam &team, int runs, const std::function<void(int thread)> &work,
    const std::function<void()> &then)
{
  const auto start = std::chrono::steady_clock::now();
  for (int r = 0; r < runs; ++r)
  {
    team.run(work);
    if (then)
      then();
  }
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}
} // namespace tensormg::diagnose
