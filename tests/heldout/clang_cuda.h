// What the kernels need of CUDA, for clang without a toolkit.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __noinline__ __attribute__((noinline))
struct place3 { int x, y, z; };
#define threadIdx (place3{ (int)__nvvm_read_ptx_sreg_tid_x(), (int)__nvvm_read_ptx_sreg_tid_y(), (int)__nvvm_read_ptx_sreg_tid_z() })
#define blockIdx (place3{ (int)__nvvm_read_ptx_sreg_ctaid_x(), (int)__nvvm_read_ptx_sreg_ctaid_y(), (int)__nvvm_read_ptx_sreg_ctaid_z() })
#define blockDim (place3{ (int)__nvvm_read_ptx_sreg_ntid_x(), (int)__nvvm_read_ptx_sreg_ntid_y(), (int)__nvvm_read_ptx_sreg_ntid_z() })
#define gridDim (place3{ (int)__nvvm_read_ptx_sreg_nctaid_x(), (int)__nvvm_read_ptx_sreg_nctaid_y(), (int)__nvvm_read_ptx_sreg_nctaid_z() })
typedef float vec4 __attribute__((ext_vector_type(4)));
struct __attribute__((aligned(16))) float4 { float x, y, z, w; };
static __device__ inline float4 make_float4(float x, float y, float z, float w) { float4 r = { x, y, z, w }; return r; }
extern "C" __device__ void __syncthreads();
static __device__ inline int __syncthreads_or(int p) { return __nvvm_bar0_or(p); }
static __device__ inline int __syncthreads_count(int p) { return __nvvm_bar0_popc(p); }
static __device__ inline void __syncwarp() { __nvvm_bar_warp_sync(0xffffffffu); }
static __device__ inline void __threadfence() { __nvvm_membar_gl(); }
static __device__ inline float __shfl_xor_sync(unsigned m, float v, int d) { return __nvvm_shfl_sync_bfly_f32(m, v, d, 31); }
static __device__ inline unsigned __ballot_sync(unsigned m, bool p) { return __nvvm_vote_ballot_sync(m, p); }
static __device__ inline int atomicAdd(int *p, int v) { return __nvvm_atom_add_gen_i(p, v); }
static __device__ inline unsigned atomicAdd(unsigned *p, unsigned v) { return (unsigned)__nvvm_atom_add_gen_i((int *)p, (int)v); }
static __device__ inline int atomicMax(int *p, int v) { return __nvvm_atom_max_gen_i(p, v); }
