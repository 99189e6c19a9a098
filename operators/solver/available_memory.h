// The memory that this machine has left.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <optional>

namespace tensormg
{
/// Bytes that this machine can give to processes: MemAvailable, or what is left up to the limit of
/// the control group if that is less. Infinite if neither can be read.
double available_memory();

/// The sources of available_memory(), apart for the tests.
std::optional<double> read_meminfo(std::istream &meminfo);
/// What is left below the limits of the control groups of a process and of all groups above them.
/// `groups` is /proc/self/cgroup, `root` is /sys/fs/cgroup.
std::optional<double> control_group_room(std::istream &groups, const std::filesystem::path &root);
} // namespace tensormg
