"""After Clarity-Digital-Twin/brain-go-brr-v2, deploy/modal/app.py at 01dae4cd: training of a Bi-Mamba-2 model."""
import subprocess
from pathlib import Path

import modal

HERE = Path(__file__).parent

image = (
    modal.Image.from_registry("nvidia/cuda:12.1.0-devel-ubuntu22.04", add_python="3.11")
    .entrypoint([])  # the base image prints a banner
    .apt_install("build-essential", "ninja-build", "git")
    .env({
        "CUDA_HOME": "/usr/local/cuda-12.1",
        "PATH": "/usr/local/cuda-12.1/bin:$PATH",
        "LD_LIBRARY_PATH": "/usr/local/cuda-12.1/lib64:$LD_LIBRARY_PATH",
        "TORCH_CUDA_ARCH_LIST": "8.0;8.6;8.9;9.0",
    })
    .run_commands("pip install torch==2.2.2 torchvision==0.17.2 'numpy<2.0' --index-url https://download.pytorch.org/whl/cu121")
    .run_commands("python -c 'import torch; assert torch.__version__.startswith(\"2.2.2\"), torch.__version__'")
    .pip_install("packaging", "wheel", "setuptools")
    .run_commands("pip install --no-build-isolation --no-cache-dir causal-conv1d==1.4.0")
    .run_commands("pip install --no-build-isolation --no-cache-dir mamba-ssm==2.2.2")
    .run_commands("python -c 'from mamba_ssm import Mamba2; print(\"✅ Mamba2\")'")
    .pip_install(
        "scipy>=1.10.0", "scikit-learn>=1.3.0", "mne>=1.5.0", "pyedflib>=0.1.30", "einops>=0.7.0", "pydantic>=2.0.0",
        "pyyaml>=6.0.0", "click>=8.1.7", "rich>=13.0.0", "tqdm>=4.64.0",
        "pandas>=2.0.0",  # for evaluation
        "tensorboard>=2.10.0", "wandb", "pytorch-tcn",
    )
    .run_commands("pip install torch_scatter torch_sparse torch_cluster torch_spline_conv -f https://data.pyg.org/whl/torch-2.2.0+cu121.html")
    .run_commands("pip install torch-geometric==2.6.1")
    .workdir("/app")
    .add_local_dir(str(HERE.parent.parent / "src"), "/app/src")
    .add_local_dir(str(HERE.parent.parent / "configs"), "/app/configs")
)

app = modal.App("brain-go-brr-v2", image=image, secrets=[modal.Secret.from_name("wandb-secret")])
bucket_login = modal.Secret.from_name("aws-s3-secret")
raw = modal.CloudBucketMount("eeg-data", secret=bucket_login, key_prefix="tusz/", read_only=True)
results = modal.Volume.from_name("brain-go-brr-results", create_if_missing=True)


@app.function(timeout=21600, cpu=24, memory=65536, volumes={"/results": results, "/s3_cache": raw})
def populate_cache():
    subprocess.run(["cp", "-r", "/s3_cache", "/results/cache"], check=True)


@app.function(
    gpu="A100-80GB",
    timeout=86400,  # the longest
    volumes={"/data": raw, "/results": results},
    memory=98304,
    cpu=24,
)
def train(config_path: str = "configs/modal/smoke.yaml", resume: bool = False):
    subprocess.run(["python", "-m", "src.train", config_path] + ["--resume"] * resume, check=True)


@app.local_entrypoint()
def main(config: str = "configs/modal/smoke.yaml"):
    train.remote(config)
