// What cuda.h declares, in a build without CUDA. With CUDA, cuda_*.cu take its place.
#if !defined(TENSORMG_HAVE_CUDA)

#include "kernels/vector/cuda.h"

namespace tensormg::vector_kernels::cuda
{
namespace
{
  [[noreturn]] void refuse() { throw DeviceError("no device: " + why_no_device()); }
} // namespace

void pseudo_random_vector(const Block &, double *, Stream) { refuse(); }

template <typename Number>
void dot(std::int64_t, const Number *, const Number *, double *, double *, Stream, double *)
{
  refuse();
}

template <typename Number>
void max_abs(std::int64_t, const Number *, double *, double *, Stream)
{
  refuse();
}

template <typename Number>
void multi_dot(
    std::int64_t, int, const Number *const *, const Number *, double *, double *, Stream, double *)
{
  refuse();
}

template <typename From, typename To>
void multi_update(std::int64_t, int, const double *, const From *const *, double, To *, double *,
    double *, double *, Stream)
{
  refuse();
}

template <typename To>
void convert_with_norm(
    std::int64_t, double, const double *, To *, double *, double *, double *, Stream)
{
  refuse();
}

template <typename Number>
void cg_update(std::int64_t, const Quotient &, double, const Number *, const Number *, double *,
    Number *, double *, double *, double *, Stream)
{
  refuse();
}

template <typename Number>
void axpby(std::int64_t, double, const Number *, double, Number *, Stream)
{
  refuse();
}

template <typename Number>
void axpby(std::int64_t, double, const Number *, const Quotient &, Number *, Stream)
{
  refuse();
}

template <typename To, typename From>
void convert(std::int64_t, const Scale &, const From *, To *, Stream)
{
  refuse();
}

template <typename To, typename From>
void convert_sum(std::int64_t, const Scale &, const From *, const From *, To *, Stream)
{
  refuse();
}

template <typename To, typename From>
void convert_to_pair(std::int64_t, const From *, To *, To *, Stream)
{
  refuse();
}

template <typename Number>
void inverse_diagonal(
    const Block &, const CellBasis &, const double (&)[3], double, const Number *, Number *, Stream)
{
  refuse();
}

template <typename Number, typename From>
void convert_and_divide(const Block &, const CellBasis &, const double (&)[3], double,
    const Scale &, const From *, Number *, Number *, Stream)
{
  refuse();
}

template <typename Number>
void add_constant(const Block &, const CellBasis &, double, Number *, Stream)
{
  refuse();
}

template <typename Number>
void sum_of_means(const Block &, const CellBasis &, const Number *, double *, double *, Stream)
{
  refuse();
}

template void axpby(std::int64_t, double, const double *, double, double *, Stream);
template void axpby(std::int64_t, double, const float *, double, float *, Stream);
template void axpby(std::int64_t, double, const WideFloat *, double, WideFloat *, Stream);
template void axpby(std::int64_t, double, const Half *, double, Half *, Stream);
template void axpby(std::int64_t, double, const double *, const Quotient &, double *, Stream);
template void axpby(std::int64_t, double, const WideFloat *, const Quotient &, WideFloat *, Stream);
template void cg_update(std::int64_t, const Quotient &, double, const double *, const double *,
    double *, double *, double *, double *, double *, Stream);
template void cg_update(std::int64_t, const Quotient &, double, const WideFloat *,
    const WideFloat *, double *, WideFloat *, double *, double *, double *, Stream);
template void convert(std::int64_t, const Scale &, const double *, double *, Stream);
template void convert(std::int64_t, const Scale &, const double *, float *, Stream);
template void convert(std::int64_t, const Scale &, const double *, Half *, Stream);
template void convert(std::int64_t, const Scale &, const double *, WideFloat *, Stream);
template void convert(std::int64_t, const Scale &, const float *, double *, Stream);
template void convert(std::int64_t, const Scale &, const Half *, double *, Stream);
template void convert(std::int64_t, const Scale &, const WideFloat *, double *, Stream);
template void convert(std::int64_t, const Scale &, const WideFloat *, float *, Stream);
template void convert(std::int64_t, const Scale &, const WideFloat *, Half *, Stream);
template void convert(std::int64_t, const Scale &, const float *, WideFloat *, Stream);
template void convert(std::int64_t, const Scale &, const Half *, WideFloat *, Stream);
template void convert_sum(
    std::int64_t, const Scale &, const double *, const double *, double *, Stream);
template void convert_sum(
    std::int64_t, const Scale &, const float *, const float *, double *, Stream);
template void convert_sum(
    std::int64_t, const Scale &, const Half *, const Half *, double *, Stream);
template void convert_sum(
    std::int64_t, const Scale &, const double *, const double *, WideFloat *, Stream);
template void convert_sum(
    std::int64_t, const Scale &, const float *, const float *, WideFloat *, Stream);
template void convert_sum(
    std::int64_t, const Scale &, const Half *, const Half *, WideFloat *, Stream);
template void convert(std::int64_t, const Scale &, const Half *, float *, Stream);
template void convert(std::int64_t, const Scale &, const float *, float *, Stream);
template void convert_to_pair(std::int64_t, const float *, Half *, Half *, Stream);
template void convert_to_pair(std::int64_t, const float *, float *, float *, Stream);
template void convert_and_divide(const Block &, const CellBasis &, const double (&)[3], double,
    const Scale &, const double *, double *, double *, Stream);
template void convert_and_divide(const Block &, const CellBasis &, const double (&)[3], double,
    const Scale &, const double *, float *, float *, Stream);
template void convert_and_divide(const Block &, const CellBasis &, const double (&)[3], double,
    const Scale &, const double *, Half *, Half *, Stream);
template void convert_and_divide(const Block &, const CellBasis &, const double (&)[3], double,
    const Scale &, const WideFloat *, double *, double *, Stream);
template void convert_and_divide(const Block &, const CellBasis &, const double (&)[3], double,
    const Scale &, const WideFloat *, float *, float *, Stream);
template void convert_and_divide(const Block &, const CellBasis &, const double (&)[3], double,
    const Scale &, const WideFloat *, Half *, Half *, Stream);
template void inverse_diagonal(const Block &, const CellBasis &, const double (&)[3], double,
    const double *, double *, Stream);
template void inverse_diagonal(
    const Block &, const CellBasis &, const double (&)[3], double, const float *, float *, Stream);
template void inverse_diagonal(
    const Block &, const CellBasis &, const double (&)[3], double, const Half *, Half *, Stream);
template void add_constant(const Block &, const CellBasis &, double, double *, Stream);
template void add_constant(const Block &, const CellBasis &, double, float *, Stream);
template void add_constant(const Block &, const CellBasis &, double, Half *, Stream);
template void sum_of_means(
    const Block &, const CellBasis &, const double *, double *, double *, Stream);
template void sum_of_means(
    const Block &, const CellBasis &, const float *, double *, double *, Stream);
template void sum_of_means(
    const Block &, const CellBasis &, const Half *, double *, double *, Stream);
template void multi_dot(
    std::int64_t, int, const double *const *, const double *, double *, double *, Stream, double *);
template void multi_dot(std::int64_t, int, const WideFloat *const *, const WideFloat *, double *,
    double *, Stream, double *);
template void multi_update(std::int64_t, int, const double *, const double *const *, double,
    double *, double *, double *, double *, Stream);
template void multi_update(std::int64_t, int, const double *, const WideFloat *const *, double,
    WideFloat *, double *, double *, double *, Stream);
template void multi_update(std::int64_t, int, const double *, const WideFloat *const *, double,
    double *, double *, double *, double *, Stream);
template void convert_with_norm(
    std::int64_t, double, const double *, WideFloat *, double *, double *, double *, Stream);
template void dot(
    std::int64_t, const double *, const double *, double *, double *, Stream, double *);
template void dot(std::int64_t, const float *, const float *, double *, double *, Stream, double *);
template void dot(
    std::int64_t, const WideFloat *, const WideFloat *, double *, double *, Stream, double *);
template void dot(std::int64_t, const Half *, const Half *, double *, double *, Stream, double *);
template void max_abs(std::int64_t, const double *, double *, double *, Stream);
template void max_abs(std::int64_t, const float *, double *, double *, Stream);
template void max_abs(std::int64_t, const WideFloat *, double *, double *, Stream);
template void max_abs(std::int64_t, const Half *, double *, double *, Stream);
} // namespace tensormg::vector_kernels::cuda

#endif
