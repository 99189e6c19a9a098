// What `backend` means where there is no GPU, and what a device backend cannot do.
#include <gtest/gtest.h>

#include "apps/backend_choice.h"
#include "kernels/core/device.h"

namespace tensormg
{
namespace
{
  std::string refusal(const Parameters &parameters, int n_ranks)
  {
    try
    {
      choose_backend(parameters, n_ranks);
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
      EXPECT_EQ(choose_backend(parameters, 2).backend, backend);
    }
    parameters.backend = "wmma";
    EXPECT_NE(refusal(parameters, 1).find("wmma"), std::string::npos);
  }

  TEST(BackendChoice, WithoutADevice)
  {
    if (device_count() > 0)
      GTEST_SKIP() << "there is a GPU";
    Parameters parameters;
    const BackendChoice choice = choose_backend(parameters, 1);
    EXPECT_EQ(choice.backend, laplace::Backend::cpu);
    EXPECT_EQ(choice.reason, "");
    parameters.backend = "cuda";
    const std::string message = refusal(parameters, 1);
    EXPECT_NE(message.find("backend = cuda"), std::string::npos);
    EXPECT_NE(message.find(why_no_device()), std::string::npos) << message;
  }
} // namespace
} // namespace tensormg
