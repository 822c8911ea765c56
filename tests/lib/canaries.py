"""Canaries: texts with secrets for suites/masking and suites/doctor. «...» surrounds what must not be readable."""
import base64
import random
import re
import string

ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"


def word(n, letters=ALNUM, seed=""):
    r = random.Random(f"{n}{letters}{seed}")
    return "".join(r.choice(letters) for _ in range(n))


def b64(text):
    return base64.b64encode(text.encode()).decode()


def key_lines(n, seed):
    return "\n".join(word(64, ALNUM + "+/", f"{seed}{i}") for i in range(n))


JWT = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9." + word(60) + "." + word(43, ALNUM + "-_")
PEM = "-----BEGIN OPENSSH PRIVATE KEY-----\n«b3BlbnNzaC1rZXktdjEAAAAABG5vbmUA\n" + key_lines(5, "ssh") + "»\n-----END OPENSSH PRIVATE KEY-----"
RSA = "-----BEGIN RSA PRIVATE KEY-----\\n«" + key_lines(3, "rsa").replace("\n", "\\n") + "»\\n-----END RSA PRIVATE KEY-----\\n"
CUT = "-----BEGIN PRIVATE KEY-----\n    «" + key_lines(3, "cut").replace("\n", "\n    ") + "»\nTraceback (most recent call last):"

# The design was made with these.
KNOWN = [
    "DB_PASS=«hunter2-db»", "MYSQL_PWD=«hunter2my»", f"CI_JOB_JWT=«{JWT}»", f"STRIPE=«sk_live_{word(24)}»",
    "postgresql://app:«hunter2pg»@db.example:5432/train", "DATABASE_URL=mysql+pymysql://root:«hunter2sql»@10.0.0.7/x",
    "Server=tcp:db.example,1433;Database=x;User ID=sa;Password=«hunter2!ado»;Encrypt=True;", PEM, RSA, CUT,
    f"# the old token: «{word(22, seed='c')}»", f"aws_access_key_id = «AKIA{word(16, string.ascii_uppercase + '234567')}»",
    f"aws_secret_access_key = «{word(40, ALNUM + '+/')}»", f"the key pair {word(3, 'abc')} «{word(40, ALNUM + '+/', 'bare')}» was used",
    f"export GH=«ghp_{word(36)}»", f"git clone https://x-access-token:«ghs_{word(36)}»@github.com/o/r.git",
    f"«github_pat_{word(22, seed='f')}_{word(59)}»", f"remote: «glpat-{word(20)}»", f"PRIVATE-TOKEN: «glpat-{word(20, seed='h')}»",
    f"CI_RUNNER=«glrt-{word(20, seed='r')}»", f"login(token='«hf_{word(34)}»')", f"modal token set --token-id «ak-{word(22)}» --token-secret «as-{word(22)}»",
    f"openai.api_key = \"«sk-proj-{word(48, ALNUM + '-_')}»\"", f"ANTHROPIC «sk-ant-api03-{word(50, ALNUM + '-_', 'a')}»",
    f"slack «xoxb-{word(12, string.digits)}-{word(24)}»", f"https://hooks.slack.com/services/«T{word(8)}/B{word(8)}/{word(24)}»",
    f"Authorization: Bearer «{word(32, seed='bearer')}»", f"curl -H 'Authorization: Basic «{b64('me:hunter2basic')}»' https://x.example",
    f'{{"auths": {{"ghcr.io": {{"auth": "«{b64("me:hunter2docker")}»"}}}}}}', "password: «hunter2 with blanks»", "password = '«hunter2; quoted»'",
    '{"password": "«hunter2 \\"json\\" »", "user": "me"}', "--password «hunter2cli» --user me", "mysql -u root -p«hunter2glued» train",
    "curl -u me:«hunter2curl» https://x.example", "docker login -u me -p «hunter2login» ghcr.io", "sshpass -p «hunter2ssh» ssh me@host",
    "machine pypi.example login me password «hunter2netrc»", "<password>«hunter2xml»</password>", "HTTPS_PROXY=http://me:«hunter2px»@proxy:3128",
    "proxy = me:«hunter2bare»@proxy.example:3128", "redis://:«hunter2redis»@cache:6379/0", "mongodb+srv://u:«hunter2@mongo»@c.example/x",
    "amqp://guest:«hun/ter#2»@mq.example:5672/v", f"AccountName=x;AccountKey=«{word(86, ALNUM + '+/')}==»;EndpointSuffix=core.windows.net",
    f"https://x.blob.core.windows.net/c/b?sv=2022&sig=«{word(43)}%3D»&se=2027", f"https://b.s3.amazonaws.com/k?X-Amz-Signature=«{word(64, HEX)}»&x=1",
    f"WANDB_API_KEY=«{word(40, HEX)}»", f"wandb login, key «{word(40, ALNUM, 'w')}»", f"--index-url https://__token__:«pypi-AgEIcHlwaS5vcmc{word(60)}»@pypi.example/simple",
    f"npm «npm_{word(36)}»", f"google «AIza{word(35)}»", f"NGC_KEY «nvapi-{word(64)}»", f"sendgrid «SG.{word(22)}.{word(43)}»",
    "- name: DB_PASSWORD\n  value: «hunter2k8s»", "os.environ['API_KEY'] = '«hunter2py»'", f"Cookie: «sessionid={word(32)}; csrftoken={word(12)}»",
    "db.passwd=«hunter2props»", "the password is «hunter2!said»", f"client_secret: «{word(12, string.ascii_lowercase)}»",
    f"registry.npmjs.org/:_authToken=«{word(36, HEX + '-')}»", f"VAULT «hvs.{word(90, ALNUM + '_-')}»", "ENV REDIS_PASSWORD=«hunter2env»",
    f"PuTTY-User-Key-File-2: ssh-rsa\nPrivate-Lines: 2\n«{key_lines(2, 'putty')}»\nPrivate-MAC: x",
]  # fmt: skip

KNOWN += [
    "-----BEGIN EC PRIVATE KEY-----\n«MHcCAQEEIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\nq1w2e3»\n-----END EC PRIVATE KEY-----",
    f"a line with «{b64('me:hunter2base')}» alone",
]  # fmt: skip

# These were written after the design: 21 of 30 were masked at first sight. Three passwords that only the grammar of a command
# shows are left out: `echo x | sudo -S`, `net use /user:me x`, `--password-file=<(echo x)`.
KNOWN += [
    f"COMET_API_KEY: «{word(25,ALNUM,'comet')}»",
    f"{{\"username\":\"me\",\"key\":\"«{word(32,HEX,'kaggle')}»\"}}",
    f"spark.hadoop.fs.s3a.secret.key=«{word(40,ALNUM+'+/','s3a')}»",
    f"gcloud auth: ya29.«{word(120,ALNUM+'-_','ya')}»",
    "jdbc:oracle:thin:scott/«tiger-9»@//db.example:1521/orcl",
    "jdbc:postgresql://db/x?user=me&password=«hunter9jdbc»&ssl=true",
    "sqlalchemy.url = driver://root:«hunter9@alch»@localhost/db",
    f"git remote: origin  https://oauth2:«glpat-{word(20,ALNUM,'rem')}»@gitlab.example/o/r.git (fetch)",
    f"pip install --extra-index-url https://aws:«{word(200,ALNUM+'_-','aws')}»@d-1.d.codeartifact.eu-west-1.amazonaws.com/pypi/r/simple/ x",
    f"AZURE_CLIENT_SECRET=«{word(3,ALNUM,'a1')}8Q~{word(34,ALNUM+'-_','a2')}»",
    f"export HUGGING_FACE_HUB_TOKEN='«hf_{word(34,ALNUM,'hub')}»'",
    f"wandb: ERROR api_key {word(3,'x')} invalid: «{word(40,HEX,'wb2')}»",
    f"DISCORD: https://discord.com/api/webhooks/123456789/«{word(68,ALNUM+'-_','disc')}»",
    f"telegram bot {word(9,string.digits,'tg')}:«AA{word(33,ALNUM+'-_','tg')}»",
    f"kubectl config set-credentials me --token=«{word(40,ALNUM+'-_','k8')}»",
    f"      client-key-data: «{b64('-----BEGIN RSA PRIVATE KEY-----' + word(60))}»",
    "smtp_pass: «hunter9smtp»", "SMTP_PASSWORD «hunter9Smtp!»", 
    "wget --http-user=me --http-password=«hunter9wget» https://x.example/f",
    f"X-API-Key: «{word(32,HEX,'xapi')}»", "set PGPASSWORD=«hunter9pg» && psql",
    "passphrase for key '/root/.ssh/id_rsa': «hunter9phrase»",
    f"tensorboard dev auth code «4/0A{word(60,ALNUM+'-_','tb')}»",
    f"SAS: SharedAccessSignature sr=x&sig=«{word(43,ALNUM,'sas')}%3D»&se=1&skn=me",
    f"-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\n«{key_lines(3,'pgp')}»\n=aBcD\n-----END PGP PRIVATE KEY BLOCK-----",
    f"{{\"private_key_id\": \"{word(40,HEX,'gcp')}\", \"private_key\": \"-----BEGIN PRIVATE KEY-----\\n«{word(64,ALNUM+'+/','gk')}\\n{word(64,ALNUM+'+/','gk2')}»\\n-----END PRIVATE KEY-----\\n\"}}",
    "config = dict(host='db', user='me', passwd='«hunter9dict»')",
]  # fmt: skip

# These must stay as they are.
HARMLESS = [
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "GPU-5fd4a1b2-9c3d-4e5f-8a7b-0c1d2e3f4a5b",
    "MIG-9c3d4e5f-8a7b-5fd4-a1b2-0c1d2e3f4a5b", "nvidia/cuda:12.1.0-devel-ubuntu22.04@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "torch-2.2.2+cu121-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", "undefined symbol: _ZN2at4_ops10zeros_like4callERKNS_6TensorESt8optionalIN3c1010ScalarTypeEE",
    "_ZN2at6TensorC2ERKS0_S2_N3c106ScalarES3_S4_B5cxx11", "_ZNK3c1010TensorImpl36is_contiguous_nondefault_policy_implENS_12MemoryFormatE", "commit 75b3bb72d8f4c0a1e2d3c4b5a6978877665544332",
    "https://files.example.org/pypi/2b/1a/9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f0/einops-0.8.0-py3-none-any.whl",
    "torch_cuda_arch_list = 8.0;8.6;9.0+PTX", "PATH=/usr/local/cuda/bin:/usr/local/sbin:/usr/bin", "secret: PIP_TOKEN", "secrets: [PIP_TOKEN, WANDB]",
    "--secret id=PIP_TOKEN,src=/run/x", "pad_token: <pad> (id 0)", "eos_token='</s>', bos_token='<s>'", "max_tokens=4096, num_tokens: 300",
    "SyntaxError: Unexpected token: ')'", "KeyError: 'model.layers.0.self_attn.q_proj.weight'", "Unexpected key(s) in state_dict: \"layer1.0.conv1.weight\"",
    "error: expected primary-expression before ')' token", "api_key=None", "password: ${{ secrets.TOKEN }}", "HF_TOKEN=$HF_TOKEN", "ssh_key: ~/.ssh/id_ed25519",
    "tests: pass: 120, fail: 3", "ssh://git@github.com/state-spaces/mamba.git", "git@github.com:state-spaces/mamba.git", "docker run -u 1000:1000 --gpus all x",
    "https://download.pytorch.org/whl/cu121", "error: token is missing", "password authentication failed for user", "the key is wrong", "sort_key=lambda x: x",
    "__nv_static_51__38_tmpxft_00001234_00000000_7_file_cpp1_ii_a1b2c3d4_", "/root/.triton/cache/3XK7NDA2QK4FZ5J6LPXA7YBCD3XK7NDA2QK4FZ5J/kernel.cubin",
    "einops @ git+https://github.com/arogozhnikov/einops.git@9f86d081884c7d659a2feaa0c55ad015a3bf4f1b", "NVIDIA-SMI 550.54.15   Driver Version: 550.54.15   CUDA Version: 12.4",
    "RECORD sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0", "cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x2_tn_align8",
    "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<c10::BFloat16>, at::detail::Array<char*, 1>>(int)",
    "numpy 1.26.4, cuDNN 8.9.2.26, NCCL 2.19.3, gcc 12.2.0-14+deb12u1", "Linux 5.15.167.4-microsoft-standard-WSL2 x86_64", "00000000:3B:00.0 Off 0",
    "View run at https://modal.com/apps/me/main/ap-hb4tSnZlWTXKmXcOe2Hqk9", "BertForSequenceClassificationHead2LayersNorm3", "PWD=/home/me/project",
    "size mismatch for pass1: copying a param", "PASSWORD_FILE=/run/secrets/db", "Cannot find key 'cuda.version' in config", "key: value", "auth: none",
    "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True,max_split_size_mb:128", "signature mismatch: forward(x, y)", "token_type_ids=None, attention_mask: 1",
    "Co-authored-by: A B <a.b@example.org>", "python3.11@3.11.9", "Authorization required", "credentials: /root/.aws/credentials", "cls_token: 151643",
]  # fmt: skip


def plain(canary):
    return canary.replace("«", "").replace("»", "")


def secrets(canary):
    """Returns the parts that must not be readable: each line of each secret, and the pieces of a long one."""
    return [part for whole in re.findall("«(.*?)»", canary, re.S) for part in re.split(r"\s*\\n\s*|\s*\n\s*", whole) if part]


def readable(canary, text):
    """Returns the secrets of a canary that a text shows, whole or 8 bytes of them; a short one, whole."""
    shown = []
    for s in secrets(canary):
        pieces = [s] if len(s) <= 12 else [s[i:i + 8] for i in range(0, len(s) - 7)]
        shown += [p for p in pieces if p in text and p not in re.sub("«.*?»", "", canary, flags=re.S)][:1]
    return shown
