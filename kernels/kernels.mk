# Demo kernels: rebuilt only where nvcc exists; the PTX is committed.
KERNEL_SRC := $(sort $(wildcard kernels/*.cu))
NVCC  ?= $(firstword $(wildcard /usr/local/cuda/bin/nvcc) nvcc)
PTXAS ?= $(firstword $(wildcard /usr/local/cuda/bin/ptxas) ptxas)

.PHONY: kernels
kernels:
	@NVCC=$(NVCC) PTXAS=$(PTXAS) sh kernels/build.sh $(KERNEL_SRC)

# What every kernel computes, in plain C: linked into the tests that compare with it.
REF_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/ref_kernels/*.c))
$(BUILD)/tests/test_kernels_reference $(BUILD)/tests/test_kernels_launch: $(REF_OBJ)
-include $(REF_OBJ:.o=.d)
