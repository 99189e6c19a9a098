// What the solvers ask of the objects they work with. Nothing here knows meshes, MPI or devices.
#pragma once

#include <concepts>
#include <functional>
#include <string>
#include <vector>

namespace tensormg
{
/// Arithmetic on the outer vectors, see operators/vectors/vector_space.h for the meaning of each function.
template <typename S>
concept OuterSpace = requires(
    const S &space, typename S::VectorType &y, const typename S::VectorType &x, double a)
{
  {
    space.make_vector()
    } -> std::same_as<typename S::VectorType>;
  {
    space.dot(x, x)
    } -> std::convertible_to<double>;
  {
    space.norm(x)
    } -> std::convertible_to<double>;
  space.axpby(a, x, a, y);
};

/// Arithmetic on a Krylov basis of vectors V, which may have other numbers than the outer vectors.
template <typename S, typename V>
concept BasisSpace = OuterSpace<S> && requires(const S &space, typename S::VectorType &y, V &w,
    const V &v, const std::vector<V> &basis, double a)
{
  {
    space.template make_vector<V>()
    } -> std::same_as<V>;
  {
    space.multi_dot(basis, 1, v)
    } -> std::same_as<std::vector<double>>;
  // What gives a number later: known() after any function that returned one since, wait_for() at any time.
  {
    S::known(space.multi_update_later(std::vector<double>(), basis, w, a))
    } -> std::convertible_to<double>;
  {
    space.wait_for(space.multi_update_later(std::vector<double>(), basis, w, a))
    } -> std::convertible_to<double>;
  space.add_combination(std::vector<double>(), basis, y);
};

/// Arithmetic on the vectors of conjugate gradients. A quotient() is of numbers that may be known later.
template <typename S, typename V>
concept DirectionSpace = requires(const S &space, typename S::VectorType &x, V &w, const V &v,
    const std::vector<V> &vectors, double a)
{
  {
    S::known(space.dot_later(v, v))
    } -> std::convertible_to<double>;
  {
    S::known(space.multi_dot_later(vectors, 1, v)[0])
    } -> std::convertible_to<double>;
  space.axpby(a, v, a, w);
  space.axpby(a, v, S::quotient(a, space.dot_later(v, v), space.dot_later(v, v)), w);
  {
    space.cg_update(S::quotient(a, space.dot_later(v, v), space.dot_later(v, v)), a, v, v, x, w)
    } -> std::convertible_to<double>;
};

/// y = A x and r = b - A x in the outer precision.
template <typename A, typename VectorType>
concept OuterOperator = requires(A &op, VectorType &y, const VectorType &x)
{
  op.vmult(y, x);
  op.residual(y, x, x);
};

/// w = A z for vectors of a basis, evaluated in the outer precision; r = b - A x for outer vectors.
template <typename A, typename VectorType, typename V>
concept BasisOperator = requires(A &op, V &w, const V &z, VectorType &y, const VectorType &x)
{
  op.vmult(w, z);
  op.residual(y, x, x);
};

/// z = M^-1 (r / norm) * norm: the norm of r lets a low-precision preconditioner scale.
/// diagnose() says where a value that is not finite appeared, in one sentence.
template <typename P, typename VectorType>
concept Preconditioner = requires(P &p, VectorType &z, const VectorType &r, double norm)
{
  p.apply(z, r, norm);
  {
    p.diagnose()
    } -> std::convertible_to<std::string>;
};

/// Called after each iteration with its number (0: start) and the residual relative to ||b||.
using IterationCallback = std::function<void(int, double)>;

/// Asked after each iteration, and again until the method has ended: whether it shall stop as at its limit of iterations. On all ranks alike.
using Interrupt = std::function<bool()>;
} // namespace tensormg
