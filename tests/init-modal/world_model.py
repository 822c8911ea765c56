"""After a public app that makes worlds of pictures (HunyuanWorld 1.0): clang, GroundingDINO from its main branch."""
import modal

image = (
    modal.Image.from_registry("nvidia/cuda:12.1.1-devel-ubuntu22.04", add_python="3.10")
    .env({
        "TORCH_CUDA_ARCH_LIST": "8.9",
        "FORCE_CUDA": "1",
        "HF_HUB_ENABLE_HF_TRANSFER": "1",
        "PYTHONUNBUFFERED": "1",
        "CUDA_HOME": "/usr/local/cuda",
        "CC": "clang",
        "CXX": "clang++",
        "GIT_TERMINAL_PROMPT": "0",
        "PYTHONPATH": "/root/HunyuanWorld",
    })
    .apt_install("git", "build-essential", "cmake", "libgl1-mesa-glx", "libglib2.0-0", "wget", "libdraco-dev",
                 "ninja-build", "clang", "llvm", "libgomp1")
    .pip_install("pip>=24.0", "wheel", "setuptools", "ninja")
    .pip_install("torch==2.4.1", "torchvision==0.19.1", "torchaudio==2.4.1",
                 extra_index_url="https://download.pytorch.org/whl/cu121")
    .run_commands("pip install --upgrade --force-reinstall diffusers==0.31.0 transformers==4.46.3 peft accelerate")
    .pip_install("sentencepiece", "huggingface_hub", "hf-transfer", "opencv-python", "trimesh", "pillow", "einops",
                 "omegaconf", "scipy", "onnxruntime-gpu", "boto3", "segment-anything", "plyfile", "pycocotools",
                 "open3d", "timm")
    .run_commands(
        "export PATH=/usr/local/cuda/bin:$PATH && "
        "pip install --no-build-isolation git+https://github.com/IDEA-Research/GroundingDINO.git",
        "git clone --depth 1 https://github.com/Tencent-Hunyuan/HunyuanWorld-1.0.git /root/HunyuanWorld",
    )
)
app = modal.App("hunyuan-world-1", image=image)
weights = modal.Volume.from_name("weights-hy-world-1")


def generate(picture, prompt):
    import torch

    return torch.__version__, picture, prompt


@app.function(gpu="L4", timeout=7200, volumes={"/weights": weights}, scaledown_window=180)
def work(settings: dict):
    return generate(settings["picture"], settings.get("prompt", ""))
