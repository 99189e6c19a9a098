#include "kernels/laplace/cpu/cellmean.h"

namespace tensormg::laplace
{
template ApplyCellMean<Half> *cell_mean_cpu(int, int);
} // namespace tensormg::laplace
