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

  bool wants_tf32(const SolverOptions &solver)
  {
    return solver.solver != OuterSolver::direct &&
        solver.multigrid.precision == Precision::tf32_precision;
  }

  /// Throws if the cycle shall be in TF32 where there is no such kernel.
  void check_precision(const Parameters &parameters)
  {
    const std::string &word = parameters.backend;
    if (!wants_tf32(parameters.solver))
      return;
    if (word != "auto" && word != "mma" && word != "wmma")
      throw ParameterError("multigrid.precision = tf32: backend " + word +
          " has double, single and half; tf32 is for the tensor cores of a GPU, with backend auto, "
          "mma or wmma");
    if (parameters.solver.multigrid.smoother == Smoother::patch)
      throw ParameterError("multigrid.precision = tf32: the patch smoother has double, single and "
                           "half; chebyshev and jacobi have tf32");
  }
} // namespace

BackendChoice choose_backend(const Parameters &parameters, int n_ranks)
{
  const std::string &word = parameters.backend;
  check_precision(parameters);
  if (word == "auto")
  {
    const bool tf32 = wants_tf32(parameters.solver);
    if (device_count() == 0 && !tf32)
      return {};
    std::string reason = missing_on_devices(n_ranks);
    if (reason.empty())
      reason = trouble_with_device();
    if (tf32 && !reason.empty())
      throw ParameterError("multigrid.precision = tf32 takes the tensor cores of a GPU: " + reason +
          "; without them there are double, single and half");
    // They differ in half precision and in tf32 only.
    const bool cuda_is_fastest =
        laplace::fastest_device_backend<Half>(laplace::Form::chebyshev, parameters.problem.dim,
            parameters.problem.degree) == laplace::Backend::cuda;
    const laplace::Backend fastest =
        cuda_is_fastest && !tf32 ? laplace::Backend::cuda : laplace::Backend::automatic;
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
