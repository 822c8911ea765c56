"""After a public app with a brain, a voice and a painter: five images, of which one compiles flash-attn."""
import modal

APP_NAME = "mind-expanders"
base_image = (
    modal.Image.from_registry("nvidia/cuda:12.8.0-runtime-ubuntu22.04", add_python="3.11")
    .apt_install("git", "ffmpeg", "libsndfile1")
)
voice_image = (
    base_image.pip_install("torch==2.8.0", "torchaudio==2.8.0", extra_index_url="https://download.pytorch.org/whl/cu128")
    .pip_install("librosa", "pydub", "snac", "descript-audio-codec")
    .add_local_dir("voices", remote_path="/dataset", copy=True)
)
image_gen_image = (
    modal.Image.from_registry("nvidia/cuda:12.8.0-devel-ubuntu22.04", add_python="3.11")
    .apt_install("git", "ffmpeg", "libsndfile1", "libgl1-mesa-glx", "libglib2.0-0")
    .pip_install("torch==2.8.0", "torchvision==0.23.0", extra_index_url="https://download.pytorch.org/whl/cu128")
    .pip_install("packaging", "ninja", "wheel", "setuptools")
    .pip_install("transformers==4.57.1", "diffusers", "accelerate", "einops", "numpy", "pillow", "tqdm", "scipy", "flask",
                 "openai", "huggingface_hub", "hf_transfer", "safetensors", "qwen-vl-utils")
    .run_commands("pip install flash-attn --no-build-isolation")
    .env({"HF_HUB_ENABLE_HF_TRANSFER": "1", "HF_HOME": "/cache/huggingface"})
)
cpu_image = modal.Image.debian_slim(python_version="3.11").pip_install("fastapi", "uvicorn", "httpx")

app = modal.App(APP_NAME)
hf_cache = modal.Volume.from_name("hf-cache", create_if_missing=True)


@app.function(image=cpu_image)
def hello():
    return "hello"


@app.cls(image=image_gen_image, gpu=["L40S", "A100-40GB"], timeout=1800, volumes={"/cache": hf_cache})
class Painter:
    @modal.method()
    def paint(self, text: str):
        return text


@app.cls(image=voice_image, gpu="A10G", timeout=600)
class Voice:
    @modal.method()
    def speak(self, text: str):
        return text
