#include "kernels/laplace/cpu/instances.h"

namespace tensormg::laplace
{
template Apply<float> *cpu_instance<2, float>(Form, int);
} // namespace tensormg::laplace
