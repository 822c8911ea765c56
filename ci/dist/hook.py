"""The build backend (PEP 517) of pyproject.toml: an empty package that requires stackbuild at the version of NEWS.md."""

import zipfile


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with open("NEWS.md", encoding="utf-8") as f:
        version = f.readline().split()[2]
    info = f"stackbuild_hook-{version}.dist-info"
    files = {
        "METADATA": f"Metadata-Version: 2.1\nName: stackbuild-hook\nVersion: {version}\nRequires-Dist: stackbuild=={version}\n",
        "WHEEL": "Wheel-Version: 1.0\nGenerator: hook\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files["RECORD"] = "".join(f"{info}/{name},,\n" for name in [*files, "RECORD"])
    name = f"stackbuild_hook-{version}-py3-none-any.whl"
    with zipfile.ZipFile(f"{wheel_directory}/{name}", "w") as z:
        for path, text in files.items():
            z.writestr(f"{info}/{path}", text)
    return name
