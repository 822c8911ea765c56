"""GPU code in the JSON of `inspect`, in the words of cuobjdump users: "sm_80 sm_90a compute_90"."""

import re


def listed_codes(answer):
    """Returns each code once, SASS before PTX; code that must still be linked only if there is no other."""
    codes = answer.get("gpu_code", [])
    codes = [c for c in codes if not c["relocatable"]] or codes
    return " ".join(sorted({c["name"] for c in codes}, key=lambda n: (n.startswith("compute"), int(re.search(r"\d+", n)[0]), n)))
