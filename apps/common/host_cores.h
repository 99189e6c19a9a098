// Which processors of the host a process may run on.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tensormg
{
/// Of a list as in "0-3,8,10-11"; none if it is something else.
std::vector<int> processors_of_list(const std::string &text);

/// Lets this process, and what it starts, run only on those of its processors that are near the device at this place on the bus
/// (DeviceProperties::place_on_bus), as the system has it in `devices`. Where that says nothing, or none of them is its own, all stays as it is. Returns
/// how many processors it may run on then; 0: as before.
int stay_near_device(
    int place_on_bus, const std::filesystem::path &devices = "/sys/bus/pci/devices");
} // namespace tensormg
