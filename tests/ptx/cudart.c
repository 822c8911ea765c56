/*
 * A stand-in for the CUDA runtime library, for programs that nvcc linked with `-cudart none`: one
 * GPU whose kernels the interpreter runs at their launch, and whose memory is the host's.
 */
#include "ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

enum { KERNELS = 64, LATE = 64 };

struct fat_binary { /* fatbinary_section.h */
	int magic, version;
	const unsigned long long *data;
	void *file;
};

struct registered {
	const void *function;
	const char *name;
	const struct fat_binary *binary;
	struct ptx_kernel *kernel; /* read when it is first launched */
};

static struct registered kernels[KERNELS];
static size_t nkernels;
static cudaError_t last;
static unsigned launches, allocations, copies;

/* --- the functions that nvcc's code calls --- */

struct configuration {
	dim3 grid, block;
	size_t shared;
	cudaStream_t stream;
};
static struct configuration pushed;

void **
__cudaRegisterFatBinary(void *binary)
{
	void **handle = malloc(sizeof(*handle));

	*handle = binary;
	return handle;
}

void
__cudaRegisterFatBinaryEnd(void **handle)
{
	(void)handle;
}

void
__cudaUnregisterFatBinary(void **handle)
{
	free(handle);
}

char
__cudaInitModule(void **handle)
{
	(void)handle;
	return 1;
}

void
__cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int limit,
		       void *tid, void *bid, void *block, void *grid, int *warp)
{
	(void)device, (void)limit, (void)tid, (void)bid, (void)block, (void)grid, (void)warp;
	if (nkernels == KERNELS)
		ptx_unknown("more kernels than there is room for", name);
	kernels[nkernels++] = (struct registered){ host, name, *handle, NULL };
}

unsigned
__cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, struct CUstream_st *stream)
{
	pushed = (struct configuration){ grid, block, shared, stream };
	return 0;
}

cudaError_t
__cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
	*grid = pushed.grid;
	*block = pushed.block;
	*shared = pushed.shared;
	*(cudaStream_t *)stream = pushed.stream;
	return cudaSuccess;
}

cudaError_t
__cudaGetKernel(cudaKernel_t *kernel, const void *function)
{
	for (size_t i = 0; i < nkernels; i++)
		if (kernels[i].function == function) {
			*kernel = (cudaKernel_t)&kernels[i];
			return cudaSuccess;
		}
	return cudaErrorInvalidDeviceFunction;
}

/* Returns the text of PTX in a fat binary; with --compress-mode=none, nvcc does not compress it. */
static const char *
ptx_of(const struct fat_binary *binary)
{
	/* fatbinary.h: magic, version, size of the header, size of the rest. */
	const char *p = (const char *)binary->data;
	unsigned long long size = binary->data[1] + 16;
	const char *text = memmem(p, size, "\n.version ", 10);

	if (!text)
		ptx_unknown("no PTX that is not compressed", "a fat binary");
	return text;
}

static cudaError_t
fail(cudaError_t error)
{
	last = error;
	return error;
}

cudaError_t
__cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t shared,
		   cudaStream_t stream)
{
	struct registered *r = (struct registered *)kernel;
	const unsigned size[3] = { block.x, block.y, block.z }, all[3] = { grid.x, grid.y, grid.z };
	unsigned at[3], times = ptx_fault("launch-twice") ? 2 : 1, y_max = grid.y;

	(void)stream;
	if (shared)
		ptx_unknown("shared memory that the launch asks for", r->name);
	if (ptx_fault("launch-fails") && ++launches == 2)
		return fail(cudaErrorLaunchOutOfResources);
	if (ptx_fault("launch-lost"))
		return cudaSuccess;
	if (!r->kernel)
		r->kernel = ptx_read(ptx_of(r->binary), r->name);
	if (ptx_fault("grid-row-lost") && y_max > 1)
		y_max--;
	while (times--)
		for (at[2] = 0; at[2] < grid.z; at[2]++)
			for (at[1] = 0; at[1] < y_max; at[1]++)
				for (at[0] = 0; at[0] < grid.x - ptx_fault("last-block-lost");
				     at[0]++)
					ptx_run(r->kernel, at, all, size, args);
	return cudaSuccess;
}

/* --- memory --- */

cudaError_t
cudaMalloc(void **to, size_t size)
{
	static void *first;

	if (ptx_fault("malloc-fails") && ++allocations == 3)
		return fail(cudaErrorMemoryAllocation);
	*to = malloc(size);
	if (ptx_fault("malloc-same-twice") && ++allocations == 3)
		*to = first;
	first = *to;
	return cudaSuccess;
}

cudaError_t
cudaFree(void *p)
{
	if (!ptx_fault("malloc-same-twice"))
		free(p);
	return cudaSuccess;
}

cudaError_t
cudaMallocHost(void **to, size_t size)
{
	if (ptx_fault("pinned-fails"))
		return fail(cudaErrorMemoryAllocation);
	*to = malloc(size);
	return cudaSuccess;
}

cudaError_t
cudaFreeHost(void *p)
{
	free(p);
	return cudaSuccess;
}

cudaError_t
cudaMemcpy(void *to, const void *from, size_t size, enum cudaMemcpyKind kind)
{
	bool down = kind == cudaMemcpyDeviceToHost;

	if (ptx_fault("copy-fails") && ++copies == 4)
		return fail(cudaErrorInvalidValue);
	if (ptx_fault("copy-lost") && down)
		return cudaSuccess;
	memcpy(to, from, size);
	if (ptx_fault("copy-bit") && !down)
		((unsigned char *)to)[size / 2] ^= 64;
	if (ptx_fault("copy-short") && size > 64)
		memset((char *)to + size - 16, 0, 16);
	return cudaSuccess;
}

/* Copies synchronously; a fault lets the copies of a stream overtake its kernel. */
cudaError_t
cudaMemcpyAsync(void *to, const void *from, size_t size, enum cudaMemcpyKind kind,
		cudaStream_t stream)
{
	(void)stream;
	if ((ptx_fault("async-up-lost") && kind == cudaMemcpyHostToDevice) ||
	    (ptx_fault("async-down-lost") && kind == cudaMemcpyDeviceToHost))
		return cudaSuccess;
	if (ptx_fault("async-one-stream") && stream != (cudaStream_t)1)
		return cudaSuccess;
	memcpy(to, from, size);
	return cudaSuccess;
}

/* --- the rest --- */

cudaError_t
cudaStreamCreate(cudaStream_t *stream)
{
	static uintptr_t n;

	if (ptx_fault("stream-fails"))
		return fail(cudaErrorUnknown);
	*stream = (cudaStream_t)++n;
	return cudaSuccess;
}

cudaError_t
cudaStreamDestroy(cudaStream_t stream)
{
	(void)stream;
	return cudaSuccess;
}

cudaError_t
cudaGetLastError(void)
{
	cudaError_t error = last;

	last = cudaSuccess;
	return error;
}

cudaError_t
cudaDeviceSynchronize(void)
{
	return ptx_fault("synchronize-fails") ? cudaErrorIllegalAddress : cudaSuccess;
}

cudaError_t
cudaGetDeviceCount(int *n)
{
	if (ptx_fault("count-fails"))
		return cudaErrorInitializationError;
	*n = 1;
	return cudaSuccess;
}

cudaError_t
cudaSetDevice(int device)
{
	(void)device;
	return ptx_fault("device-busy") ? cudaErrorDevicesUnavailable : cudaSuccess;
}

cudaError_t
cudaGetDeviceProperties(struct cudaDeviceProp *p, int device)
{
	(void)device;
	memset(p, 0, sizeof(*p));
	snprintf(p->name, sizeof(p->name), "PTX interpreter");
	p->major = 8;
	return cudaSuccess;
}

cudaError_t
cudaDriverGetVersion(int *version)
{
	*version = CUDART_VERSION;
	return cudaSuccess;
}

cudaError_t
cudaRuntimeGetVersion(int *version)
{
	*version = CUDART_VERSION;
	return cudaSuccess;
}

const char *
cudaGetErrorString(cudaError_t error)
{
	static char text[40];

	snprintf(text, sizeof(text), "error %d of the stand-in", (int)error);
	return text;
}
