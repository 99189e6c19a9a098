// A library of the CUDA toolkit that is loaded when it is needed.
#pragma once

#include <cstdlib>
#include <string>

#include <dlfcn.h>

#include "kernels/device/device.h"

namespace tensormg
{
/// The function of this name in this program and what it is linked with; nullptr if there is none.
template <typename Function>
Function *function_of_program(const char *symbol)
{
  return reinterpret_cast<Function *>(dlsym(RTLD_DEFAULT, symbol));
}

/// Stays loaded until the program ends. Looked for where the loader looks (LD_LIBRARY_PATH), then in lib64 and
/// extras/CUPTI/lib64 of $CUDA_HOME and of /usr/local/cuda.
class SharedLibrary
{
public:
  /// Throws DeviceError if there is no `file`.
  SharedLibrary(const std::string &name, const std::string &file)
    : name_(name)
  {
    const char *const home = std::getenv("CUDA_HOME");
    handle_ = dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL);
    for (const std::string toolkit :
        {home != nullptr ? home : "/usr/local/cuda", "/usr/local/cuda"})
      for (const char *folder : {"/lib64/", "/extras/CUPTI/lib64/"})
        if (handle_ == nullptr)
          handle_ = dlopen((toolkit + folder + file).c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (handle_ == nullptr)
      throw DeviceError(name + " is missing: there is no " + file +
          " in LD_LIBRARY_PATH, $CUDA_HOME/lib64 or /usr/local/cuda/lib64");
  }

  /// Throws DeviceError if the library has no function of this name.
  template <typename Function>
  void find(const char *symbol, Function *&function) const
  {
    function = reinterpret_cast<Function *>(dlsym(handle_, symbol));
    if (function == nullptr)
      throw DeviceError(name_ + " has no function " + symbol);
  }

private:
  std::string name_;
  void *handle_ = nullptr;
};
} // namespace tensormg
