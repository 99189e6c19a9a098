#include "kernels/laplace/cpu/pointwise.h"

namespace tensormg::laplace
{
template ApplyPointwise<float> *pointwise_cpu<float, float>(int, int);
} // namespace tensormg::laplace
