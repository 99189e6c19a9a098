#include <stdexcept>
#include <string>

#include "kernels/patch/cuda.h"

namespace tensormg::patch
{
template <typename Number>
DeviceKernel<Number> select_device(patch_inverse::Backend backend, int dim, int n)
{
  if ((dim != 2 && dim != 3) || n < 2 || n > max_n || !patch_inverse::is_device_backend(backend))
    throw std::invalid_argument("no patch correction " +
        std::string(patch_inverse::to_string(backend)) + " in device memory in " +
        std::to_string(dim) + "D for degree " + std::to_string(n - 1) +
        "; there are cuda and mma, 2D and 3D, degrees 1 to " + std::to_string(max_degree));
  if (device_count() == 0)
    throw DeviceError("patch correction: " + why_no_device());
  return backend == patch_inverse::Backend::mma ? correct_tensor<Number>(dim, n)
                                                : correct_lines<Number>(dim, n);
}

template DeviceKernel<double> select_device(patch_inverse::Backend, int, int);
template DeviceKernel<float> select_device(patch_inverse::Backend, int, int);
template DeviceKernel<Half> select_device(patch_inverse::Backend, int, int);
} // namespace tensormg::patch
