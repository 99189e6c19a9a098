// The transfer between levels of which not all directions are halved.
#pragma once

#include "kernels/transfer/transfer.h"

namespace tensormg::transfer
{
/// prolongate_cpu() and restrict_cpu() for these.
template <typename Number>
void prolongate_partially(const Prolongate<Number> &);
template <typename Number>
void restrict_partially(const Restrict<Number> &);
} // namespace tensormg::transfer
