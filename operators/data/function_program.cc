#include "operators/data/function_program.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <stdexcept>
#include <utility>

namespace tensormg::expression
{
/// The last arguments on the stack are replaced by the result. The target is never the array of an
/// argument: with fewer coordinates that one has another shape.
void Program::emit(Operation operation, int n_arguments)
{
  if (static_cast<int>(stack_.size()) < n_arguments)
    throw std::invalid_argument("unexpected byte code");
  Instruction instruction;
  instruction.operation = operation;
  instruction.arguments.assign(stack_.end() - n_arguments, stack_.end());
  stack_.resize(stack_.size() - n_arguments);

  Operand &target = instruction.target;
  target.kind = Operand::Kind::result;
  for (const Operand &argument : instruction.arguments)
    target.mask |= argument.mask;
  if (free_arrays_.empty())
    free_arrays_.push_back(n_arrays_++);
  target.index = free_arrays_.back();
  free_arrays_.pop_back();
  for (const Operand &argument : instruction.arguments)
    if (argument.kind == Operand::Kind::result)
      free_arrays_.push_back(argument.index);
  push(target);
  instructions_.push_back(std::move(instruction));
}

void Program::emit_affine(const Operand &coordinate, double factor, double shift)
{
  push(coordinate);
  if (factor != 1.)
  {
    push({.number = factor});
    emit(Operation::multiply, 2);
  }
  if (shift != 0.)
  {
    push({.number = shift});
    emit(Operation::add, 2);
  }
}

void Program::emit_power(const Operand &coordinate, int exponent)
{
  push(coordinate);
  push({.number = static_cast<double>(exponent)});
  emit(Operation::power, 2);
}

namespace
{
  /// The functions behind muParser's unary operators have no names to be found by: what they do tells.
  bool multiplies_by(double sign, const mu::SToken &token)
  {
    if (token.Fun.argc != 1)
      return false;
    for (const double a : {0.3, -7.5, 1e10})
      if (token.Fun.cb.call_fun<1>(a) != sign * a)
        return false;
    return true;
  }

  /// Throws std::invalid_argument for anything else.
  Operation binary_operation(mu::ECmdCode code)
  {
    switch (code)
    {
      case mu::cmADD:
        return Operation::add;
      case mu::cmSUB:
        return Operation::subtract;
      case mu::cmMUL:
        return Operation::multiply;
      case mu::cmDIV:
        return Operation::divide;
      case mu::cmPOW:
        return Operation::power;
      case mu::cmLT:
        return Operation::less;
      case mu::cmLE:
        return Operation::less_equal;
      case mu::cmGT:
        return Operation::greater;
      case mu::cmGE:
        return Operation::greater_equal;
      case mu::cmEQ:
        return Operation::equal;
      case mu::cmNEQ:
        return Operation::not_equal;
      case mu::cmLAND:
        return Operation::logical_and;
      case mu::cmLOR:
        return Operation::logical_or;
      default:
        throw std::invalid_argument("unexpected operation");
    }
  }
} // namespace

void Program::emit_call(const mu::SToken &token, const FunctionCodes &codes)
{
  if (token.Fun.argc > 3)
    throw std::invalid_argument("unexpected function");
  // A negative number of arguments marks a function of any number of them.
  emit(Operation::call, std::abs(token.Fun.argc));
  instructions_.back().function = token.Fun.cb;
  instructions_.back().variadic = token.Fun.argc < 0;
  if (const auto known = codes.find(token.Fun.cb._pRawFun); known != codes.end())
    instructions_.back().code = known->second;
  else if (multiplies_by(-1., token))
    instructions_.back().code = Code::negate;
  else if (multiplies_by(1., token))
    instructions_.back().code = Code::identity;
}

Program::Program(const mu::ParserBase &parser, const double *variables, const FunctionCodes &codes)
{
  const auto coordinate = [&](const mu::SToken &token) {
    const int d = static_cast<int>(token.Val.ptr - variables);
    return Operand{.kind = Operand::Kind::coordinate, .mask = 1u << d, .index = d};
  };
  for (const mu::SToken *token = parser.GetByteCode().GetBase(); token->Cmd != mu::cmEND; ++token)
    switch (token->Cmd)
    {
      case mu::cmVAL:
        push({.number = token->Val.data2});
        break;
      case mu::cmVAR:
        push(coordinate(*token));
        break;
      case mu::cmVARMUL:
        emit_affine(coordinate(*token), token->Val.data, token->Val.data2);
        break;
      case mu::cmVARPOW2:
      case mu::cmVARPOW3:
      case mu::cmVARPOW4:
        emit_power(coordinate(*token), 2 + token->Cmd - mu::cmVARPOW2);
        break;
      case mu::cmIF: // jumps of a ? b : c; here both branches are on the stack at its end
      case mu::cmELSE:
        break;
      case mu::cmENDIF:
        emit(Operation::select, 3);
        break;
      case mu::cmASSIGN:
        throw std::invalid_argument("assignments are not allowed");
      case mu::cmFUNC:
        emit_call(*token, codes);
        break;
      default:
        emit(binary_operation(token->Cmd), 2);
    }
  if (stack_.size() != 1)
    throw std::invalid_argument("several results");
  result_ = stack_.back();
  stack_.clear();
}

bool Program::is_affine() const
{
  std::vector<bool> are_affine(static_cast<std::size_t>(n_arrays_), false);
  const auto is = [&](const Operand &operand) {
    return operand.kind != Operand::Kind::result || operand.mask == 0 ||
        are_affine[static_cast<std::size_t>(operand.index)];
  };
  for (const Instruction &instruction : instructions_)
  {
    const std::vector<Operand> &in = instruction.arguments;
    bool result = false;
    switch (instruction.operation)
    {
      case Operation::add:
      case Operation::subtract:
        result = is(in[0]) && is(in[1]);
        break;
      case Operation::multiply:
        result = is(in[0]) && is(in[1]) && (in[0].mask == 0 || in[1].mask == 0);
        break;
      case Operation::divide:
        result = is(in[0]) && in[1].mask == 0;
        break;
      case Operation::call:
        result =
            (instruction.code == Code::negate || instruction.code == Code::identity) && is(in[0]);
        break;
      default:
        break;
    }
    are_affine[static_cast<std::size_t>(instruction.target.index)] = result;
  }
  return is(result_);
}

namespace
{
  /// Extents of the array of a value which depends on the coordinates in `mask`, and its strides
  /// in the loops over all points (zero along coordinates on which it does not depend).
  struct Shape
  {
    std::array<std::size_t, 3> extent{1, 1, 1};
    std::array<std::size_t, 3> stride{0, 0, 0};

    Shape(Mask mask, const std::array<std::size_t, 3> &extents, bool scattered)
    {
      if (scattered) // all coordinates run together along the first extent
        mask = mask != 0 ? 1 : 0;
      std::size_t step = 1;
      for (int d = 0; d < 3; ++d)
        if (mask >> d & 1u)
        {
          extent[d] = extents[d];
          stride[d] = step;
          step *= extent[d];
        }
    }
    std::size_t size() const { return extent[0] * extent[1] * extent[2]; }
  };

  struct Input
  {
    const double *data;
    std::array<std::size_t, 3> stride;
    const double *row(std::size_t j, std::size_t k) const
    {
      return data + j * stride[1] + k * stride[2];
    }
  };

  /// Elementwise operations; out has its own shape, the inputs are spread over it. The cases of the
  /// innermost loop are written out so that it vectorises.
  template <typename F>
  void loop(const Shape &shape, const Input &a, double *out, const F &f)
  {
    const std::size_t n = shape.size();
    for (std::size_t i = 0; i < n; ++i) // same shape
      out[i] = f(a.data[i]);
  }

  template <typename F>
  void loop(const Shape &shape, const Input &a, const Input &b, double *out, const F &f)
  {
    const std::size_t n = shape.extent[0];
    for (std::size_t k = 0; k < shape.extent[2]; ++k)
      for (std::size_t j = 0; j < shape.extent[1]; ++j, out += n)
      {
        const double *__restrict p = a.row(j, k);
        const double *__restrict q = b.row(j, k);
        double *__restrict o = out;
        if (a.stride[0] != 0 && b.stride[0] != 0)
          for (std::size_t i = 0; i < n; ++i)
            o[i] = f(p[i], q[i]);
        else if (a.stride[0] != 0)
          for (std::size_t i = 0; i < n; ++i)
            o[i] = f(p[i], *q);
        else if (b.stride[0] != 0)
          for (std::size_t i = 0; i < n; ++i)
            o[i] = f(*p, q[i]);
        else
          std::fill_n(o, n, f(*p, *q));
      }
  }

  template <typename F>
  void loop(const Shape &shape, const std::vector<Input> &inputs, double *out, const F &f)
  {
    std::vector<double> arguments(inputs.size());
    for (std::size_t k = 0; k < shape.extent[2]; ++k)
      for (std::size_t j = 0; j < shape.extent[1]; ++j)
        for (std::size_t i = 0; i < shape.extent[0]; ++i)
        {
          for (std::size_t a = 0; a < inputs.size(); ++a)
            arguments[a] = inputs[a].row(j, k)[i * inputs[a].stride[0]];
          *out++ = f(arguments.data());
        }
  }

  void call(
      const Instruction &instruction, const Shape &shape, const std::vector<Input> &in, double *out)
  {
    const mu::generic_callable_type &function = instruction.function;
    if (!instruction.variadic && in.size() == 1)
      loop(shape, in[0], out, [&](double a) { return function.call_fun<1>(a); });
    else if (!instruction.variadic && in.size() == 2)
      loop(
          shape, in[0], in[1], out, [&](double a, double b) { return function.call_fun<2>(a, b); });
    else if (!instruction.variadic && in.size() == 3)
      loop(shape, in, out, [&](const double *a) { return function.call_fun<3>(a[0], a[1], a[2]); });
    else if (instruction.variadic)
      loop(shape, in, out,
          [&](const double *a) { return function.call_multfun(a, static_cast<int>(in.size())); });
    else
      loop(shape, in, out, [&](const double *) { return function.call_fun<0>(); });
  }

  void power(
      const Instruction &instruction, const Shape &shape, const std::vector<Input> &in, double *out)
  {
    const Operand &exponent = instruction.arguments[1];
    const double e = exponent.kind == Operand::Kind::number ? exponent.number : 0.;
    if (e == 2.)
      loop(shape, in[0], out, [](double a) { return a * a; });
    else if (e == 3.)
      loop(shape, in[0], out, [](double a) { return a * a * a; });
    else if (e == 4.)
      loop(shape, in[0], out, [](double a) { return (a * a) * (a * a); });
    else
      loop(shape, in[0], in[1], out, [](double a, double b) { return std::pow(a, b); });
  }

  void execute(
      const Instruction &instruction, const Shape &shape, const std::vector<Input> &in, double *out)
  {
    const auto binary = [&](const auto &f) { loop(shape, in[0], in[1], out, f); };
    switch (instruction.operation)
    {
      case Operation::add:
        return binary([](double a, double b) { return a + b; });
      case Operation::subtract:
        return binary([](double a, double b) { return a - b; });
      case Operation::multiply:
        return binary([](double a, double b) { return a * b; });
      case Operation::divide:
        return binary([](double a, double b) { return a / b; });
      case Operation::less:
        return binary([](double a, double b) { return a < b ? 1. : 0.; });
      case Operation::less_equal:
        return binary([](double a, double b) { return a <= b ? 1. : 0.; });
      case Operation::greater:
        return binary([](double a, double b) { return a > b ? 1. : 0.; });
      case Operation::greater_equal:
        return binary([](double a, double b) { return a >= b ? 1. : 0.; });
      case Operation::equal:
        return binary([](double a, double b) { return a == b ? 1. : 0.; });
      case Operation::not_equal:
        return binary([](double a, double b) { return a != b ? 1. : 0.; });
      case Operation::logical_and:
        return binary([](double a, double b) { return a != 0. && b != 0. ? 1. : 0.; });
      case Operation::logical_or:
        return binary([](double a, double b) { return a != 0. || b != 0. ? 1. : 0.; });
      case Operation::select:
        return loop(shape, in, out, [](const double *a) { return a[0] != 0. ? a[1] : a[2]; });
      case Operation::power:
        return power(instruction, shape, in, out);
      case Operation::call:
        return call(instruction, shape, in, out);
    }
  }
} // namespace

void Program::run(const std::array<const double *, 3> &coordinates,
    const std::array<std::size_t, 3> &extents, bool scattered, double *out) const
{
  const std::size_t n = extents[0] * extents[1] * extents[2];
  thread_local std::vector<double> arrays;
  if (arrays.size() < n * n_arrays_)
    arrays.resize(n * n_arrays_);

  const auto input = [&](const Operand &operand) -> Input {
    const double *data = &operand.number;
    if (operand.kind == Operand::Kind::coordinate)
      data = coordinates[operand.index];
    else if (operand.kind == Operand::Kind::result)
      data = arrays.data() + n * operand.index;
    return {data, Shape(operand.mask, extents, scattered).stride};
  };
  std::vector<Input> inputs;
  for (const Instruction &instruction : instructions_)
  {
    inputs.clear();
    for (const Operand &argument : instruction.arguments)
      inputs.push_back(input(argument));
    execute(instruction, Shape(instruction.target.mask, extents, scattered), inputs,
        arrays.data() + n * instruction.target.index);
  }
  const double zero = 0.;
  loop(Shape(7u, extents, scattered), input(result_), Input{&zero, {0, 0, 0}}, out,
      [](double a, double) { return a; });
}
} // namespace tensormg::expression
