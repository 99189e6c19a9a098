#include "apps/common/host_cores.h"

#include <array>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <sstream>

#include <sched.h>

namespace tensormg
{
std::vector<int> processors_of_list(const std::string &text)
{
  std::vector<int> result;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');)
  {
    while (!part.empty() && (part.back() == '\n' || part.back() == ' '))
      part.pop_back();
    const char *const end = part.data() + part.size();
    int first = -1, last = -1;
    std::from_chars_result read = std::from_chars(part.data(), end, first);
    if (read.ec == std::errc() && read.ptr != end && *read.ptr == '-')
      read = std::from_chars(read.ptr + 1, end, last);
    else
      last = first;
    if (read.ec != std::errc() || read.ptr != end || first < 0 || last < first ||
        last >= CPU_SETSIZE)
      return {};
    for (int i = first; i <= last; ++i)
      result.push_back(i);
  }
  return result;
}

int stay_near_device(int place_on_bus, const std::filesystem::path &devices)
{
  std::array<char, 32> name{};
  const auto place = static_cast<unsigned>(place_on_bus);
  std::snprintf(
      name.data(), name.size(), "%04x:%02x:%02x.0", place >> 16, place >> 8 & 0xff, place & 0xff);
  std::ifstream file(devices / name.data() / "local_cpulist");
  std::string list;
  std::getline(file, list);
  cpu_set_t allowed, near;
  CPU_ZERO(&near);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
    return 0;
  for (const int processor : processors_of_list(list))
    if (CPU_ISSET(processor, &allowed))
      CPU_SET(processor, &near);
  const int count = CPU_COUNT(&near);
  if (count == 0 || count == CPU_COUNT(&allowed))
    return 0;
  return sched_setaffinity(0, sizeof(near), &near) == 0 ? count : 0;
}
} // namespace tensormg
