#include "kernels/laplace/cpu/instances.h"

namespace tensormg::laplace
{
template Apply<double> *cpu_instance<3, double>(Form, int);
} // namespace tensormg::laplace
