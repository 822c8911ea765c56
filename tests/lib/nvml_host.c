/* A stand-in for NVIDIA's NVML: suites/doctor compiles it with the values of a made-up host. */
#include <string.h>

#ifndef INIT
#define INIT 0
#endif
#ifndef USED
#define USED 1
#endif

int
nvmlInit_v2(void)
{
	return INIT;
}
int
nvmlShutdown(void)
{
	return 0;
}
const char *
nvmlErrorString(int r)
{
	return r ? "a failure" : "no failure";
}
int
nvmlSystemGetDriverVersion(char *s, unsigned n)
{
	strncpy(s, DRIVER, n);
	return 0;
}
int
nvmlSystemGetCudaDriverVersion_v2(int *v)
{
	*v = CUDA;
	return 0;
}
int
nvmlDeviceGetCount_v2(unsigned *n)
{
	*n = GPUS;
	return 0;
}
int
nvmlDeviceGetHandleByIndex_v2(unsigned i, void **d)
{
	*d = (void *)(unsigned long)(i + 1);
	return i ? SECOND : 0;
}
int
nvmlDeviceGetName(void *d, char *s, unsigned n)
{
	(void)d;
	strncpy(s, NAME, n);
	return 0;
}
int
nvmlDeviceGetUUID(void *d, char *s, unsigned n)
{
	(void)d;
	strncpy(s, "GPU-1", n);
	return 0;
}
int
nvmlDeviceGetCudaComputeCapability(void *d, int *x, int *y)
{
	(void)d;
	*x = CC / 10;
	*y = CC % 10;
	return 0;
}
int
nvmlDeviceGetMemoryInfo(void *d, unsigned long long *m)
{
	(void)d;
	m[0] = 24ULL << 30;
	m[2] = (unsigned long long)USED << 20;
	m[1] = m[0] - m[2];
	return 0;
}
