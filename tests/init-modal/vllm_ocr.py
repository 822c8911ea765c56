"""After a public app that reads documents with vLLM (DeepSeek-OCR): settings from the environment, calls under `if`."""
import os

import modal

BACKEND = os.getenv("BACKEND", "")
APP_NAME = os.getenv("APP_NAME", "")
TP = os.getenv("TP", "1")
PROFILE_DIR = "/root/vllm_profile"

app = modal.App("vllm-deepseek-ocr")
IMAGE_GPU = os.getenv("IMAGE_GPU", None)
vllm_image = (
    modal.Image.from_registry("nvidia/cuda:12.6.1-cudnn-devel-ubuntu22.04", add_python="3.10")
    .apt_install("git", "git-lfs")
    .run_commands(
        "git clone https://github.com/deepseek-ai/DeepSeek-OCR.git",
        "cd /DeepSeek-OCR && pip install -r requirements.txt",
    )
    .pip_install("torch==2.6.0", "torchvision==0.21.0", "torchaudio==2.6.0", "wheel", "matplotlib", "accelerate>=0.26.0")
    .pip_install("flash-attn==2.7.4.post1", extra_options="--no-build-isolation")
    .pip_install("vllm==v0.8.5", extra_index_url="https://download.pytorch.org/whl/cu126")
    .env({
        "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True",
        "CUDA_VISIBLE_DEVICES": "0",
        "LLM_MODEL": os.getenv("LLM_MODEL", "deepseek-ai/DeepSeek-OCR"),
        "VLLM_USE_V1": "0",
        "VLLM_TORCH_PROFILER_DIR": PROFILE_DIR,
        "TP": TP,
        "TORCH_CUDA_ARCH_LIST": "8.0 8.9 9.0+PTX",
    })
)

if BACKEND == "flashinfer":
    vllm_image = vllm_image.pip_install(
        f"flashinfer-python==0.2.2.post1",
        extra_index_url="https://flashinfer.ai/whl/cu126/torch2.6",
    )

if APP_NAME == "achatbot":
    vllm_image = vllm_image.pip_install(f"achatbot==0.0.28")

MODELS = modal.Volume.from_name("models", create_if_missing=True)

with vllm_image.imports():
    import torch


@app.function(
    gpu=IMAGE_GPU,
    cpu=2.0,
    retries=0,
    image=vllm_image,
    secrets=[modal.Secret.from_name("achatbot")],
    volumes={"/root/.achatbot/models": MODELS},
    timeout=1200,
    scaledown_window=1200,
    max_containers=1,
)
async def run(task: str):
    print(task, torch.cuda.is_available())
