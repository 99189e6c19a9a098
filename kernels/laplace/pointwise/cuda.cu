#include "kernels/laplace/pointwise/cuda.h"

namespace tensormg::laplace
{
template <typename Number, typename Stored>
ApplyPointwiseDevice<Number, Stored> *pointwise_cuda(int dim, int degree)
{
  return dim == 2 ? pointwise_cuda_instance<2, Number, Stored>(degree)
                  : pointwise_cuda_instance<3, Number, Stored>(degree);
}

template ApplyPointwiseDevice<double, double> *pointwise_cuda(int, int);
template ApplyPointwiseDevice<double, float> *pointwise_cuda(int, int);
template ApplyPointwiseDevice<float, float> *pointwise_cuda(int, int);
template ApplyPointwiseDevice<float, Half> *pointwise_cuda(int, int);
template ApplyPointwiseDevice<Half, float> *pointwise_cuda(int, int);
template ApplyPointwiseDevice<Half, Half> *pointwise_cuda(int, int);
} // namespace tensormg::laplace
