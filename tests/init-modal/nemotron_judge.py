"""After a public app that judges answers with Nemotron 3 Nano (persona capsule): uv, and torch from an extra index."""
import modal

APP_NAME = "persona-capsule-nemotron"
MODEL_CACHE_PATH = "/models"
model_volume = modal.Volume.from_name("persona-capsule-nemotron-models", create_if_missing=True)
image = (
    modal.Image.from_registry("nvidia/cuda:12.8.1-devel-ubuntu22.04", add_python="3.11")
    .entrypoint([])
    .apt_install("build-essential", "git", "ninja-build")
    .uv_pip_install(
        "accelerate==1.10.1", "einops==0.8.2", "huggingface-hub[hf-xet]==0.36.0", "packaging==25.0",
        "safetensors==0.6.2", "torch==2.7.1", "transformers==4.57.3", "wheel==0.45.1",
        extra_index_url="https://download.pytorch.org/whl/cu128",
        extra_options="--index-strategy unsafe-best-match",
    )
    .uv_pip_install(
        "causal-conv1d==1.6.2.post1",
        "mamba-ssm==2.3.2.post1",
        extra_options="--no-build-isolation --no-deps",
        env={"CUDA_HOME": "/usr/local/cuda", "MAX_JOBS": "4"},
    )
    .env({"HF_HOME": MODEL_CACHE_PATH, "HF_HUB_CACHE": MODEL_CACHE_PATH, "TOKENIZERS_PARALLELISM": "false"})
)
app = modal.App(APP_NAME)


@app.cls(
    image=image,
    gpu="A10G",
    timeout=15 * 60,
    scaledown_window=5 * 60,
    volumes={MODEL_CACHE_PATH: model_volume},
    secrets=[modal.Secret.from_name("persona-capsule-huggingface")],
)
class Judge:
    @modal.enter()
    def load(self):
        self.ready = True

    @modal.method()
    def judge(self, payload: dict) -> dict:
        return payload
