#include "kernels/laplace/cpu/pointwise.h"

namespace tensormg::laplace
{
template ApplyPointwise<float> *pointwise_cpu(int, int);
} // namespace tensormg::laplace
