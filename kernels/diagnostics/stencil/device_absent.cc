// What stencil.h declares for a device, in a build without CUDA. With CUDA, the files *.cu take its place.
#if !defined(TENSORMG_HAVE_CUDA)

#include "kernels/diagnostics/stencil/sample.h"
#include "kernels/diagnostics/stencil/stencil.h"

namespace tensormg::stencil
{
template <typename Number>
void cuda_naive(const Stencil &, const Grid &, const Number *, Number *, Stream)
{
  throw DeviceError("no device: " + why_no_device());
}

template <typename Number>
void cuda_fused(const Stencil &, const Grid &, int, const Number *, Number *, Stream)
{
  throw DeviceError("no device: " + why_no_device());
}

template <typename Number>
void cuda_warps(const Stencil &, const Grid &, const Number *, Number *, Stream)
{
  throw DeviceError("no device: " + why_no_device());
}

template <typename Number>
double warps_updates(const Stencil &, const Grid &)
{
  throw DeviceError("no device: " + why_no_device());
}

template <typename Number>
void cuda_warps_steps(const Stencil &, const Grid &, int, const Number *, Number *, Stream)
{
  throw DeviceError("no device: " + why_no_device());
}

template <typename Number>
double warps_steps_updates(const Stencil &, const Grid &, int)
{
  throw DeviceError("no device: " + why_no_device());
}

void cuda_tile(const Stencil &, const Grid &, TileUnit, const double *, double *, Stream)
{
  throw DeviceError("no device: " + why_no_device());
}

void cuda_tile(const Stencil &, const Grid &, SingleTileUnit, const float *, float *, Stream)
{
  throw DeviceError("no device: " + why_no_device());
}

void cuda_tile_steps(const Stencil &, const Grid &, int, TileUnit, const double *, double *, Stream)
{
  throw DeviceError("no device: " + why_no_device());
}

void cuda_tile_steps(
    const Stencil &, const Grid &, int, SingleTileUnit, const float *, float *, Stream)
{
  throw DeviceError("no device: " + why_no_device());
}

template <typename Number>
void cuda_border(const Stencil &, const Grid &, int, const Number *, Number *, Stream)
{
  throw DeviceError("no device: " + why_no_device());
}

void cuda_low_rank(const Stencil &, const Grid &, TileUnit, const double *, double *, Stream)
{
  throw DeviceError("no device: " + why_no_device());
}

void cuda_low_rank_steps(
    const Stencil &, const Grid &, int, TileUnit, const double *, double *, Stream)
{
  throw DeviceError("no device: " + why_no_device());
}

void cuda_planes(const Stencil &, const Grid &, TileUnit, const double *, double *, Stream)
{
  throw DeviceError("no device: " + why_no_device());
}

void cuda_planes(const Stencil &, const Grid &, SingleTileUnit, const float *, float *, Stream)
{
  throw DeviceError("no device: " + why_no_device());
}

void cuda_planes_steps(
    const Stencil &, const Grid &, int, TileUnit, const double *, double *, Stream)
{
  throw DeviceError("no device: " + why_no_device());
}

void cuda_planes_steps(
    const Stencil &, const Grid &, int, SingleTileUnit, const float *, float *, Stream)
{
  throw DeviceError("no device: " + why_no_device());
}

void cuda_low_rank_planes(const Stencil &, const Grid &, TileUnit, const double *, double *, Stream)
{
  throw DeviceError("no device: " + why_no_device());
}

template <typename Number>
void cuda_sample(
    std::int64_t, const Number *, std::int64_t, const std::int64_t *, Number *, int *, Stream)
{
  throw DeviceError("no device: " + why_no_device());
}

template void cuda_naive(const Stencil &, const Grid &, const double *, double *, Stream);
template void cuda_naive(const Stencil &, const Grid &, const float *, float *, Stream);
template void cuda_fused(const Stencil &, const Grid &, int, const double *, double *, Stream);
template void cuda_fused(const Stencil &, const Grid &, int, const float *, float *, Stream);
template void cuda_warps(const Stencil &, const Grid &, const double *, double *, Stream);
template void cuda_warps(const Stencil &, const Grid &, const float *, float *, Stream);
template double warps_updates<double>(const Stencil &, const Grid &);
template double warps_updates<float>(const Stencil &, const Grid &);
template void cuda_warps_steps(
    const Stencil &, const Grid &, int, const double *, double *, Stream);
template void cuda_warps_steps(const Stencil &, const Grid &, int, const float *, float *, Stream);
template double warps_steps_updates<double>(const Stencil &, const Grid &, int);
template double warps_steps_updates<float>(const Stencil &, const Grid &, int);
template void cuda_border(const Stencil &, const Grid &, int, const double *, double *, Stream);
template void cuda_border(const Stencil &, const Grid &, int, const float *, float *, Stream);
template void cuda_sample(
    std::int64_t, const double *, std::int64_t, const std::int64_t *, double *, int *, Stream);
template void cuda_sample(
    std::int64_t, const float *, std::int64_t, const std::int64_t *, float *, int *, Stream);
} // namespace tensormg::stencil

#endif
