from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension

setup(
    name="tiny-ext",
    version="1.0",
    ext_modules=[CUDAExtension("tiny_ext", ["tiny.cu"])],
    cmdclass={"build_ext": BuildExtension},
)
