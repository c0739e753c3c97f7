// What a GPU's texture unit does: weights of the linear filter, sums, missing channels, fetches outside. textures-h200.json keeps 192 results of each
// case; textures.ptx: nvcc -arch=compute_90 -ptx. The program writes NAME.in and NAME.out of each case into $OUT.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#define CK(x) do { cudaError_t err_ = (x); if (err_) { printf("%s: %s\n", #x, cudaGetErrorString(err_)); exit(1); } } while (0)
__global__ void k1(cudaTextureObject_t t, const float *c, float *o, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) o[i] = tex1D<float>(t, c[i]); }
__global__ void k2(cudaTextureObject_t t, const float2 *c, float4 *o, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) o[i] = tex2D<float4>(t, c[i].x, c[i].y); }
__global__ void k3(cudaTextureObject_t t, const float4 *c, float *o, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) o[i] = tex3D<float>(t, c[i].x, c[i].y, c[i].z); }
__global__ void kc(cudaTextureObject_t t, const float4 *c, float *o, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) o[i] = texCubemap<float>(t, c[i].x, c[i].y, c[i].z); }
__global__ void kg(cudaTextureObject_t t, const float2 *c, float4 *o, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) o[i] = tex2Dgather<float4>(t, c[i].x, c[i].y, 0); }
// integer coordinates and all four channels
__global__ void ki(cudaTextureObject_t t, const int2 *c, float4 *o, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { float4 r;
  asm("tex.2d.v4.f32.s32 {%0,%1,%2,%3}, [%4, {%5,%6}];" : "=f"(r.x), "=f"(r.y), "=f"(r.z), "=f"(r.w) : "l"(t), "r"(c[i].x), "r"(c[i].y)); o[i] = r; } }
static cudaTextureObject_t make(cudaArray_t a, bool linear, bool norm, cudaTextureAddressMode m, bool frac = false) {
  cudaResourceDesc r = {}; r.resType = cudaResourceTypeArray; r.res.array.array = a;
  cudaTextureDesc d = {}; for (int i = 0; i < 3; i++) d.addressMode[i] = m;
  d.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint; d.normalizedCoords = norm; d.readMode = frac ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
  cudaTextureObject_t t; CK(cudaCreateTextureObject(&t, &r, &d, NULL)); return t; }
template <class T> static T *up(const std::vector<T> &v) { T *p; CK(cudaMalloc(&p, v.size() * sizeof(T))); CK(cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice)); return p; }
static unsigned long long s = 88172645463325252ull;
static float rnd() { s ^= s << 13; s ^= s >> 7; s ^= s << 17; return (float)((s >> 40) / 16777216.0); }
static void dump(const char *name, const void *p, size_t n) { char f[256]; snprintf(f, sizeof f, "%s/%s", getenv("OUT") ? getenv("OUT") : ".", name); FILE *h = fopen(f, "wb"); fwrite(p, 1, n, h); fclose(h); }
template <class O, class C, class K> static void go(const char *name, K k, cudaTextureObject_t t, const std::vector<C> &c) {
  O *o; int n = (int)c.size(); CK(cudaMalloc(&o, n * sizeof(O))); C *d = up(c); k<<<(n + 255) / 256, 256>>>(t, d, o, n); CK(cudaDeviceSynchronize());
  std::vector<O> h(n); CK(cudaMemcpy(h.data(), o, n * sizeof(O), cudaMemcpyDeviceToHost)); char f[200];
  snprintf(f, sizeof f, "%s.in", name); dump(f, c.data(), n * sizeof(C)); snprintf(f, sizeof f, "%s.out", name); dump(f, h.data(), n * sizeof(O)); cudaFree(o); cudaFree(d); printf("%s %d\n", name, n); }
int main() {
  cudaChannelFormatDesc f1 = cudaCreateChannelDesc<float>(), f4 = cudaCreateChannelDesc<float4>(), b1 = cudaCreateChannelDesc<unsigned char>();
  cudaArray_t a; float two[2] = {0, 1}; CK(cudaMallocArray(&a, &f1, 2)); CK(cudaMemcpy2DToArray(a, 0, 0, two, 8, 8, 1, cudaMemcpyHostToDevice));
  std::vector<float> c; for (int i = 0; i <= 8192; i++) c.push_back(0.5f + i / 8192.0f);
  go<float>("w1", k1, make(a, true, false, cudaAddressModeClamp), c);
  for (auto &v : c) v = v / 2; go<float>("w1n", k1, make(a, true, true, cudaAddressModeClamp), c);
  std::vector<float> c1; for (int i = 0; i < 8192; i++) c1.push_back(rnd() * 6 - 2);
  go<float>("wrap1", k1, make(a, true, true, cudaAddressModeWrap), c1); go<float>("mirror1", k1, make(a, true, true, cudaAddressModeMirror), c1);
  go<float>("border1", k1, make(a, true, false, cudaAddressModeBorder), c1); go<float>("pwrap1", k1, make(a, false, true, cudaAddressModeWrap), c1); go<float>("pmirror1", k1, make(a, false, true, cudaAddressModeMirror), c1);
  float seven[7]; for (int i = 0; i < 7; i++) seven[i] = rnd() * 16 - 8; dump("seven.bin", seven, sizeof seven);
  CK(cudaMallocArray(&a, &f1, 7)); CK(cudaMemcpy2DToArray(a, 0, 0, seven, 28, 28, 1, cudaMemcpyHostToDevice));
  go<float>("n7", k1, make(a, true, true, cudaAddressModeWrap), c1); go<float>("p7", k1, make(a, false, true, cudaAddressModeWrap), c1); go<float>("m7", k1, make(a, true, true, cudaAddressModeMirror), c1);
  std::vector<float> big; for (int i = 0; i < 9 * 6 * 4; i++) big.push_back(rnd() * 16 - 8); dump("big.bin", big.data(), big.size() * 4);
  CK(cudaMallocArray(&a, &f4, 9, 6, cudaArrayTextureGather)); CK(cudaMemcpy2DToArray(a, 0, 0, big.data(), 144, 144, 6, cudaMemcpyHostToDevice));
  std::vector<float2> c2; for (int i = 0; i < 16384; i++) c2.push_back(make_float2(rnd() * 12 - 1.5f, rnd() * 9 - 1.5f));
  go<float4>("lin2", k2, make(a, true, false, cudaAddressModeClamp), c2); go<float4>("bor2", k2, make(a, true, false, cudaAddressModeBorder), c2); go<float4>("gat2", kg, make(a, false, false, cudaAddressModeClamp), c2); go<float4>("gatl2", kg, make(a, true, false, cudaAddressModeClamp), c2);
  std::vector<int2> ci; for (int y = -2; y < 8; y++) for (int x = -2; x < 11; x++) ci.push_back(make_int2(x, y));
  go<float4>("int_clamp", ki, make(a, false, false, cudaAddressModeClamp), ci); go<float4>("int_border", ki, make(a, false, false, cudaAddressModeBorder), ci);
  CK(cudaMallocArray(&a, &f1, 9, 6)); CK(cudaMemcpy2DToArray(a, 0, 0, big.data(), 36, 36, 6, cudaMemcpyHostToDevice)); go<float4>("one_channel", ki, make(a, false, false, cudaAddressModeClamp), ci);
  unsigned char bytes[54]; for (int i = 0; i < 54; i++) bytes[i] = (unsigned char)(rnd() * 256); dump("bytes.bin", bytes, 54);
  CK(cudaMallocArray(&a, &b1, 9, 6)); CK(cudaMemcpy2DToArray(a, 0, 0, bytes, 9, 9, 6, cudaMemcpyHostToDevice));
  go<float4>("u8_frac", ki, make(a, false, false, cudaAddressModeClamp, true), ci); go<float4>("u8_lin", k2, make(a, true, false, cudaAddressModeClamp, true), c2);
  cudaExtent e = make_cudaExtent(5, 4, 3); std::vector<float> vol; for (int i = 0; i < 60; i++) vol.push_back(rnd() * 16 - 8); dump("vol.bin", vol.data(), 240);
  CK(cudaMalloc3DArray(&a, &f1, e)); cudaMemcpy3DParms p = {}; p.srcPtr = make_cudaPitchedPtr(vol.data(), 20, 5, 4); p.dstArray = a; p.extent = e; p.kind = cudaMemcpyHostToDevice; CK(cudaMemcpy3D(&p));
  std::vector<float4> c3; for (int i = 0; i < 8192; i++) c3.push_back(make_float4(rnd() * 8 - 1.5f, rnd() * 7 - 1.5f, rnd() * 6 - 1.5f, 0));
  go<float>("lin3", k3, make(a, true, false, cudaAddressModeClamp), c3);
  std::vector<float> cube; for (int i = 0; i < 24; i++) cube.push_back((float)i); e = make_cudaExtent(2, 2, 6); CK(cudaMalloc3DArray(&a, &f1, e, cudaArrayCubemap));
  memset(&p, 0, sizeof p); p.srcPtr = make_cudaPitchedPtr(cube.data(), 8, 2, 2); p.dstArray = a; p.extent = e; p.kind = cudaMemcpyHostToDevice; CK(cudaMemcpy3D(&p));
  for (auto &v : c3) v = make_float4(rnd() * 2 - 1, rnd() * 2 - 1, rnd() * 2 - 1, 0); go<float>("cube", kc, make(a, false, false, cudaAddressModeClamp), c3);
  puts("all done"); return 0; }
