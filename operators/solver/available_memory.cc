#include "operators/solver/available_memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

namespace tensormg
{
namespace
{
  /// The group's directory under its controller's mount point, and the files of its limit.
  struct GroupFiles
  {
    std::filesystem::path root;
    std::string path;
    const char *limit;
    const char *usage;
    const char *reclaimable; ///< key in memory.stat
  };

  std::optional<double> read_number(const std::filesystem::path &file)
  {
    std::ifstream stream(file);
    double value = 0.;
    if (stream >> value)
      return value;
    return std::nullopt; // also for the word "max"
  }

  double read_key(const std::filesystem::path &file, const std::string &key)
  {
    std::ifstream stream(file);
    std::string name;
    for (double value = 0.; stream >> name >> value;)
      if (name == key)
        return value;
    return 0.;
  }

  /// The smallest room in the group and in those above it.
  std::optional<double> room(const GroupFiles &files)
  {
    std::optional<double> smallest;
    std::filesystem::path path = std::filesystem::path(files.path).relative_path();
    while (true)
    {
      const std::filesystem::path directory = files.root / path;
      const auto limit = read_number(directory / files.limit);
      const auto usage = read_number(directory / files.usage);
      if (limit && usage)
      {
        // The cache of files counts as used, but gives way.
        const double left =
            std::max(*limit - *usage + read_key(directory / "memory.stat", files.reclaimable), 0.);
        smallest = std::min(smallest.value_or(left), left);
      }
      if (path.empty())
        return smallest;
      path = path.parent_path();
    }
  }
} // namespace

std::optional<double> read_meminfo(std::istream &meminfo)
{
  std::string name, unit;
  double kilobytes = 0.;
  for (std::string line; std::getline(meminfo, line);)
    if (std::istringstream words(line); words >> name >> kilobytes && name == "MemAvailable:")
      return 1024. * kilobytes;
  return std::nullopt;
}

std::optional<double> control_group_room(std::istream &groups, const std::filesystem::path &root)
{
  // Lines "0::/path" (version 2) and "5:memory:/path" (version 1). In a container the path may be
  // the host's and not exist below the root; then only the root's own limit is found.
  std::optional<double> smallest;
  const auto lower = [&](const std::optional<double> &bytes) {
    if (bytes)
      smallest = std::min(smallest.value_or(*bytes), *bytes);
  };
  for (std::string line; std::getline(groups, line);)
  {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos)
      continue;
    const std::string controllers = ',' + line.substr(first + 1, second - first - 1) + ',';
    const std::string path = line.substr(second + 1);
    if (controllers == ",,")
      lower(room({root, path, "memory.max", "memory.current", "inactive_file"}));
    else if (controllers.find(",memory,") != std::string::npos)
      lower(room({root / "memory", path, "memory.limit_in_bytes", "memory.usage_in_bytes",
          "total_inactive_file"}));
  }
  return smallest;
}

double available_memory()
{
  std::ifstream meminfo("/proc/meminfo");
  std::ifstream groups("/proc/self/cgroup");
  constexpr double unknown = std::numeric_limits<double>::infinity();
  return std::min(read_meminfo(meminfo).value_or(unknown),
      control_group_room(groups, "/sys/fs/cgroup").value_or(unknown));
}
} // namespace tensormg
