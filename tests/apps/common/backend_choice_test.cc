// What `backend` means where there is no GPU, and what a device backend cannot do.
#include <gtest/gtest.h>

#include "apps/common/backend_choice.h"
#include "kernels/device/device.h"

namespace tensormg
{
namespace
{
  std::string refusal(const Parameters &parameters)
  {
    try
    {
      choose_backend(parameters);
    }
    catch (const ParameterError &error)
    {
      return error.what();
    }
    return "";
  }

  TEST(BackendChoice, ByName)
  {
    Parameters parameters;
    for (const auto &[word, backend] :
        {std::pair{"cpu", laplace::Backend::cpu}, {"reference", laplace::Backend::reference}})
    {
      parameters.backend = word;
      EXPECT_EQ(choose_backend(parameters, {.count = 2, .of_node = 2}).backend, backend);
    }
    parameters.backend = "wmma";
    EXPECT_NE(refusal(parameters).find("wmma"), std::string::npos);
  }

  TEST(BackendChoice, IsThatOfTheDevice)
  {
    using enum laplace::Form;
    for (const laplace::Form form : {apply, residual, chebyshev})
      for (int degree = 1; degree <= max_degree; ++degree)
        for (const int capability : {80, 89, 90})
        {
          for (const int dim : {2, 3})
            EXPECT_EQ(laplace::fastest_device_backend<double>(form, dim, degree, capability),
                laplace::Backend::cuda);
          // Below 9.0 tensor cores were faster at three degrees, from 9.0 on for most steps.
          const bool on_tensor_cores = capability < 90 ? degree == 3 || degree == 4 || degree == 6
              : form == chebyshev                      ? degree >= 3
              : form == residual                       ? degree == 3 || degree >= 6
                                                       : false;
          EXPECT_EQ(laplace::fastest_device_backend<Half>(form, 3, degree, capability),
              on_tensor_cores ? laplace::Backend::mma : laplace::Backend::cuda);
        }
  }

  TEST(BackendChoice, WithoutADevice)
  {
    if (device_count() > 0)
      GTEST_SKIP() << "there is a GPU";
    Parameters parameters;
    const BackendChoice choice = choose_backend(parameters);
    EXPECT_EQ(choice.backend, laplace::Backend::cpu);
    EXPECT_EQ(choice.reason, "");
    parameters.backend = "cuda";
    const std::string message = refusal(parameters);
    EXPECT_NE(message.find("backend = cuda"), std::string::npos);
    EXPECT_NE(message.find(why_no_device()), std::string::npos) << message;
  }

  // Some arithmetic is for tensor cores; whoever asks for it elsewhere is told what there is.
  TEST(BackendChoice, PrecisionsOfTensorCores)
  {
    for (const Precision precision :
        {Precision::tf32_precision, Precision::corrected_half_precision})
    {
      SCOPED_TRACE(to_string(precision));
      Parameters parameters;
      parameters.solver.multigrid.precision = precision;
      for (const char *word : {"cpu", "reference", "cuda"})
      {
        parameters.backend = word;
        const std::string message = refusal(parameters);
        EXPECT_NE(message.find(std::string("multigrid.precision = ") + to_string(precision)),
            std::string::npos)
            << message;
        EXPECT_NE(message.find(word), std::string::npos) << message;
        EXPECT_NE(message.find("double, single and half"), std::string::npos) << message;
        EXPECT_NE(message.find("mma"), std::string::npos) << message;
      }
      // The direct solver has no cycle.
      parameters.backend = "cpu";
      parameters.solver.solver = OuterSolver::direct;
      EXPECT_EQ(choose_backend(parameters).backend, laplace::Backend::cpu);
      parameters.solver.solver = OuterSolver::fgmres;
      parameters.backend = "mma";
      parameters.solver.multigrid.smoother = Smoother::patch;
      EXPECT_NE(refusal(parameters).find("patch"), std::string::npos);
      if (device_count() > 0)
        continue;
      parameters.solver.multigrid.smoother = Smoother::chebyshev;
      for (const char *word : {"auto", "mma", "wmma"})
      {
        parameters.backend = word;
        EXPECT_NE(refusal(parameters).find(why_no_device()), std::string::npos) << word;
      }
    }
  }
} // namespace
} // namespace tensormg
