// The names of kernels that a library queues, as they are read.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/device/device.h"

namespace tensormg::diagnose
{
/// precision::recorded_kernels(), names of C++ without their arguments.
std::vector<std::string> kernel_names(const std::function<void(Stream)> &queue);
} // namespace tensormg::diagnose
