"""Changes torch and Triton when they are imported: see gpu_standin.py."""

import importlib.machinery
import os
import sys

os.environ["TRITON_INTERPRET"] = "1"


class Finder:
    def find_spec(self, name, path=None, target=None):
        if name not in ("torch", "triton"):
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec:
            load = spec.loader.exec_module

            def exec_module(module):
                import gpu_standin

                load(module)
                getattr(gpu_standin, "into_" + name)(module)

            spec.loader.exec_module = exec_module
        return spec


sys.meta_path.insert(0, Finder())
