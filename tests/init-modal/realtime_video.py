"""After a public web app for real-time video (krea-realtime-video): flash-attn, CLIP from git, old parameter names."""
import os
from pathlib import Path

import modal

app = modal.App("krea-realtime-video")
models_volume = modal.Volume.from_name("krea-models", create_if_missing=True)
image = (
    modal.Image.from_registry("nvidia/cuda:12.4.0-devel-ubuntu22.04", add_python="3.11")
    .apt_install("git", "ffmpeg")
    .pip_install("torch==2.8.0", "torchvision==0.23.0", "torchaudio==2.8.0", index_url="https://download.pytorch.org/whl/cu128")
    .pip_install("packaging", "ninja", "wheel", "setuptools")
    .pip_install("flash-attn==2.8.3", extra_options="--no-build-isolation")
    .pip_install("git+https://github.com/openai/CLIP.git@dcba3cb2e2827b402d2701e7e1c7d9fed8a20ef1")
    .pip_install(
        "accelerate==1.9.0", "diffusers==0.31.0", "easydict==1.13", "einops==0.8.1", "fastapi==0.116.1",
        "huggingface-hub==0.34.3", "imageio==2.37.0", "numpy==2.1.2", "omegaconf==2.3.0", "open-clip-torch==3.0.0",
        "opencv-python==4.11.0.86", "pillow==10.4.0", "python-multipart>=0.0.20", "timm==1.0.19", "transformers==4.54.1",
    )
    .pip_install("ultralytics==8.3.29", "roboflow==1.2.11")
    .add_local_dir(str(Path(__file__).parent), "/root/app")
)


@app.function(image=image, volumes={"/models": models_volume}, timeout=3600)
def download_models():
    os.makedirs("/models", exist_ok=True)


with image.imports():
    import sys


@app.function(image=image, gpu="B200", volumes={"/models": models_volume}, timeout=28800, scaledown_window=300)
@modal.asgi_app()
def serve():
    sys.path.insert(0, "/root/app")
    from release_server import app as web

    return web
