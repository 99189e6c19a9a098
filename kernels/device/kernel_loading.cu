#include "kernels/device/kernel_loading.h"

#include <mutex>
#include <set>

#include "kernels/core/setup_times.h"
#include "kernels/device/cuda_check.h"

namespace tensormg
{
void load_kernel(const void *kernel)
{
  static std::mutex mutex;
  static std::set<const void *> known;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    if (!known.insert(kernel).second)
      return; // if another thread is still loading it, a launch waits for that
  }
  const setup_times::Scope scope("kernels");
  cudaFuncAttributes attributes{};
  // Asking for the attributes is the way to load a kernel (CUDA programming guide, lazy loading).
  check_cuda(cudaFuncGetAttributes(&attributes, kernel), "loading a kernel");
}
} // namespace tensormg
