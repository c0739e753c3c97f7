# Demo kernels: rebuilt only where nvcc exists; the PTX is committed.
KERNEL_SRC := $(sort $(wildcard kernels/*.cu))
NVCC  ?= $(firstword $(wildcard /usr/local/cuda/bin/nvcc) nvcc)
PTXAS ?= $(firstword $(wildcard /usr/local/cuda/bin/ptxas) ptxas)

.PHONY: kernels
kernels:
	@NVCC=$(NVCC) PTXAS=$(PTXAS) sh kernels/build.sh $(KERNEL_SRC)
