#include "operators/vectors/vector.h"

namespace tensormg
{
template class Vector<double>;
template class Vector<float>;
template class Vector<Half>;
template class Vector<WideFloat>;
} // namespace tensormg
