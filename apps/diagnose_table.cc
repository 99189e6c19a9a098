#include "apps/diagnose_table.h"

#include <chrono>

#include "apps/console.h"
#include "apps/memory_plan.h"

namespace tensormg::diagnose
{
void require_host_bytes(double bytes, const std::string &what_for)
{
  const double available = available_memory();
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
