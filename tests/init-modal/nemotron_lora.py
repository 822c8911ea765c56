"""After a public fine-tuning workflow of Nemotron 3 Nano (mythograph): mamba-ssm in one call with its convolution."""
from pathlib import PurePosixPath

import modal

APP_NAME = "mythograph-nemotron-ft"
VOLUME_NAME = f"{APP_NAME}-cache"
VOLUME_ROOT = PurePosixPath("/vol")
volume = modal.Volume.from_name(VOLUME_NAME, create_if_missing=True)

image = (
    modal.Image.from_registry("nvidia/cuda:12.4.1-devel-ubuntu22.04", add_python="3.11")
    .apt_install("bash", "build-essential", "cmake", "curl", "git", "ninja-build")
    .pip_install("torch==2.6.0", index_url="https://download.pytorch.org/whl/cu124")
    .pip_install("pip>=26.1.2", "wheel", "packaging", "ninja")
    .pip_install(
        "transformers==4.52.4", "datasets>=2.20.0", "accelerate>=0.33.0", "peft==0.15.2", "trl==0.17.0",
        "bitsandbytes>=0.43.0", "safetensors>=0.4.3", "sentencepiece>=0.2.0", "protobuf>=4.25.0", "einops>=0.8.0",
        "huggingface_hub>=0.24.0",
    )
    .pip_install(
        "causal-conv1d==1.5.0.post8",
        "mamba-ssm==2.2.4",
        extra_options="--no-build-isolation --no-deps",
        env={"MAX_JOBS": "4", "MAMBA_FORCE_CXX11_ABI": "FALSE"},
        gpu="A100",
    )
    .env({
        "HF_HOME": str(VOLUME_ROOT / "hf-cache"),
        "TRANSFORMERS_CACHE": str(VOLUME_ROOT / "hf-cache"),
        "HF_XET_HIGH_PERFORMANCE": "1",
        "TOKENIZERS_PARALLELISM": "false",
    })
)
app = modal.App(APP_NAME, image=image, volumes={str(VOLUME_ROOT): volume})


@app.function(gpu="A100", cpu=8, memory=65536, timeout=6 * 60 * 60, secrets=[modal.Secret.from_name("huggingface")])
def train_lora(epochs: float = 3.0):
    import torch

    return torch.cuda.device_count(), epochs


@app.function(cpu=12, memory=65536, timeout=4 * 60 * 60)
def build_gguf():
    pass
