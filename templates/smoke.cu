// smoke.cu: does CUDA really run here?  It launches, copies, uses shared memory, atomics,
// shuffles, streams, half and bfloat16, and compares every number with one from the host.
//
//     nvcc -std=c++14 -o smoke smoke.cu -gencode arch=compute_80,code=sm_80
//     ./smoke            every GPU in turn; the result is JSON
//     ./smoke --list     what would be checked; needs no GPU
//
// Exit status: 0 every number is right; 1 one is wrong, or a CUDA call failed; 2 usage;
// 3 not run: no driver, or no GPU.  For nvcc 11.8 and later, compute capability 5.0 and later.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace {

constexpr int N = 1 << 20, THREADS = 256, BLOCKS = N / THREADS;
constexpr int BINS = 64, STREAMS = 4, TILE = 32, SIDE = 1024;    // SIDE * SIDE == N

// ---- kernels

__global__ void saxpy(float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = fmaf(a, x[i], y[i]);
}

// A sum per block in shared memory, of its last warp by shuffles, of all blocks by atomics.  Every term
// has bits in both halves of its 64, which are shuffled one by one.
constexpr unsigned long long BOTH_HALVES = (1ull << 20) + 1;
__global__ void sum(const unsigned *x, unsigned long long *total)
{
    __shared__ unsigned long long part[THREADS];
    unsigned long long mine = x[blockIdx.x * blockDim.x + threadIdx.x] * BOTH_HALVES;

    part[threadIdx.x] = mine;
    __syncthreads();
    for (int n = THREADS / 2; n >= 32; n /= 2) {
        if (threadIdx.x < n)
            part[threadIdx.x] += part[threadIdx.x + n];
        __syncthreads();
    }
    if (threadIdx.x < 32) {
        mine = part[threadIdx.x];
        for (int n = 16; n; n /= 2)
            mine += __shfl_down_sync(0xffffffffu, mine, n);
        if (threadIdx.x == 0)
            atomicAdd(total, mine);
    }
}

__global__ void histogram(const unsigned *x, unsigned *bins)
{
    __shared__ unsigned mine[BINS];

    if (threadIdx.x < BINS)
        mine[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&mine[x[blockIdx.x * blockDim.x + threadIdx.x] % BINS], 1u);
    __syncthreads();
    if (threadIdx.x < BINS)
        atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

__global__ void transpose(const float *in, float *out)
{
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE, y = blockIdx.y * TILE;

    tile[threadIdx.y][threadIdx.x] = in[(y + threadIdx.y) * SIDE + x + threadIdx.x];
    __syncthreads();
    out[(x + threadIdx.y) * SIDE + y + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void square(const int *x, int *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i] * x[i];
}

// To so many significant bits, to nearest even, by definition: what the hardware must give.
__host__ __device__ float round_to(double value, int bits, int smallest)
{
    int exponent;
    frexp(value, &exponent);
    int unit = exponent - bits > smallest ? exponent - bits : smallest;
    return (float)ldexp(rint(ldexp(value, -unit)), unit);
}
__host__ __device__ float as_half(double value) { return round_to(value, 11, -24); }
__host__ __device__ float as_bfloat16(double value) { return round_to(value, 8, -133); }

__global__ void half_axpy(float a, const float *x, const float *y, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#if __CUDA_ARCH__ >= 530
    out[i] = __half2float(__hfma(__float2half(a), __float2half(x[i]), __float2half(y[i])));
#else
    out[i] = as_half((double)as_half(a) * as_half(x[i]) + as_half(y[i]));
#endif
}

__global__ void bfloat16_axpy(float a, const float *x, const float *y, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#if __CUDA_ARCH__ >= 800
    out[i] = __bfloat162float(
        __hfma(__float2bfloat16(a), __float2bfloat16(x[i]), __float2bfloat16(y[i])));
#else
    out[i] = as_bfloat16((double)as_bfloat16(a) * as_bfloat16(x[i]) + as_bfloat16(y[i]));
#endif
}

// ---- memory, numbers, failures

cudaError_t failure;          // of the first call that failed, until it is cleared
const char *failed_call;

bool good(cudaError_t err, const char *call)
{
    if (err != cudaSuccess && failure == cudaSuccess) {
        failure = err;
        failed_call = call;
    }
    return failure == cudaSuccess;
}
#define GOOD(call) good((call), #call)

// Device memory with a copy on the host; given back at the end of its block.
template <typename T> struct array {
    std::vector<T> host;
    T *gpu = nullptr;

    explicit array(size_t n) : host(n) { GOOD(cudaMalloc((void **)&gpu, n * sizeof(T))); }
    ~array() { cudaFree(gpu); }
    array(const array &) = delete;
    bool up() { return copy(gpu, host.data(), cudaMemcpyHostToDevice); }
    bool down()
    {
        return GOOD(cudaGetLastError()) && GOOD(cudaDeviceSynchronize()) &&
               copy(host.data(), gpu, cudaMemcpyDeviceToHost);
    }
    bool copy(T *to, const T *from, cudaMemcpyKind kind)
    {
        return failure == cudaSuccess && GOOD(cudaMemcpy(to, from, host.size() * sizeof(T), kind));
    }
    bool random(unsigned seed)       // the same numbers on every machine
    {
        for (T &value : host) {
            seed = seed * 1664525u + 1013904223u;
            value = (T)(seed >> 8);
            if (std::is_floating_point<T>::value)
                value = value / 8388608 - 1;
        }
        return up();
    }
};

// ---- checks: how many numbers are not what they must be; anything if a call failed

template <typename T> long wrong(const std::vector<T> &got, const std::vector<T> &want)
{
    long count = 0;
    for (size_t i = 0; i < want.size(); i++)
        count += !(got[i] == want[i]);
    return count;
}

long check_copy()
{
    array<unsigned> x(N);
    x.random(1);
    std::vector<unsigned> want = x.host;
    x.host.assign(N, 0);
    x.down();
    return wrong(x.host, want);
}

long check_saxpy()
{
    array<float> x(N), y(N);
    if (!x.random(2) || !y.random(3))
        return -1;
    std::vector<float> want = y.host;
    for (int i = 0; i < N; i++)
        want[i] = fmaf(1.5f, x.host[i], want[i]);
    saxpy<<<BLOCKS, THREADS>>>(1.5f, x.gpu, y.gpu);
    y.down();
    return wrong(y.host, want);
}

long check_sum()
{
    array<unsigned> x(N);
    array<unsigned long long> total(1);
    std::vector<unsigned long long> want(1);
    if (!x.random(4) || !total.up())
        return -1;
    for (unsigned value : x.host)
        want[0] += value * BOTH_HALVES;
    sum<<<BLOCKS, THREADS>>>(x.gpu, total.gpu);
    total.down();
    return wrong(total.host, want);
}

long check_atomics()
{
    array<unsigned> x(N), bins(BINS);
    std::vector<unsigned> want(BINS);
    if (!x.random(5) || !bins.up())
        return -1;
    for (unsigned value : x.host)
        want[value % BINS]++;
    histogram<<<BLOCKS, THREADS>>>(x.gpu, bins.gpu);
    bins.down();
    return wrong(bins.host, want);
}

long check_shared()
{
    array<float> x(N), y(N);
    std::vector<float> want(N);
    if (!x.random(6))
        return -1;
    for (int i = 0; i < N; i++)
        want[i % SIDE * SIDE + i / SIDE] = x.host[i];
    transpose<<<dim3(SIDE / TILE, SIDE / TILE), dim3(TILE, TILE)>>>(x.gpu, y.gpu);
    y.down();
    return wrong(y.host, want);
}

long check_small(float (*as)(double), void (*kernel)(float, const float *, const float *, float *))
{
    array<float> x(N), y(N), out(N);
    std::vector<float> want(N);
    if (!x.random(7) || !y.random(8))
        return -1;
    for (int i = 0; i < N; i++)
        want[i] = as((double)as(0.7f) * as(x.host[i]) + as(y.host[i]));
    kernel<<<BLOCKS, THREADS>>>(0.7f, x.gpu, y.gpu, out.gpu);
    out.down();
    return wrong(out.host, want);
}
long check_half() { return check_small(as_half, half_axpy); }
long check_bfloat16() { return check_small(as_bfloat16, bfloat16_axpy); }

// Every stream copies a part in, computes, and copies it out, all from pinned memory.
long check_streams()
{
    const int part = N / STREAMS;
    array<int> x(N), y(N);
    int *pinned = nullptr;
    cudaStream_t stream[STREAMS] = {};
    long count = 0;

    if (!GOOD(cudaMallocHost((void **)&pinned, N * sizeof(int))))
        return -1;
    for (int i = 0; i < N; i++)
        pinned[i] = i % 40000 - 20000;
    for (int s = 0; s < STREAMS && GOOD(cudaStreamCreate(&stream[s])); s++) {
        int *mine = pinned + s * part, *in = x.gpu + s * part, *out = y.gpu + s * part;
        size_t size = part * sizeof(int);
        GOOD(cudaMemcpyAsync(in, mine, size, cudaMemcpyHostToDevice, stream[s]));
        square<<<part / THREADS, THREADS, 0, stream[s]>>>(in, out);
        GOOD(cudaGetLastError());
        GOOD(cudaMemcpyAsync(mine, out, size, cudaMemcpyDeviceToHost, stream[s]));
    }
    GOOD(cudaDeviceSynchronize());
    for (int i = 0; i < N; i++)
        count += pinned[i] != (i % 40000 - 20000) * (i % 40000 - 20000);
    for (cudaStream_t s : stream)
        if (s)
            cudaStreamDestroy(s);
    cudaFreeHost(pinned);
    return count;
}

const struct {
    const char *name;
    long (*run)();
} checks[] = {{"copy", check_copy},       {"saxpy", check_saxpy},   {"sum", check_sum},
              {"atomics", check_atomics}, {"shared", check_shared}, {"half", check_half},
              {"bfloat16", check_bfloat16}, {"streams", check_streams}};

// ---- what is printed

void print(const char *key, const char *value)
{
    printf("\"%s\": \"", key);
    for (; *value; value++)
        if (*value >= 32 && *value < 127)
            printf(*value == 34 || *value == 92 ? "\\%c" : "%c", *value);
    printf("\"");
}

void print_failure()
{
    printf("\"ok\": false, ");
    print("error", cudaGetErrorString(failure));
    printf(", ");
    print("call", failed_call);
}

bool run_device(int index)
{
    cudaDeviceProp p = {};
    bool ok = GOOD(cudaSetDevice(index)) && GOOD(cudaGetDeviceProperties(&p, index));

    printf("%s\n    {\"index\": %d, ", index ? "," : "", index);
    print("name", p.name);
    printf(", \"compute_capability\": \"%d.%d\", \"checks\": [", p.major, p.minor);
    for (const auto &check : checks) {
        if (failure != cudaSuccess)     // every later call would fail too
            break;
        long count = check.run();
        printf("%s\n      {\"name\": \"%s\", ", &check == checks ? "" : ",", check.name);
        if (failure != cudaSuccess)
            print_failure();
        else
            printf("\"ok\": %s, \"wrong\": %ld", count ? "false" : "true", count);
        printf("}");
        ok = ok && !count && failure == cudaSuccess;
    }
    printf("],\n     \"ok\": %s}", ok ? "true" : "false");
    return ok;
}

int run()
{
    int driver = 0, runtime = 0, devices = 0;
    bool ok = true;

    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    printf("{\"driver_cuda\": \"%d.%d\", \"runtime_cuda\": \"%d.%d\",\n", driver / 1000,
           driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
    cudaError_t err = cudaGetDeviceCount(&devices);
    if (err == cudaErrorNoDevice || err == cudaErrorInsufficientDriver ||
        err == cudaErrorStubLibrary || (err == cudaSuccess && devices == 0)) {
        printf(" ");
        print("not_run", err ? cudaGetErrorString(err) : "no GPU is visible");
        printf("}\n");
        return 3;
    }
    printf("  \"devices\": [");
    if (!good(err, "cudaGetDeviceCount"))
        ok = false;
    for (int i = 0; i < devices && failure == cudaSuccess; i++)
        ok = run_device(i) && ok;
    printf("],\n ");
    if (failure != cudaSuccess)
        print_failure();
    else
        printf("\"ok\": %s", ok ? "true" : "false");
    printf("}\n");
    return ok ? 0 : 1;
}

}  // namespace

int main(int argc, char **argv)
{
    if (argc == 1)
        return run();
    if (argc > 2 || strcmp(argv[1], "--list")) {
        fprintf(stderr, "usage: smoke [--list]\n");
        return 2;
    }
    printf("{\"compiler\": \"%d.%d\", \"checks\": [", __CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__);
    for (const auto &check : checks)
        printf("%s\"%s\"", &check == checks ? "" : ", ", check.name);
    printf("]}\n");
    return 0;
}
