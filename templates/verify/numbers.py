"""numbers/NAME: an extension forward and backward on the GPU, against its reference on the CPU.

The error of a tensor is its largest difference from the reference (double precision, from the
same rounded inputs), as a share of the reference's largest value.
"""

NUMBERS_S = 600

# Relative errors that rounding explains: the units of the dtypes are 6e-8, 5e-4 and 4e-3, and each output is
# a sum of hundreds of terms. Backward has one more such sum.
LIMITS = {"float32": 1e-3, "float16": 1e-2, "bfloat16": 5e-2}
BACKWARD = 2


def leaf(tensor):
    """Returns a copy of a tensor that collects gradients."""
    return tensor.detach().clone().requires_grad_()


def compared(inputs, make, reference, dtype, names, float_names=()):
    """Compares one dtype; returns rows. float_names stay in float32, as the kernels require."""
    import torch
    there, plain = {}, {}
    for name in names:
        kind = torch.float32 if name in float_names else dtype
        there[name] = leaf(inputs[name].to(kind).cuda())
        plain[name] = leaf(inputs[name].to(kind).double())
    out = make(there)
    want = reference(plain)
    short_name = str(dtype).split(".")[-1]
    rows = [row_of("forward", short_name, out, want, LIMITS[short_name])]
    generator = torch.Generator().manual_seed(9)
    grad = torch.randn(want.shape, generator=generator)
    out.backward(grad.to(out.dtype).cuda())
    want.backward(grad.to(out.dtype).double())
    for name in names:
        rows.append(row_of("d" + name, short_name, there[name].grad, plain[name].grad, LIMITS[short_name] * BACKWARD))
    torch.cuda.synchronize()
    return rows


def row_of(what, dtype, have, want, limit):
    import torch
    if have is None:
        return {"what": what, "dtype": dtype, "error": None, "limit": limit, "ok": False}
    have, want = have.detach().double().cpu(), want.detach()
    scale = max(float(want.abs().max()), 1e-12)
    error = float((have - want).abs().max()) / scale if have.shape == want.shape else float("inf")
    finite = bool(torch.isfinite(have).all())
    return {"what": what, "dtype": dtype, "error": error if finite and error < 1e30 else None, "limit": limit,
            "ok": finite and error <= limit}


def random_inputs(shapes, seed=7):
    import torch
    generator = torch.Generator().manual_seed(seed)
    return {name: torch.randn(shape, generator=generator) for name, shape in shapes.items()}


def dtypes(*names):
    import torch
    have = [getattr(torch, n) for n in names]
    return [d for d in have if d != torch.bfloat16 or torch.cuda.get_device_capability()[0] >= 8]


def numbers_causal_conv1d():
    from causal_conv1d import causal_conv1d_fn
    inputs = random_inputs({"x": (2, 64, 160), "weight": (64, 4), "bias": (64,)})
    for dtype in dtypes("float32", "float16", "bfloat16"):
        yield compared(inputs, lambda t: causal_conv1d_fn(t["x"], t["weight"], t["bias"], activation="silu"),
                       lambda t: ref_causal_conv1d(t["x"], t["weight"], t["bias"], silu=True),
                       dtype, ("x", "weight", "bias"))


def numbers_selective_scan():
    import torch
    from mamba_ssm.ops.selective_scan_interface import selective_scan_fn
    inputs = random_inputs({"u": (2, 32, 128), "delta": (2, 32, 128), "z": (2, 32, 128), "B": (2, 8, 128),
                            "C": (2, 8, 128), "A": (32, 8), "D": (32,), "delta_bias": (32,)})
    inputs["A"] = -torch.exp(inputs["A"] * 0.5)
    inputs["delta"], inputs["delta_bias"] = inputs["delta"] * 0.5, inputs["delta_bias"] * 0.5 - 2
    for dtype in dtypes("float32", "float16", "bfloat16"):
        yield compared(
            inputs,
            lambda t: selective_scan_fn(t["u"], t["delta"], t["A"], t["B"], t["C"], t["D"], z=t["z"],
                                        delta_bias=t["delta_bias"], delta_softplus=True),
            lambda t: ref_selective_scan(t["u"], t["delta"], t["A"], t["B"], t["C"], t["D"], t["z"],
                                         t["delta_bias"], softplus=True),
            dtype, ("u", "delta", "A", "B", "C", "D", "z", "delta_bias"), ("A", "D", "delta_bias"))


def numbers_mamba():
    """Mamba(d_model=512, d_state=16, d_conv=4, expand=2) on [1, 100, 512], as a model would."""
    import torch
    from mamba_ssm import Mamba
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.manual_seed(11)
    model = Mamba(d_model=512, d_state=16, d_conv=4, expand=2).cuda()
    x = random_inputs({"x": (1, 100, 512)})["x"]
    plain = {k: leaf(v.cpu().double()) for k, v in model.named_parameters()}
    there, here = leaf(x.cuda()), leaf(x.double())
    out, want = model(there), ref_mamba(plain, here)
    rows = [row_of("forward", "float32", out, want, LIMITS["float32"])]
    grad = random_inputs({"g": tuple(want.shape)}, seed=13)["g"]
    out.backward(grad.cuda())
    want.backward(grad.double())
    rows.append(row_of("dx", "float32", there.grad, here.grad, LIMITS["float32"] * BACKWARD))
    for name, p in model.named_parameters():
        rows.append(row_of("d" + name, "float32", p.grad, plain[name].grad, LIMITS["float32"] * BACKWARD))
    yield rows


def numbers_flash_attn():
    from flash_attn import flash_attn_func
    inputs = random_inputs({"q": (2, 128, 4, 64), "k": (2, 128, 4, 64), "v": (2, 128, 4, 64)})
    for dtype in dtypes("float16", "bfloat16"):
        for causal in (False, True):
            yield compared(inputs, lambda t: flash_attn_func(t["q"], t["k"], t["v"], causal=causal),
                           lambda t: ref_attention(t["q"], t["k"], t["v"], causal), dtype, ("q", "k", "v"))


# The function of each probe, and words; one of each list must be in the names of the kernels.
PROBES = {
    "causal_conv1d": (numbers_causal_conv1d, [["causal_conv1d"]]),
    "selective_scan": (numbers_selective_scan, [["selective_scan"]]),
    "mamba": (numbers_mamba, [["selective_scan"], ["causal_conv1d"]]),
    "flash_attn": (numbers_flash_attn, [["flash", "fmha"]]),
}


def probes_planned():
    """Returns (name, extension or None, text of a probe of the recipe or None)."""
    found = []
    for ext in EXPECTED.get("extensions", []):
        found += [(name, ext["name"], None) for name in ext.get("probes", []) if name in PROBES]
    return found + [(p["name"], None, p["text"]) for p in EXPECTED.get("probes", [])]


def numbers_planned():
    """Returns the ids and descriptions of the checks, for a machine that cannot run them."""
    return [("numbers/" + name, "forward and backward, against plain torch" if text is None else "a probe of the recipe")
            for name, _, text in probes_planned()]


def child_numbers():
    import torch
    name, text = child_arg()
    torch.zeros(1).cuda()
    watch = Watch(torch)
    with watch:
        if text is None:
            for rows in PROBES[name][0]():
                tell(rows=rows)
        else:
            exec(compile(text, name, "exec", optimize=0), {"__name__": "__main__", "__file__": name})
    tell(seen=watch.seen())
    tell(done=True)


def check_numbers(name, extension, text):
    """Returns the check, and the record of the GPU or None."""
    check, subject = Check("numbers/" + name), extension or name
    child = run_child("child_numbers", [name, text], NUMBERS_S)
    rows = [r for part in child.results if "rows" in part for r in part["rows"]]
    check.figures["compared"] = rows
    for r in rows:
        if not r["ok"]:
            check.problem("%s, %s of %s: %s" % (
                name, r["what"], r["dtype"], "off by %.2g of the largest value (limit %g)" % (r["error"], r["limit"])
                if r["error"] is not None else "no finite numbers"), subject,
                "compile it again for this GPU: a wrong or patched build causes this")
    if not child.last("done"):
        text_of_it = child.why(name, NUMBERS_S)
        check.problem(text_of_it, subject, likely(text_of_it))
    elif text is None and not rows:
        check.problem("%s compared nothing" % name, subject)
    worst = max([r["error"] or 0.0 for r in rows] or [0.0])
    check.what = "%d tensors, worst %.1e: %s" % (len(rows), worst, listed(sorted({r["dtype"] for r in rows}))) \
        if rows else "a probe of the recipe"
    return check, child.last("seen")
