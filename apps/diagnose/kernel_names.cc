#include "apps/diagnose/kernel_names.h"

#include <cstdlib>
#include <memory>

#include <cxxabi.h>

#include "kernels/diagnostics/precision/recorded_kernels.h"

namespace tensormg::diagnose
{
namespace
{
  std::string readable(const std::string &name)
  {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> demangled(
        abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
    if (status != 0 || demangled == nullptr)
      return name;
    const std::string text = demangled.get();
    return text.substr(0, text.find('('));
  }
} // namespace

std::vector<std::string> kernel_names(const std::function<void(Stream)> &queue)
{
  std::vector<std::string> names = precision::recorded_kernels(queue);
  for (std::string &name : names)
    name = readable(name);
  return names;
}
} // namespace tensormg::diagnose
