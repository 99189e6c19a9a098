#include "kernels/laplace/cpu/instances.h"

namespace tensormg::laplace
{
template Apply<double> *cpu_instance<2, double>(Form, int);
} // namespace tensormg::laplace
