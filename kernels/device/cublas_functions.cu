#include "kernels/device/cublas_functions.h"

#include "kernels/device/shared_library.h"

namespace tensormg
{
const CublasFunctions &cublas()
{
  static const CublasFunctions functions = [] {
    const SharedLibrary library("cuBLAS", "libcublas.so." + std::to_string(CUBLAS_VER_MAJOR));
    CublasFunctions found;
    library.find("cublasCreate_v2", found.create);
    library.find("cublasDestroy_v2", found.destroy);
    library.find("cublasSetStream_v2", found.set_stream);
    library.find("cublasSetAtomicsMode", found.set_atomics_mode);
    library.find("cublasGetStatusString", found.status_string);
    library.find("cublasDgemmStridedBatched", found.multiply);
    return found;
  }();
  return functions;
}
} // namespace tensormg
