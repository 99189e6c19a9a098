// The mark of functions that the host code calls and nvcc compiles.
//
// In a build without CUDA such a function has no definition and its address is null, so that nobody has to write one that
// throws. It is never called there: what it works on is device memory, and device::allocate(), use_device() and the
// functions that select kernels throw before (absent.cc).
#pragma once

#if defined(TENSORMG_HAVE_CUDA)
#define TENSORMG_CUDA_FUNCTION
#else
#define TENSORMG_CUDA_FUNCTION [[gnu::weak]]
#endif
