"""More files for suites/init-corpus: those of public repositories, by the number of the file in the index in which they were found
(2026-11-28). Their lines are rewritten in the same forms: packages, versions, options and the order are theirs."""

WHL = "https://download.pytorch.org/whl"

# name, file, text, files beside it
FILES = [
    ("comfyui-gguf 71604631734", "Dockerfile", """
FROM nvidia/cuda:12.4.0-devel-ubuntu22.04
ENV DEBIAN_FRONTEND=noninteractive
ENV COMFYUI_PATH=/comfyui
RUN apt-get update && apt-get install -y \\
    python3.11 python3-pip git wget ffmpeg libgl1 libglib2.0-0 \\
    && rm -rf /var/lib/apt/lists/* \\
    && ln -sf /usr/bin/python3.11 /usr/bin/python && pip install --upgrade pip
RUN git clone https://github.com/comfyanonymous/ComfyUI.git /comfyui && cd /comfyui && pip install -r requirements.txt
"""),
    ("comfyui-volumes 18360587004", "Dockerfile", """
FROM nvidia/cuda:12.6.1-cudnn-runtime-ubuntu20.04
RUN apt-get update && apt-get install -y git python3 python3-pip build-essential
RUN git clone https://github.com/comfyanonymous/ComfyUI.git /ComfyUI
WORKDIR /ComfyUI
VOLUME [ "/ComfyUI/models/vae", "/ComfyUI/models/loras" ]
RUN pip3 install --upgrade pip && pip3 install -r requirements.txt
"""),
    ("chatbot 61742042124", "Dockerfile", """
FROM nvidia/cuda:12.4.0-runtime-ubuntu22.04
RUN pip install "vllm>=0.4.0" fastapi uvicorn httpx peft transformers loguru
COPY . /app
WORKDIR /app
EXPOSE 8000 8001
CMD ["bash", "scripts/start_server.sh"]
"""),
    ("speech 44160105354", "Dockerfile", f"""
FROM nvidia/cuda:12.1.1-runtime-ubuntu22.04
ENV CONFIG_PATH=app/config.yaml PORT=8080
RUN apt-get update && apt-get install -y --no-install-recommends python3.10 python3.10-venv python3.10-dev ffmpeg git
RUN update-alternatives --install /usr/bin/python python /usr/bin/python3.10 1
WORKDIR /app
RUN pip install --no-cache-dir torch==2.3.1+cu121 torchaudio==2.3.1+cu121 --index-url {WHL}/cu121
COPY requirements.txt /app/requirements.txt
RUN pip install --no-cache-dir -r requirements.txt
RUN python3 -m pip install --no-cache-dir git+https://github.com/nvidia/kokoro.git
COPY app ./app
""", {"requirements.txt": "fastapi==0.111.0\nsoundfile\n"}),
    ("fairseq 38995404", "Dockerfile", """
FROM nvidia/cuda:12.1.0-cudnn8-devel-ubuntu22.04
RUN apt-get update && apt-get install -y software-properties-common build-essential libsndfile1 cmake && \\
    add-apt-repository ppa:deadsnakes/ppa -y && apt-get install -y python3.11 python3.11-dev python3.11-venv
RUN curl -sS https://bootstrap.example.org/get-pip.py | python3.11
RUN ln -sf /usr/bin/python3.11 /usr/bin/python
RUN pip install --no-cache-dir Cython numpy==1.26.4
"""),
    ("transcribe 27350122119", "Dockerfile", f"""
FROM nvidia/cuda:12.1.1-cudnn8-runtime-ubuntu22.04
WORKDIR /app
RUN apt-get update && apt-get install -y python3.12 python3.12-dev python3-pip ffmpeg libsndfile1
COPY requirements.txt .
RUN pip install --no-cache-dir torch==2.2.2+cu121 torchaudio==2.2.2+cu121 --extra-index-url {WHL}/cu121
RUN pip install --no-cache-dir -r requirements.txt
COPY . .
RUN mkdir -p /app/audio /app/logs
ENV ENV=dev
EXPOSE 8002
CMD ["python", "main.py"]
""", {"requirements.txt": "faster-whisper==1.0.3\nnumpy<2\n"}),
    ("anomaly 56230467459", "Dockerfile", """
FROM nvidia/cuda:12.4.1-cudnn-runtime-ubuntu22.04 AS base
RUN apt-get update && apt-get install -y python3 python3-pip git
WORKDIR /workspace
COPY requirements-lock.txt .
RUN pip3 install --no-cache-dir -r requirements-lock.txt
FROM base AS app
COPY . .
ENV PYTHONUNBUFFERED=1
CMD ["python3", "-m", "seer_ad.demo", "--config", "configs/demo.yaml"]
""", {"requirements-lock.txt": "torch==2.4.0\ntimm==1.0.9\n"}),
    ("styletts 436212730", "Dockerfile", """
FROM pytorch/pytorch:2.1.2-cuda11.8-cudnn8-runtime
ENV TZ=Etc/GMT
RUN ln -snf /usr/share/zoneinfo/$TZ /etc/localtime && echo $TZ > /etc/timezone
RUN DEBIAN_FRONTEND=noninteractive apt update && apt install -y git ffmpeg python3-pip
ADD "https://api.example.org/repos/x/StyleTTS2/commits?per_page=1" latest_commit
RUN git clone https://github.com/effusiveperiscope/StyleTTS2 /StyleTTS2
WORKDIR /StyleTTS2
RUN pip install -r requirements.txt gdown tqdm pyyaml requests
"""),
    ("local wheel 57625268905", "Dockerfile", """
FROM pytorch/pytorch:2.9.0-cuda12.8-cudnn9-devel
RUN apt-get update && apt-get install -y git curl
COPY pkgs/ /workspace/pkgs/
RUN pip install /workspace/pkgs/flash_attn-2.8.3+cu12torch2.9cxx11abiTRUE-cp312-cp312-linux_x86_64.whl
EXPOSE 5400 8237 8238
CMD ["bash", "/workspace/ablitMD/startup.sh"]
"""),
    ("pycaret 41926704805", "Dockerfile", """
FROM pytorch/pytorch:2.0.1-cuda11.7-cudnn8-devel
LABEL maintainer="someone"
ENV TZ=Asia/Tokyo
RUN apt-get update && apt-get install -y sudo wget vim unzip software-properties-common
RUN pip install --no-cache-dir numpy pandas opencv-python scipy scikit-learn pycaret matplotlib seaborn plotly tqdm gdown
RUN apt-get install ffmpeg libsm6 libxext6  -y
WORKDIR /home/src
ADD . /home/src
RUN gdown https://drive.example.org/uc?id=1
"""),
    ("triton library 52045637050", "Dockerfile", """
FROM pytorch/pytorch:2.2.0-cuda12.1-cudnn8-runtime
WORKDIR /app
RUN apt-get update && apt-get install -y --no-install-recommends git build-essential && rm -rf /var/lib/apt/lists/*
COPY . /app/
RUN pip install --no-cache-dir accelerate bitsandbytes scipy matplotlib transformers
RUN pip install --no-cache-dir -e .
CMD ["/bin/bash"]
"""),
    ("earth 62410479940", "Dockerfile", """
FROM pytorch/pytorch:2.5.1-cuda12.1-cudnn9-runtime
WORKDIR /workspace
RUN apt-get update && apt-get install -y libgdal-dev libgeos-dev libproj-dev libnetcdf-dev ca-certificates
ENV SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt
ENV WANDB_MODE=offline
ARG UID=1000
ARG GID=1000
RUN groupadd -g $GID appgroup && useradd -u $UID -g $GID -m appuser
COPY requirements.txt .
RUN pip install -r requirements.txt
COPY machine-learning-module/src/     ./src/
COPY machine-learning-module/config/  ./config/
USER appuser
ENTRYPOINT ["python", "src/main.py"]
""", {"requirements.txt": "xarray==2024.9.0\nnetCDF4\nwandb\n"}),
    ("higgs 37276017314", "Dockerfile", """
FROM nvcr.io/nvidia/pytorch:24.05-py3
WORKDIR /app
RUN apt-get update && apt-get install -y ffmpeg git
RUN git clone https://github.com/boson-ai/higgs-audio.git /app/higgs-audio && cd /app/higgs-audio && pip install -r requirements.txt && pip install -e .
RUN pip install runpod requests torchcodec
RUN pip uninstall -y flash_attn || true
ENV HF_HOME=/root/.cache/huggingface
"""),
    ("whisper 18079637324", "Dockerfile", """
FROM nvcr.io/nvidia/pytorch:24.09-py3
WORKDIR /workspace/project
RUN apt update && apt -y upgrade && apt install -y ffmpeg
COPY requirements.txt .
RUN pip install -r requirements.txt
RUN pip install --force-reinstall "faster-whisper @ https://github.com/SYSTRAN/faster-whisper/archive/2dbca5e559a8a36143987e38492cef927a71efd1.tar.gz"
EXPOSE 7860
ENV GRADIO_SERVER_NAME="0.0.0.0"
RUN mkdir config
COPY run.py .
CMD ["python","run.py"]
""", {"requirements.txt": "gradio==4.44.0\n"}),
    ("segmentation 20114384", "Dockerfile", """
FROM nvcr.io/nvidia/pytorch:23.05-py3
ENV PYTHONDONTWRITEBYTECODE 1
RUN apt-get update && apt-get install -y --no-install-recommends make pkgconf xz-utils xorg-dev
RUN pip install --no-cache-dir --upgrade pip
COPY requirements.txt .
RUN pip install --no-cache-dir -r requirements.txt
WORKDIR /workspace
RUN (printf '#!/bin/bash\\nexec \\"$@\\"\\n' >> /entry.sh) && chmod a+x /entry.sh
ENTRYPOINT ["/entry.sh"]
""", {"requirements.txt": "click>=8\nrequests\nimageio-ffmpeg==0.4.3\n"}),
    ("lightning 71515095224", "Dockerfile", """
FROM nvcr.io/nvidia/pytorch:25.06-py3
ARG REPO_DIR=/workspace/sahc
ENV TZ=Europe/Rome
ENV REPO_DIR=${REPO_DIR}
ENV QT_QPA_PLATFORM=offscreen
RUN apt-get update && apt-get install -y --no-install-recommends curl libgl1 libglib2.0-0 python3-tk
RUN curl -LsSf https://uv.example.org/install.sh | sh && ln -s /root/.local/bin/uv /usr/local/bin/uv
COPY entrypoint.sh /opt/app/entrypoint.sh
COPY --chmod=755 run_script.sh /usr/local/bin/run_script.sh
WORKDIR ${REPO_DIR}
ENTRYPOINT ["bash", "/opt/app/entrypoint.sh"]
CMD ["bash"]
"""),
    ("agent 60419553844", "Dockerfile", """
FROM python:3.12-slim
COPY --from=ghcr.io/astral-sh/uv:latest /uv /usr/local/bin/uv
RUN groupadd -r agent && useradd -r -g agent -u 1000 agent && mkdir -p /home/agent && chown agent:agent /home/agent
WORKDIR /app
COPY --chown=agent:agent pyproject.toml uv.lock* ./
COPY --chown=agent:agent app/ app/
RUN uv sync --frozen --no-cache --no-dev
ENV PORT=8080
USER agent
EXPOSE 8080
HEALTHCHECK --interval=30s CMD python -c "import urllib.request"
ENTRYPOINT ["/app/.venv/bin/uvicorn", "app.main:app", "--host", "0.0.0.0", "--port", "8080"]
""", {"pyproject.toml": '[project]\nname = "agent"\nrequires-python = ">=3.12"\ndependencies = ["fastapi>=0.115", "uvicorn>=0.30"]\n'}),
    ("streamlit 57001228069", "Dockerfile", """
FROM python:3.11-slim
WORKDIR /app
COPY --from=ghcr.io/astral-sh/uv:0.7 /uv /usr/local/bin/uv
COPY pyproject.toml uv.lock ./
RUN uv sync --frozen --no-install-project
COPY ui/app.py ./ui/app.py
ENV PATH="/app/.venv/bin:$PATH"
CMD streamlit run ui/app.py --server.port=${PORT:-8080} --server.headless=true
""", {"pyproject.toml": '[project]\nname = "ui"\ndependencies = ["streamlit==1.38.0", "httpx"]\n'}),
    ("two stages of uv 45326693929", "Dockerfile", """
FROM ghcr.io/astral-sh/uv:python3.12-bookworm-slim AS builder
WORKDIR /app
COPY pyproject.toml uv.lock ./
RUN uv sync --frozen --no-install-project --no-dev
FROM python:3.12-slim-bookworm
WORKDIR /app
COPY --from=builder /app/.venv /app/.venv
COPY . .
EXPOSE 8080
CMD ["fastapi", "run", "app/main.py", "--port", "8080"]
""", {"pyproject.toml": '[project]\nname = "api"\ndependencies = ["fastapi[standard]>=0.115"]\n'}),
    ("kino 53287107574", "Dockerfile", """
FROM python:3.13-slim
COPY --from=ghcr.io/astral-sh/uv:latest /uv /usr/local/bin/uv
WORKDIR /app
COPY pyproject.toml uv.lock ./
RUN uv sync --frozen --no-dev
COPY . .
RUN mkdir -p /data && useradd -u 1000 -m app && chown -R app /app /data
ENV KINO_DB_PATH=/data/kino_ov.db
USER app
CMD ["uv", "run", "uvicorn", "webapp:app", "--host", "0.0.0.0", "--port", "8000"]
""", {"pyproject.toml": '[project]\nname = "kino"\nrequires-python = ">=3.13"\ndependencies = ["uvicorn>=0.34", "jinja2"]\n'}),
    ("exllama 69475827646", "Dockerfile", """
FROM nvidia/cuda:13.0.2-devel-ubuntu24.04
ARG EXLLAMAV3_REPO=https://github.com/vcruz305/exllamav3.git
ARG TORCH_VERSION=2.14.0
ARG CUDA_INDEX=https://download.pytorch.org/whl/cu130
ARG TORCH_CUDA_ARCH_LIST=12.0
ENV TORCH_CUDA_ARCH_LIST=${TORCH_CUDA_ARCH_LIST} EXL3_INT8_GEMV=0
RUN apt-get update && apt-get install -y python3 python3-venv python3-dev python3-pip ninja-build cmake pkg-config tini
RUN pip install torch==${TORCH_VERSION} --index-url ${CUDA_INDEX}
"""),
    ("gptq 10192000681", "Dockerfile", """
FROM nvidia/cuda:11.7.1-devel-ubuntu22.04
RUN --mount=type=cache,target=/var/cache/apt,sharing=locked apt-get update && apt-get install -y git build-essential python3 python3-pip python3-dev
RUN pip uninstall -y quant-cuda
WORKDIR /gptq-for-llama
COPY . .
RUN pip install -r requirements.txt
ARG TORCH_CUDA_ARCH_LIST=
RUN python3 setup_cuda.py install
ENTRYPOINT ["python3"]
""", {"requirements.txt": "torch==2.0.1\nsafetensors==0.3.0\ndatasets==2.10.1\n"}),
    ("mamba 47369753574", "Dockerfile", """
FROM nvcr.io/nvidia/pytorch:24.01-py3
RUN pip install jsonargparse[signatures] tokenizers sentencepiece wandb torchmetrics
RUN pip install tensorboard zstandard pandas pyarrow huggingface_hub
RUN pip install -U flash-attn --no-build-isolation
RUN pip install causal-conv1d==1.2.0.post2
RUN pip install mamba-ssm==1.2.0.post1
Run pip install einops
Run pip install opt_einsum
RUN pip install -U git+https://github.com/sustcsonglin/flash-linear-attention
"""),
    ("omnifile 56553628779", "environment.yml", """
name: omnifile
channels:
  - pytorch
  - nvidia
dependencies:
  - python=3.10
  - pytorch=2.0.1
  - torchvision=0.15.2
  - torchaudio=2.0.2
  - pytorch-cuda=11.8
  - cudatoolkit=11.8
  - pip
  - pip:
    - transformers==4.35.0
    - peft==0.6.0
    - accelerate==0.24.0
    - datasets==2.14.0
    - pillow==10.0.0
    - numpy==1.24.0
    - wandb==0.16.0
    - azureml-mlflow==1.53.0
"""),
    ("research 52367239360", "environment.yml", """
name: research_env
channels: [pytorch, conda-forge]
dependencies:
  - python=3.10.12
  - pytorch=2.0.1
  - torchvision=0.15.2
  - torchaudio=2.0.2
  - pytorch-cuda=11.8
  - numpy=1.24.3
  - pandas=2.0.2
  - scikit-learn=1.2.2
  - matplotlib=3.7.1
  - seaborn=0.12.2
  - jupyter=1.0.0
  - pip:
    - wandb==0.15.4
    - tensorboard==2.13.0
    - huggingface-hub==0.15.1
    - transformers==4.30.2
"""),
    ("research list 52367239360", "requirements.txt", """
torch==2.0.1+cu118
torchvision==0.15.2+cu118
torchaudio==2.0.2+cu118
numpy==1.24.3
pandas==2.0.2
scikit-learn==1.2.2
matplotlib==3.7.1
seaborn==0.12.2
wandb==0.15.4
tensorboard==2.13.0
transformers==4.30.2
datasets==2.13.0
"""),
    ("pix2poly 31310701795", "environment.yml", """
dependencies:
  - torchvision=0.16.2
  - pytorch=2.1.2
  - pytorch-cuda=11.8
  - torchaudio=2.1.2
  - timm=0.9.12
  - transformers=4.32.1
  - pycocotools=2.0.6
  - torchmetrics=1.2.1
  - tensorboard=2.15.1
  - pip:
    - albumentations==1.3.1
    - imageio==2.33.1
    - matplotlib-inline==0.1.6
    - opencv-python-headless==4.8.1.78
    - scikit-image==0.22.0
    - scipy==1.11.4
    - shapely==2.0.4
"""),
    ("eyebench 55847553579", "environment.yml", """
name: eyebench
channels: [pytorch, huggingface, nvidia, conda-forge]
dependencies:
  - python=3.12.10
  - pandas=2.2.3
  - seaborn=0.13.2
  - matplotlib=3.10.1
  - numpy=2.2.4
  - transformers=4.47.1
  - pytorch=2.5.1
  - pytorch-cuda=12.4
  - pyarrow=19.0.1
  - pyyaml=6.0.2
  - datasets=3.5.0
  - lightning=2.5.1
  - scikit-learn=1.6.1
  - pip=25.0.1
  - wandb=0.23.1
  - pre-commit=4.2.0
  - ruff=0.11.6
  - hydra-core=1.3.2
  - ipykernel=6.29.5
  - beartype=0.20.2
  - py-xgboost=3.0.0
  - accelerate=1.5.2
  - loguru=0.7.2
  - peft=0.15.2
  - spacy=3.8.5
  - pytorch-metric-learning=2.9.0
  - pip:
      - -e .
      - pymovements==0.25.0
      - git+https://github.com/lacclab/text-metrics.git
"""),
    ("bioacoustics 70295450724", "environment.yml", """
name: bioacoustics
dependencies:
  - python=3.10
  - pytorch
  - pytorch-cuda=12.1
  - torchaudio
  - pip:
      - -r pip-requirements.txt
""", {"pip-requirements.txt": "lightning==2.4.0\nlibrosa==0.10.2\nonnxruntime==1.19.2\n"}),
    ("corrdiff 4893914395", "environment.yml", """
name: CorrDiff
channels: [conda-forge, pytorch]
dependencies:
  - conda-forge::cython
  - pytorch
  - pytorch-cuda=12.4
  - torchaudio
  - torchvision
  - pip:
    - Pint==0.19.2
    - gdown==5.2.0
    - nvidia-modulus==0.9.0
"""),
    ("svara 53420880903", "cog.yaml", """
build:
  gpu: true
  python_version: "3.11"
  python_packages:
    - "torch==2.4.0"
    - "transformers>=4.44.0"
    - "snac"
    - "soundfile>=0.12"
    - "scipy>=1.11"
    - "hf-transfer>=0.1.6"
    - "accelerate>=0.33"
  system_packages:
    - "ffmpeg"
    - "libsndfile1-dev"
  run:
    - curl -o /usr/local/bin/pget -L "https://example.org/pget" && chmod +x /usr/local/bin/pget
image: "r8.im/x/svara-tts"
predict: "predict.py:Predictor"
"""),
    ("speciesnet 25891027684", "cog.yaml", """
build:
  gpu: true
  cuda: "11.8"
  python_version: "3.10"
  python_packages:
    - "torch==2.0.1"
    - "torchvision==0.15.2"
    - "speciesnet==4.0.1"
    - "pillow==10.0.0"
    - "numpy==1.24.3"
  system_packages: ["libgl1-mesa-glx", "libglib2.0-0"]
  pre_install:
    - "pip install --upgrade pip"
  run:
    - "python download_weights.py"
predict: "predict.py:Predictor"
"""),
    ("trellis 67526424312", "cog.yaml", """
build:
  gpu: true
  cuda: "12.4"
  python_version: "3.11"
  python_packages: ["torch==2.4.0", "torchvision==0.19.0"]
  system_packages: ["git", "ffmpeg", "libgl1"]
  run:
    - "git clone https://github.com/microsoft/TRELLIS.git /opt/trellis2"
    - "pip install -e /opt/trellis2"
predict: "predict.py:Predictor"
"""),
    ("rlcd 68859422715", "pyproject.toml", """
[project]
name = "eve-rlcd"
requires-python = ">=3.12,<3.13"
dependencies = [
    "torch>=2.7",
    "transformers>=4.51,<5",
    "datasets>=3.2",
    "safetensors>=0.5",
    "numpy>=2",
    "matplotlib>=3.9",
]
[dependency-groups]
dev = ["pytest>=8"]
[tool.uv.sources]
torch = { index = "pytorch-cu128" }
[[tool.uv.index]]
name = "pytorch-cu128"
url = "https://download.pytorch.org/whl/cu128"
explicit = true
"""),
    ("llama-cpp 14627114625", "pyproject.toml", """
[project]
name = "llama-cpp"
requires-python = ">=3.13"
dependencies = [
    "transformers>=4.57.3",
    "torch>=2.9.1",
    "torchvision>=0.24.1",
]
[[tool.uv.index]]
name = "pytorch-cu130"
url = "https://download.pytorch.org/whl/cu130"
"""),
    ("live-calc 53604424340", "pyproject.toml", """
[tool.poetry]
name = "live-calc"
[tool.poetry.dependencies]
python = "^3.11"
fastapi = "^0.109.0"
uvicorn = {extras = ["standard"], version = "^0.27.0"}
sqlalchemy = "^2.0.25"
alembic = "^1.13.0"
pydantic = "^2.5.0"
celery = {extras = ["redis"], version = "^5.3.6", optional = true}
[tool.poetry.group.dev.dependencies]
pytest = "^7.4.4"
mypy = "^1.8.0"
"""),
    ("hyperct 53135626583", "install.sh", f"""
#!/bin/bash
module purge
conda activate test
pip install torch torchvision torchaudio --index-url {WHL}/cu118
pip install einops open_clip_torch timm deepspeed ninja
pip install flash-attn --no-build-isolation
pip install "transformers>=4.44.0" nibabel tqdm
pip install "numpy<2"
pip install --upgrade peft
pip install --upgrade pip wheel
python train_hypernet.py --data_dir /data
"""),
    ("mambamil 54605221899", "install.sh", f"""
conda create -n mambamil_2d python=3.10 -y
conda activate mambamil_2d
pip install torch==2.1.2 torchvision==0.16.2 --index-url {WHL}/cu118
pip install packaging ninja
pip install causal-conv1d==1.4.0 --no-build-isolation
pip install mamba-ssm==2.2.2 --no-build-isolation
pip install transformers==4.36.2 --no-cache-dir
pip install addict ruamel.yaml pytz pandas h5py PyYAML
"""),
]
