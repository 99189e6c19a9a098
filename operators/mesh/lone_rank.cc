#include "operators/mesh/lone_rank.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <mpi.h>
#include <unistd.h>

namespace tensormg
{
namespace
{
  /// How the variables begin that those who start ranks give them.
  constexpr std::array<std::string_view, 5> signs_of_launchers{
      "OMPI_COMM_WORLD_", "PMI_", "PMIX_", "MPI_LOCALRANKID", "SLURM_STEP_ID"};

  bool is_one_of_several()
  {
    for (char **variable = environ; variable != nullptr && *variable != nullptr; ++variable)
      if (std::any_of(signs_of_launchers.begin(), signs_of_launchers.end(),
              [&](std::string_view sign) { return std::string_view(*variable).starts_with(sign); }))
        return true;
    return false;
  }
} // namespace

std::vector<std::string> expect_lone_rank()
{
  if (is_one_of_several())
    return {};
  constexpr std::array<std::pair<const char *, const char *>, 3> variables{
      {{"OMPI_MCA_ess_singleton_isolated", "1"}, {"OMPI_MCA_pml", "ob1"},
          {"OMPI_MCA_btl", "self"}}};
  std::vector<std::string> set;
  for (const auto &[name, value] : variables)
    if (std::getenv(name) == nullptr && ::setenv(name, value, 1) == 0)
      set.emplace_back(name);
  return set;
}

void start_mpi()
{
  const std::vector<std::string> variables = expect_lone_rank();
  MPI_Init(nullptr, nullptr);
  for (const std::string &name : variables)
    ::unsetenv(name.c_str());
}
} // namespace tensormg
