#include "kernels/laplace/cpu/pointwise.h"

namespace tensormg::laplace
{
template ApplyPointwise<Half> *pointwise_cpu<Half, float>(int, int);
} // namespace tensormg::laplace
