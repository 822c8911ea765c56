"""After a public training app of a small Mamba-3 model (aero-deuce): torch of the base image is replaced."""
import modal

app = modal.App("aero-deuce")
volume = modal.Volume.from_name("aero-deuce-checkpoints", create_if_missing=True)
image = (
    modal.Image.from_registry("pytorch/pytorch:2.5.1-cuda12.4-cudnn9-devel", add_python="3.11")
    .apt_install("git", "build-essential")
    .pip_install("torch==2.7.0")
    .pip_install("ninja", "packaging", "einops", "setuptools", "triton>=3.5.0")
    .pip_install("causal-conv1d>=1.6.0", extra_options="--no-build-isolation --no-deps")
    .pip_install("mamba-ssm>=2.3.0", extra_options="--no-build-isolation --no-deps")
    .pip_install(
        "tilelang==0.1.8", "apache-tvm-ffi<=0.1.9", "quack-kernels>=0.3.4", "z3-solver>=4.13.0", "cloudpickle",
        "ml-dtypes", "torch-c-dlpack-ext",
        extra_options="--no-deps",
    )
    .pip_install("transformers>=4.40.0,<5.0.0", "datasets>=2.18.0", "numpy>=1.24.0")
    .add_local_dir(local_path=".", remote_path="/root/aero-deuce", ignore=["__pycache__", ".git", "*.pyc", ".venv"])
)


@app.function(gpu="A10G", image=image, timeout=600)
def validate():
    import torch

    return torch.cuda.get_device_name(0)


@app.function(gpu="A10G", image=image, timeout=86400, volumes={"/checkpoints": volume})
def train():
    volume.commit()


@app.local_entrypoint()
def main(full: bool = False):
    print((train if full else validate).remote())
