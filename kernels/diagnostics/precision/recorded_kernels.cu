#include "kernels/diagnostics/precision/recorded_kernels.h"

#include <cuda.h>
#include <cuda_runtime.h>

#include "kernels/device/cuda_check.h"

namespace tensormg::precision
{
namespace
{
  /// A function of the driver library, which is not linked.
  template <typename Function>
  Function *driver_function(const char *name, unsigned version)
  {
    void *found = nullptr;
    cudaDriverEntryPointQueryResult result{};
    check_cuda(
        cudaGetDriverEntryPointByVersion(name, &found, version, cudaEnableDefault, &result), name);
    if (result != cudaDriverEntryPointSuccess)
      throw DeviceError(std::string("the driver has no ") + name);
    return reinterpret_cast<Function *>(found);
  }

  /// A graph that is given back.
  class RecordedGraph
  {
  public:
    RecordedGraph(const std::function<void(Stream)> &queue, Stream stream)
    {
      device::begin_recording(stream);
      try
      {
        queue(stream);
      }
      catch (...)
      {
        device::discard_recording(stream);
        throw;
      }
      check_cuda(cudaStreamEndCapture(stream, &graph_), "recording a graph");
    }
    ~RecordedGraph() { cudaGraphDestroy(graph_); }
    RecordedGraph(const RecordedGraph &) = delete;
    RecordedGraph &operator=(const RecordedGraph &) = delete;

    std::vector<cudaGraphNode_t> nodes() const
    {
      std::size_t count = 0;
      check_cuda(cudaGraphGetNodes(graph_, nullptr, &count), "reading a graph");
      std::vector<cudaGraphNode_t> nodes(count);
      if (count > 0)
        check_cuda(cudaGraphGetNodes(graph_, nodes.data(), &count), "reading a graph");
      return nodes;
    }

  private:
    cudaGraph_t graph_ = nullptr;
  };

  using Parameters = CUresult(CUgraphNode, CUDA_KERNEL_NODE_PARAMS *);
  using FunctionName = CUresult(const char **, CUfunction);
  using KernelName = CUresult(const char **, CUkernel);

  /// The library has its own runtime: only the driver knows its functions.
  std::string name_of(cudaGraphNode_t node)
  {
    static const auto parameters = driver_function<Parameters>("cuGraphKernelNodeGetParams", 12000);
    static const auto function_name = driver_function<FunctionName>("cuFuncGetName", 12030);
    static const auto kernel_name = driver_function<KernelName>("cuKernelGetName", 12030);
    CUDA_KERNEL_NODE_PARAMS found{};
    if (parameters(node, &found) != CUDA_SUCCESS)
      throw DeviceError("the parameters of a recorded kernel cannot be read");
    const char *name = nullptr;
    const CUresult result =
        found.func != nullptr ? function_name(&name, found.func) : kernel_name(&name, found.kern);
    if (result != CUDA_SUCCESS || name == nullptr)
      throw DeviceError("a recorded kernel has no name");
    return name;
  }
} // namespace

std::vector<std::string> recorded_kernels(const std::function<void(Stream)> &queue)
{
  const OwnedStream stream;
  queue(stream.get());
  device::synchronize(stream.get());
  const RecordedGraph graph(queue, stream.get());
  std::vector<std::string> names;
  for (const cudaGraphNode_t node : graph.nodes())
  {
    cudaGraphNodeType type{};
    check_cuda(cudaGraphNodeGetType(node, &type), "reading a graph");
    if (type == cudaGraphNodeTypeKernel)
      names.push_back(name_of(node));
  }
  return names;
}
} // namespace tensormg::precision
