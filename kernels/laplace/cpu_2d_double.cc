#include "kernels/laplace/cpu_instances.h"

namespace tensormg::laplace
{
template Apply<double> *cpu_instance<2, double>(Form, int);
} // namespace tensormg::laplace
