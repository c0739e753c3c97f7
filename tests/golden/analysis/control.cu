/* Control flow and data dependence as compilers write them, for tests of the analysis against the simulator.
 * control.ptx: nvcc -ptx -arch=sm_75 control.cu */
struct P { float *a; int n; int *idx; float4 *v; };
__constant__ int table[64] = {5,3,1,60,7,9,11,13,2,4,6,8,10,12,14,16,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56,57,58,59,60,61,62,63,0};
__device__ int perm[128];
extern "C" {
__global__ void k_struct(P p, float *o){ int i=blockIdx.x*blockDim.x+threadIdx.x; if(i<p.n) o[i]=p.a[i*3]+p.a[p.idx[i]&1023]; }
__device__ __noinline__ float get(const float*a,int i,int s){ return a[(i*s)&4095]; }
__global__ void k_call(const float*a,float*o,int n){ int i=blockIdx.x*blockDim.x+threadIdx.x; float s=0; for(int k=0;k<(n&15);k++) s+=get(a,i+k,3); if(i&1) s+=get(a,i,7); o[i]=s; }
__global__ void k_switch(const float*a,float*o,int n){ int i=blockIdx.x*blockDim.x+threadIdx.x; float r; switch(i%6){case 0:r=a[i];break;case 1:r=a[i*2];break;case 2:r=a[i+5]*a[i];break;case 3:r=a[n];break;case 4:r=a[i/2]+1;break;default:r=a[0];} o[i]=r; }
__global__ void k_short(const float*a,float*o,int n){ int i=blockIdx.x*blockDim.x+threadIdx.x; if((i%3==0 && a[i]>=0) || a[i+64]<-1 || (i%7==1 && a[2*i]>50)) o[i]=a[i+7]; else o[i]=a[3]; }
__global__ void k_break(const int*a,int*o,int n){ int i=blockIdx.x*blockDim.x+threadIdx.x; int s=0; for(int k=0;k<n;k++){ int v=a[(i*7+k*13)&2047]; if(v%5==0) break; if(v%3==0) continue; s+=a[v&1023]; } o[i]=s; }
__global__ void k_while(const int*a,int*o,int n){ int i=blockIdx.x*blockDim.x+threadIdx.x; int p=i&511,c=0; while(a[p]%4!=0 && c<20){ p=a[p]&511; c++; } o[i]=c; }
__global__ void k_tile(const float*a,float*o,int w){ __shared__ float t[16][17]; int x=blockIdx.x*16+threadIdx.x,y=blockIdx.y*16+threadIdx.y; t[threadIdx.y][threadIdx.x]=a[(y*w+x)&4095]; __syncthreads(); o[((blockIdx.x*16+threadIdx.y)*w+blockIdx.y*16+threadIdx.x)&4095]=t[threadIdx.x][threadIdx.y]; }
__global__ void k_sidx(const int*a,int*o,int n){ __shared__ int s[256]; int t=threadIdx.x; s[t]=a[(blockIdx.x*blockDim.x+t)&4095]&1023; __syncthreads(); int v=0; for(int k=0;k<4;k++) v+=a[s[(t+k*17)%blockDim.x]]; o[(blockIdx.x*blockDim.x+t)&4095]=v; }
__global__ void k_const(const float*a,float*o,int n){ int i=blockIdx.x*blockDim.x+threadIdx.x; o[i]=a[table[i&63]*4+perm[i&127]]; }
__global__ void k_local(const int*a,int*o,int n){ int i=blockIdx.x*blockDim.x+threadIdx.x; int b[16]; for(int k=0;k<16;k++) b[k]=a[(i+k)&1023]; int s=0; for(int k=0;k<n%16;k++) s+=a[b[b[k]&15]&1023]; o[i]=s; }
__global__ void k_shfl(const int*a,int*o,int n){ int i=blockIdx.x*blockDim.x+threadIdx.x; int v=a[i&1023]; int u=__shfl_xor_sync(~0u,v,5); int m=__ballot_sync(~0u,v&1); int w=__popc(m); o[i]=a[(u+w)&1023]+a[__shfl_up_sync(~0u,v,3)&1023]; }
__global__ void k_queue(int*q,int*cnt,const int*a,int*o,int n){ int i=blockIdx.x*blockDim.x+threadIdx.x; if(a[i&1023]%3==0){ int p=atomicAdd(cnt,1)&1023; q[p]=i; } __syncthreads(); o[i]=a[i&1023]; }
__global__ void k_div(const float*a,float*o,int n,int w){ int i=blockIdx.x*blockDim.x+threadIdx.x; int r=i/w,c=i%w; o[i]=a[(c*n+r)&4095]+a[i/3]+a[(unsigned)i%10]; }
__global__ void k_ret(const int*a,int*o,int n){ int i=blockIdx.x*blockDim.x+threadIdx.x; for(int k=0;k<n;k++){ if(a[(i+k)&1023]>90){ o[i]=k; return; } } o[i]=-1; }
__global__ void k_tri(const float*a,float*o,int n){ int i=blockIdx.x*blockDim.x+threadIdx.x; float s=0; for(int j=0;j<=i%32;j++) for(int k=j;k<16;k+=2) s+=a[j*16+k]; o[i]=s; }
__global__ void k_grid(const float*a,float*o,int n){ for(int i=blockIdx.x*blockDim.x+threadIdx.x;i<n;i+=gridDim.x*blockDim.x) o[i]=a[i]; }
__global__ void k_vec(const float4*a,const double2*b,const char3*c,float*o,int n){ int i=blockIdx.x*blockDim.x+threadIdx.x; float4 v=a[i]; double2 d=b[(i*2)&255]; char3 e=c[i]; o[i]=v.x+v.w+d.x+e.x+e.y+e.z; }
__global__ void k_u64(const float*a,float*o,long long n){ long long i=(long long)blockIdx.x*blockDim.x+threadIdx.x; unsigned long long j=(unsigned)(threadIdx.x-3); if(threadIdx.x>=3) o[i]=a[j]+a[i%100]; }
__global__ void k_float(const float*a,float*o,int n){ int i=blockIdx.x*blockDim.x+threadIdx.x; float x=i*0.37f; int j=(int)floorf(x)+__float2int_rn(sqrtf((float)i)); float b=1e9f; int best=0; for(int k=0;k<8;k++){ float d=fabsf(a[k*5]-x); if(d<b){b=d;best=k;} } o[i]=a[j&1023]+a[best]; }
__global__ void k_z(const float*a,float*o,int n){ int x=threadIdx.x,y=threadIdx.y,z=threadIdx.z; int i=((blockIdx.z*blockDim.z+z)*37+(blockIdx.y*blockDim.y+y))*11+x; o[i&4095]=a[(i*3)&4095]; }
__global__ void k_cw(const int*__restrict__ a,int*o,int n){ int i=blockIdx.x*blockDim.x+threadIdx.x; int s=0; int k=i; do { s+=a[k&1023]; k>>=1; } while(k>0); for(int m=n;m>1;m/=2) s+=a[(m+i)&1023]; o[i]=s; }
}
