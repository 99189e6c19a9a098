#include "kernels/laplace/cpu/cellmean.h"

namespace tensormg::laplace
{
template ApplyCellMean<double> *cell_mean_cpu(int, int);
} // namespace tensormg::laplace
