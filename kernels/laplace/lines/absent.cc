// The functions of lines.h that select.cc names, in a build without CUDA: select() refuses before.
#if !defined(TENSORMG_HAVE_CUDA)

#include "kernels/device/device.h"
#include "kernels/laplace/lines/lines.h"

namespace tensormg::laplace
{
namespace
{
  [[noreturn]] void refuse() { throw DeviceError("no device: " + why_no_device()); }
} // namespace

LinesKernel<double> mma_lines_fp64(int, int) { refuse(); }
LinesKernel<float> mma_lines_tf32(int, int) { refuse(); }
LinesKernel<float> mma_lines_tf32x3(int, int) { refuse(); }
LinesKernel<float> mma_lines_fp16x3(int, int) { refuse(); }
LinesKernel<Half> mma_lines_fp16(int, int) { refuse(); }
LinesKernel<Half> mma_lines_fp16x2(int, int) { refuse(); }
LinesKernel<double> wmma_lines_fp64(int, int) { refuse(); }
LinesKernel<float> wmma_lines_tf32(int, int) { refuse(); }
LinesKernel<float> wmma_lines_tf32x3(int, int) { refuse(); }
LinesKernel<float> wmma_lines_fp16x3(int, int) { refuse(); }
LinesKernel<Half> wmma_lines_fp16(int, int) { refuse(); }
LinesKernel<Half> wmma_lines_fp16x2(int, int) { refuse(); }
LinesKernel<double> cuda_lines_double(int, int) { refuse(); }
LinesKernel<float> cuda_lines_float(int, int) { refuse(); }
LinesKernel<Half> cuda_lines_half(int, int) { refuse(); }
LinesKernel<WideFloat> cuda_lines_wide(int, int) { refuse(); }
} // namespace tensormg::laplace

#endif
