#include "kernels/laplace/cellmean/cuda_launch.cuh"

namespace tensormg::laplace
{
template ApplyCellMeanDevice<Half> *cell_mean_cuda(int, int);
} // namespace tensormg::laplace
