// tiny_ext.twice(x): the smallest CUDA extension of torch that does something.
#include <torch/extension.h>

__global__ void twice_kernel(const float *x, float *y, int64_t n)
{
	int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
	if (i < n)
		y[i] = 2 * x[i];
}

torch::Tensor twice(torch::Tensor x)
{
	auto y = torch::empty_like(x);
	twice_kernel<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
	return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("twice", &twice); }
