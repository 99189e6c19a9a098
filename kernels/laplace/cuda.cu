#include "kernels/laplace/cuda.h"

#include "kernels/device/l2_halves.h"
#include "kernels/device/launch.cuh"
#include "kernels/device/pack.cuh"
#include "kernels/laplace/dispatch.h"
#include "kernels/laplace/strips_2d/strips_2d.h"

namespace tensormg::laplace
{
template <typename Number>
Apply<Number> *cuda_instance(Form form, int dim, int degree)
{
  return by_form<Number>(form, [&](auto f) {
    if (dim == 2)
      return cuda_2d_instance<Number, f.value>(degree);
    return degree <= highest_low_degree ? cuda_3d_instance<Number, f.value, Degrees::low>(degree)
                                        : cuda_3d_instance<Number, f.value, Degrees::high>(degree);
  });
}

template <typename Number>
KernelResources cuda_resources(Form form, int degree, std::int64_t cells_x)
{
  return by_form<Number>(form, [&](auto f) {
    return degree <= highest_low_degree
        ? cuda_3d_resources<Number, f.value, Degrees::low>(degree, cells_x)
        : cuda_3d_resources<Number, f.value, Degrees::high>(degree, cells_x);
  });
}

void measure_device(const Block &block, Stream stream)
{
  constexpr int lowest_of_layers = 3;
  if (block.dim == 3 && block.degree() >= lowest_of_layers)
    l2_halves(stream);
}

namespace
{
  template <typename C>
  struct PackParameters
  {
    C v[max_n], h[max_n]; ///< weights of the traces at the packed end
    int n;
    std::int64_t lines;  ///< rows in the buffer
    std::int64_t row;    ///< numbers per row
    std::int64_t line;   ///< from line to line in src
    std::int64_t stride; ///< from mode to mode in src
  };

  /// Sixteen bytes of traces.
  template <typename Number>
  constexpr int lines_per_thread = 16 / int{sizeof(Compute<Number>)};

  /// One thread per so many neighbouring lines of the packed direction; all modes are on their way at once.
  template <typename Number>
  __global__ void pack_kernel(
      const PackParameters<Compute<Number>> p, const Number *src, Compute<Number> *buffer)
  {
    using C = Compute<Number>;
    constexpr int width = lines_per_thread<Number>;
    const std::int64_t at = width * (std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x);
    if (at >= p.lines * p.row)
      return;
    const Number *u = src + at / p.row * p.line + at % p.row;
    Pack<C, width> values[max_n], v(C(0)), d(C(0));
#pragma unroll
    for (int m = 0; m < max_n; ++m)
      if (m < p.n)
        values[m] = load_pack<width>(u + m * p.stride);
#pragma unroll
    for (int m = 0; m < max_n; ++m)
      if (m < p.n)
      {
        add_product(v, p.v[m], values[m]);
        add_product(d, p.h[m], values[m]);
      }
    store_pack(buffer + at, v);
    store_pack(buffer + p.lines * p.row + at, d);
  }
} // namespace

template <typename Number>
void pack_traces_cuda(const Block &block, const CellBasis &basis, int side, const Number *src,
    Compute<Number> *buffer, Stream stream)
{
  using C = Compute<Number>;
  const bool upper = side % 2 == 1, along_y = side < 4;
  PackParameters<C> p{};
  for (int m = 0; m < block.n; ++m)
  {
    const double parity = m % 2 == 0 ? 1. : -1.;
    p.v[m] = static_cast<C>(upper ? basis.v[m] : parity * basis.v[m]);
    p.h[m] = static_cast<C>(upper ? basis.h[m] : -parity * basis.h[m]);
  }
  p.n = block.n;
  p.lines = along_y ? block.planes() : block.rows_per_plane();
  p.row = block.row();
  p.line = along_y ? block.plane() : block.row();
  p.stride = along_y ? block.row() : block.plane();
  std::int64_t first = 0;
  if (upper)
    first = along_y ? (block.cells[1] - 1) * block.n * block.row()
                    : (block.cells[2] - 1) * block.nz() * block.plane();
  constexpr int threads = 256;
  const std::int64_t blocks = (p.lines * p.row / lines_per_thread<Number> + threads - 1) / threads;
  launch("launching the packing of traces", pack_kernel<Number>, static_cast<unsigned>(blocks),
      threads, 0, stream, p, src + first, buffer);
}

template Apply<double> *cuda_instance(Form, int, int);
template Apply<float> *cuda_instance(Form, int, int);
template Apply<Half> *cuda_instance(Form, int, int);
template Apply<WideFloat> *cuda_instance(Form, int, int);
template KernelResources cuda_resources<double>(Form, int, std::int64_t);
template KernelResources cuda_resources<float>(Form, int, std::int64_t);
template KernelResources cuda_resources<Half>(Form, int, std::int64_t);
template KernelResources cuda_resources<WideFloat>(Form, int, std::int64_t);
template void pack_traces_cuda(
    const Block &, const CellBasis &, int, const double *, double *, Stream);
template void pack_traces_cuda(
    const Block &, const CellBasis &, int, const float *, float *, Stream);
template void pack_traces_cuda(
    const Block &, const CellBasis &, int, const Half *, float *, Stream);
template void pack_traces_cuda(
    const Block &, const CellBasis &, int, const WideFloat *, double *, Stream);
} // namespace tensormg::laplace
