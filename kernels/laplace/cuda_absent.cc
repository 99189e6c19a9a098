// The device functions that select.cc names, in a build without CUDA: select() refuses before.
#if !defined(TENSORMG_HAVE_CUDA)

#include "kernels/device/device.h"
#include "kernels/laplace/cuda.h"
#include "kernels/laplace/reference/reference_device.h"

namespace tensormg::laplace
{
void measure_device(const Block &, Stream) {}

template <typename Number>
Apply<Number> *cuda_instance(Form, int, int)
{
  throw DeviceError("no device: " + why_no_device());
}

template <typename Number>
void apply_device_reference(const Arguments<Number> &, Form)
{
  throw DeviceError("no device: " + why_no_device());
}

template <typename Number>
KernelResources cuda_resources(Form, int, std::int64_t)
{
  throw DeviceError("no device: " + why_no_device());
}

template KernelResources cuda_resources<double>(Form, int, std::int64_t);
template KernelResources cuda_resources<float>(Form, int, std::int64_t);
template KernelResources cuda_resources<Half>(Form, int, std::int64_t);
template KernelResources cuda_resources<WideFloat>(Form, int, std::int64_t);
template Apply<double> *cuda_instance(Form, int, int);
template Apply<float> *cuda_instance(Form, int, int);
template Apply<Half> *cuda_instance(Form, int, int);
template Apply<WideFloat> *cuda_instance(Form, int, int);
template void apply_device_reference(const Arguments<double> &, Form);
template void apply_device_reference(const Arguments<float> &, Form);
template void apply_device_reference(const Arguments<Half> &, Form);
} // namespace tensormg::laplace

#endif
