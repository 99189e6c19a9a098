#include "kernels/laplace/cpu/instances.h"

namespace tensormg::laplace
{
template Apply<Half> *cpu_instance<2, Half>(Form, int);
} // namespace tensormg::laplace
