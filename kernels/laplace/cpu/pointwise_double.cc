#include "kernels/laplace/cpu/pointwise.h"

namespace tensormg::laplace
{
template ApplyPointwise<double> *pointwise_cpu<double, double>(int, int);
} // namespace tensormg::laplace
