"""The build backend (PEP 517) of pyproject.toml: a package with the command of pre-commit's hook.

It requires no package, because pip would search an index for the name. The user's `additional_dependencies` name the wheel.
"""

import zipfile

COMMAND = """#!/bin/sh
stackbuild=${0%/*}/stackbuild
[ -x "$stackbuild" ] && exec "$stackbuild" check "$@"
echo 'this hook has no stackbuild: name its wheel, with its digest, in `additional_dependencies` (docs/install.md)' >&2
exit 1
"""


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with open("NEWS.md", encoding="utf-8") as f:
        version = f.readline().split()[2]
    name = f"stackbuild_hook-{version}"
    files = {
        f"{name}.data/scripts/stackbuild-hook": COMMAND,
        f"{name}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: stackbuild-hook\nVersion: {version}\n",
        f"{name}.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: hook\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = f"{name}.dist-info/RECORD"
    files[record] = "".join(f"{path},,\n" for path in [*files, record])
    with zipfile.ZipFile(f"{wheel_directory}/{name}-py3-none-any.whl", "w") as z:
        for path, text in files.items():
            info = zipfile.ZipInfo(path)
            info.external_attr = (0o100755 if "/scripts/" in path else 0o100644) << 16
            z.writestr(info, text)
    return f"{name}-py3-none-any.whl"
