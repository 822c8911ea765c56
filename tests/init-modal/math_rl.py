"""After a public app for reinforcement learning (math-rl): a tag from parts, four GPUs, flash-attn without a version."""
import modal

app = modal.App(name="math-rl")
cuda_version = "12.8.0"
flavor = "devel"
operating_sys = "ubuntu22.04"
tag = f"{cuda_version}-{flavor}-{operating_sys}"

image = (
    modal.Image.from_registry(f"nvidia/cuda:{tag}", add_python="3.11")
    .apt_install("git", "clang")
    .pip_install("ninja", "packaging", "wheel", "vllm==0.8.5")
    .run_commands("pip install 'verifiers[all]'")
    .run_commands("pip install flash-attn --no-build-isolation")
    .env({"HF_HUB_ENABLE_HF_TRANSFER": "1", "VLLM_ALLOW_INSECURE_SERIALIZATION": "1"})
    .add_local_file("math_rl_trainer.py", "/root/math_rl_trainer.py")
    .add_local_file("math_rl.yaml", "/root/math_rl.yaml")
)

HF_CACHE_DIR = "/root/.cache/huggingface"
HF_CACHE_VOL = modal.Volume.from_name("huggingface-cache", create_if_missing=True)
WEIGHTS_DIR = "/root/math_weights"
WEIGHTS_VOL = modal.Volume.from_name("math-rl-weights", create_if_missing=True)


@app.function(gpu="H100:4", image=image, volumes={HF_CACHE_DIR: HF_CACHE_VOL, WEIGHTS_DIR: WEIGHTS_VOL},
              timeout=3600, secrets=[modal.Secret.from_name("wandb-secret-rl")])
def math_group_verifier():
    pass
