// What expression.h declares, in a build without CUDA. With CUDA, cuda.cu takes its place.
#if !defined(TENSORMG_HAVE_CUDA)

#include "kernels/expression/expression.h"

namespace tensormg::expression
{
namespace
{
  [[noreturn]] void refuse() { throw DeviceError("no device: " + why_no_device()); }
} // namespace

void project_cuda(const Steps &, const Place &, double, double *, Stream) { refuse(); }
void integrate_cuda(const Steps &, const Place &, double *, Stream) { refuse(); }
void distance_cuda(
    const Steps &, const Place &, const double *, const DistanceScales &, double *, Stream)
{
  refuse();
}
} // namespace tensormg::expression

#endif
