#include "kernels/laplace/cellmean/cuda_launch.cuh"

namespace tensormg::laplace
{
template ApplyCellMeanDevice<float> *cell_mean_cuda(int, int);
} // namespace tensormg::laplace
