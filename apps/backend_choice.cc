#include "apps/backend_choice.h"

#include <stdexcept>

#include "apps/parameter_text.h"
#include "kernels/core/device.h"

namespace tensormg
{
namespace
{
  /// The kernels of `cuda` copy by the tensor memory accelerator.
  constexpr int oldest_capability = 9;

  /// What the run asks for that device backends lack; empty if nothing.
  std::string missing_on_devices(int n_ranks)
  {
    if (n_ranks > 1)
      return "it cannot be distributed over several ranks yet (" + std::to_string(n_ranks) +
          " are running)";
    return "";
  }

  /// Why the device cannot be used; empty if it has been chosen.
  std::string trouble_with_device()
  {
    if (device_count() == 0)
      return why_no_device();
    try
    {
      use_device(0);
      const DeviceProperties properties = device_properties();
      if (properties.major < oldest_capability)
        return properties.name + " has compute capability " + std::to_string(properties.major) +
            "." + std::to_string(properties.minor) + "; the kernels need " +
            std::to_string(oldest_capability) + ".0 or newer";
    }
    catch (const DeviceError &error)
    {
      return error.what();
    }
    return "";
  }
} // namespace

BackendChoice choose_backend(const Parameters &parameters, int n_ranks)
{
  const std::string &word = parameters.backend;
  if (word == "auto")
  {
    if (device_count() == 0)
      return {};
    std::string reason = missing_on_devices(n_ranks);
    if (reason.empty())
      reason = trouble_with_device();
    // They differ in half precision only.
    const bool cuda_is_fastest =
        laplace::fastest_device_backend<Half>(laplace::Form::chebyshev, parameters.problem.dim,
            parameters.problem.degree) == laplace::Backend::cuda;
    const laplace::Backend fastest =
        cuda_is_fastest ? laplace::Backend::cuda : laplace::Backend::automatic;
    return reason.empty() ? BackendChoice{fastest, ""}
                          : BackendChoice{laplace::Backend::cpu, reason};
  }
  if (word == "cuda" || word == "wmma" || word == "mma")
  {
    std::string reason = trouble_with_device();
    if (reason.empty())
      reason = missing_on_devices(n_ranks);
    if (!reason.empty())
      throw ParameterError("backend = " + word + ": " + reason);
  }
  try
  {
    return {laplace::backend_from_string(word), ""};
  }
  catch (const std::invalid_argument &error)
  {
    throw ParameterError(error.what());
  }
}
} // namespace tensormg
