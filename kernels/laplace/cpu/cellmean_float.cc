#include "kernels/laplace/cpu/cellmean.h"

namespace tensormg::laplace
{
template ApplyCellMean<float> *cell_mean_cpu(int, int);
} // namespace tensormg::laplace
