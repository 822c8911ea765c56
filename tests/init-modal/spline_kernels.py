"""After a public probe of CUDA kernels (sparsespline-ffn): the project's own extension, compiled with the image."""
from __future__ import annotations

import modal

IMAGE = (
    modal.Image.from_registry("nvidia/cuda:12.6.3-cudnn-devel-ubuntu22.04",
                              add_python="3.12")
    .apt_install("git", "build-essential")
    .pip_install("torch==2.9.1", "triton",
                 index_url="https://download.pytorch.org/whl/cu126")
    .pip_install("numpy", "ninja")
    .add_local_dir(
        local_path="src",
        remote_path="/repo",
        ignore=[".venv/**", ".git/**", "**/__pycache__/**", "**/*.pyc"],
        copy=True,
    )
    .run_commands("cd /repo && pip install -e .")
)
app = modal.App("sparsespline-bwd-v3-probe-h100", image=IMAGE)


@app.function(gpu="H100", timeout=900)
def run_probe() -> str:
    import torch

    return torch.version.cuda


@app.local_entrypoint()
def main():
    print(run_probe.remote())
