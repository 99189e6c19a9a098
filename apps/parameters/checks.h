// What no single value shows: combinations that contradict each other, and expressions that fail.
#pragma once

#include "apps/parameters/parameters.h"

namespace tensormg
{
/// Throws ParameterError, naming the place, if the box cannot be counted or resolved in double precision.
void check_box(const Parameters &parameters);

/// The same for the first contradiction or unusable expression in what else there is.
void check_parameters(const Parameters &parameters);

/// Of these, what is wrong with an expression, also in its values at quadrature points.
void check_expressions(const Parameters &parameters);

/// The message about a contradiction: the values of all `names`, with where they were set.
[[noreturn]] void fail_for(
    const Parameters &parameters, const std::vector<std::string> &names, const std::string &text);

/// What goes wrong with a parameter's expression in a run, as a message with its place and what is allowed.
class ExpressionError;
[[noreturn]] void fail_for(const Parameters &parameters, const ExpressionError &error);
} // namespace tensormg
