#include "kernels/core/kernel_loading.h"

#include <set>

#include "kernels/core/cuda_check.h"
#include "kernels/core/setup_times.h"

namespace tensormg
{
void load_kernel(const void *kernel)
{
  static std::set<const void *> known;
  if (!known.insert(kernel).second)
    return;
  const setup_times::Scope scope("kernels");
  cudaFuncAttributes attributes{};
  // Asking for the attributes is the way to load a kernel (CUDA programming guide, lazy loading).
  check_cuda(cudaFuncGetAttributes(&attributes, kernel), "loading a kernel");
}
} // namespace tensormg
