"""Build the image of modal_app.py, which is next to this file, and publish it under a name:

    modal run modal_publish.py --name NAME:TAG

Other apps use it as modal.Image.from_name("NAME:TAG").
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import modal_app  # noqa: E402

import modal  # noqa: E402

app = modal.App("stackbuild-publish")


@app.local_entrypoint()
def main(name: str):
    modal_app.image.build(app)
    modal_app.image.publish(name)
