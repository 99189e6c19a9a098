# The compiled instances of the Laplace kernels: explicit instantiations, one file for each group that is compiled, and loaded to
# a device, together. Written to the build folder, where they lie like files of kernels/laplace and so do their objects; only
# if their text changes.
#   laplace_host_instances, laplace_device_instances   the files

# tensormg_laplace_instance(LIST FILE HEADER DECLARATION...): a file that has these, of templates defined in the header.
function(tensormg_laplace_instance list file header)
  set(text "#include \"kernels/laplace/${header}\"\n\nnamespace tensormg::laplace\n{\n")
  foreach(declaration IN LISTS ARGN)
    string(APPEND text "template ${declaration};\n")
  endforeach()
  set(path "${PROJECT_BINARY_DIR}/kernels/laplace/${file}")
  file(CONFIGURE OUTPUT "${path}" CONTENT "${text}} // namespace tensormg::laplace\n" @ONLY)
  set(${list} ${${list}} "${path}" PARENT_SCOPE)
endfunction()

foreach(number IN ITEMS double float Half WideFloat)
  string(TOLOWER "${number}" name)
  string(REPLACE widefloat wide name "${name}")
  set(forms apply residual chebyshev)
  if(number STREQUAL WideFloat) # kernels/laplace/laplace.h, has_every_form
    set(forms apply)
  endif()

  foreach(dim IN ITEMS 2 3)
    tensormg_laplace_instance(laplace_host_instances cpu/${dim}d_${name}.cc cpu/instances.h
      "Apply<${number}> *cpu_instance<${dim}, ${number}>(Form, int)")
    tensormg_laplace_instance(laplace_host_instances cpu/cellwise_${dim}d_${name}.cc cpu/instances.h
      "ApplyCellwise<${number}> *cellwise_cpu_instance<${dim}, ${number}>(Form, int)")
  endforeach()

  set(cellwise_2d "")
  set(strips "")
  foreach(form IN LISTS forms)
    list(APPEND strips "Apply<${number}> *cuda_2d_instance<${number}, Form::${form}>(int)"
      "KernelResources cuda_2d_resources<${number}, Form::${form}>(int)")
    list(APPEND cellwise_2d "ApplyCellwise<${number}> *cellwise_cuda_instance<2, ${number}, Form::${form}>(int)")
    tensormg_laplace_instance(laplace_device_instances cellwise/3d_${name}_${form}.cu cellwise/cuda_launch.cuh
      "ApplyCellwise<${number}> *cellwise_cuda_instance<3, ${number}, Form::${form}>(int)")
    foreach(degrees IN ITEMS low high)
      set(arguments "<${number}, Form::${form}, Degrees::${degrees}>")
      tensormg_laplace_instance(laplace_device_instances instances/cuda_3d_${degrees}_${name}_${form}.cu cuda_instances.cuh
        "Apply<${number}> *cuda_3d_instance${arguments}(int)"
        "KernelResources cuda_3d_resources${arguments}(int, std::int64_t)")
    endforeach()
  endforeach()
  tensormg_laplace_instance(laplace_device_instances cellwise/2d_${name}.cu cellwise/cuda_launch.cuh ${cellwise_2d})
  tensormg_laplace_instance(laplace_device_instances strips_2d/${name}.cu strips_2d/instances.cuh ${strips})
  tensormg_laplace_instance(laplace_device_instances lines/cuda_${name}.cu lines/cuda.cuh
    "LinesKernel<${number}> cuda_lines<${number}>(int, int)")
endforeach()

foreach(pair IN ITEMS double,double double,float float,float float,Half Half,float Half,Half)
  string(REPLACE "," ";" numbers "${pair}")
  list(GET numbers 0 number)
  list(GET numbers 1 stored)
  foreach(dim IN ITEMS 2 3)
    string(TOLOWER "pointwise/${dim}d_${number}_of_${stored}.cu" file)
    tensormg_laplace_instance(laplace_device_instances ${file} pointwise/cuda_launch.cuh
      "ApplyPointwiseDevice<${number}, ${stored}> *pointwise_cuda_instance<${dim}, ${number}, ${stored}>(int)")
  endforeach()
endforeach()

foreach(instance IN ITEMS apply,fp16 residual,fp16 chebyshev,fp16 residual,fp16x2)
  string(REPLACE "," ";" instance "${instance}")
  list(GET instance 0 form)
  list(GET instance 1 arithmetic)
  set(arguments "<Form::${form}, Arithmetic::${arithmetic}>")
  tensormg_laplace_instance(laplace_device_instances instances/mma_3d_${form}_${arithmetic}.cu mma_instances.cuh
    "Apply<Half> *mma_3d_instance${arguments}(int)"
    "KernelResources mma_3d_resources${arguments}(int, std::int64_t)")
endforeach()

foreach(arithmetic IN ITEMS fp64 tf32 fp16 fp16x2)
  foreach(unit IN ITEMS mma wmma)
    tensormg_laplace_instance(laplace_device_instances lines/${unit}_${arithmetic}.cu lines/${unit}.cuh
      "LinesKernel<StorageOf<Arithmetic::${arithmetic}>> ${unit}_lines<Arithmetic::${arithmetic}>(int, int)")
  endforeach()
endforeach()
