# recipes/torch222-cu121.yaml as an HPCCM recipe: the same base, layers and commands as far as its
# building blocks go.  `hpccm --recipe THIS --format docker [--userarg cell=N]`
cell = USERARG.get("cell", "0")

Stage0 += baseimage(image="nvidia/cuda:12.1.0-devel-ubuntu22.04")
Stage0 += label(metadata={"stack": "torch222-cu121"})
Stage0 += apt_get(ospackages=["build-essential", "git", "ninja-build", "ca-certificates"])
Stage0 += python(devel=True, python2=False)
Stage0 += shell(commands=["pip3 install --index-url https://download.pytorch.org/whl/cu121 torch==2.2.2 'numpy<2'"])
Stage0 += pip(pip="pip3", packages=["setuptools", "wheel", "ninja", "packaging"])
Stage0 += pip(pip="pip3", packages=["numpy<2", "einops"])
Stage0 += environment(variables={"MAX_JOBS": "4", "TORCH_CUDA_ARCH_LIST": "8.0;8.9", "CELL": cell})
Stage0 += generic_build(
    repository="https://github.com/Dao-AILab/causal-conv1d.git",
    branch="v1.4.0",
    build=["CAUSAL_CONV1D_FORCE_BUILD=TRUE CC=gcc CXX=g++ pip3 install --no-build-isolation --no-deps ."],
)
Stage0 += generic_build(
    repository="https://github.com/state-spaces/mamba.git",
    branch="v2.2.2",
    build=["MAMBA_FORCE_BUILD=TRUE CC=gcc CXX=g++ pip3 install --no-build-isolation --no-deps ."],
)
Stage0 += shell(commands=["python3 -c 'import torch, causal_conv1d, mamba_ssm'"])
