#include "kernels/laplace/cpu/instances.h"

namespace tensormg::laplace
{
template Apply<WideFloat> *cpu_instance<3, WideFloat>(Form, int);
} // namespace tensormg::laplace
