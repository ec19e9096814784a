/* Prints sizes and offsets of the header's structures, in the order of the table in layout.rs. */
#include "pollyrs_rt.h"
#include <stddef.h>
#include <stdio.h>
#define SIZE(type) printf("%s %zu\n", #type, sizeof(type))
#define FIELD(type, field) printf("%s.%s %zu\n", #type, #field, offsetof(type, field))
int main(void) {
  SIZE(PollyrsEmuThread);
  FIELD(PollyrsEmuThread, block);
  FIELD(PollyrsEmuThread, thread);
  FIELD(PollyrsEmuThread, reserved);
  FIELD(PollyrsEmuThread, shared);
  FIELD(PollyrsEmuThread, scheduler);
  SIZE(PollyrsKernel);
  FIELD(PollyrsKernel, name);
  FIELD(PollyrsKernel, emulated);
  FIELD(PollyrsKernel, flags);
  FIELD(PollyrsKernel, shared_bytes);
  FIELD(PollyrsKernel, block);
  FIELD(PollyrsKernel, n_arrays);
  FIELD(PollyrsKernel, array_index);
  FIELD(PollyrsKernel, n_scalars);
  FIELD(PollyrsKernel, dynamic_shared_bytes);
  SIZE(PollyrsImage);
  FIELD(PollyrsImage, kind);
  FIELD(PollyrsImage, arch);
  FIELD(PollyrsImage, data);
  FIELD(PollyrsImage, bytes);
  SIZE(PollyrsScop);
  FIELD(PollyrsScop, abi_version);
  FIELD(PollyrsScop, flags);
  FIELD(PollyrsScop, name);
  FIELD(PollyrsScop, at);
  FIELD(PollyrsScop, n_kernels);
  FIELD(PollyrsScop, n_images);
  FIELD(PollyrsScop, kernels);
  FIELD(PollyrsScop, images);
  FIELD(PollyrsScop, n_reasons);
  FIELD(PollyrsScop, n_arrays);
  FIELD(PollyrsScop, reasons);
  FIELD(PollyrsScop, array_names);
  FIELD(PollyrsScop, cache);
  SIZE(PollyrsArray);
  FIELD(PollyrsArray, start);
  FIELD(PollyrsArray, bytes);
  FIELD(PollyrsArray, bias);
  FIELD(PollyrsArray, out_offset);
  FIELD(PollyrsArray, out_bytes);
  FIELD(PollyrsArray, flags);
  FIELD(PollyrsArray, element_bytes);
  FIELD(PollyrsArray, row_bytes);
  FIELD(PollyrsArray, row_count);
  FIELD(PollyrsArray, row_stride);
  printf("%u %u %u %u %u %u %u %u\n", POLLYRS_ABI_VERSION, POLLYRS_REASON_RUNTIME, POLLYRS_KERNEL_HAS_BARRIER,
         POLLYRS_IMAGE_PTX, POLLYRS_IMAGE_CUBIN, POLLYRS_ARRAY_COPY_IN, POLLYRS_ARRAY_COPY_OUT, POLLYRS_ARRAY_SCRATCH);
  printf("%u %u\n", POLLYRS_KERNEL_LATE, POLLYRS_IMAGE_EARLY_CUBIN);
  return 0;
}
