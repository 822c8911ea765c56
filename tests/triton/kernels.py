"""The Triton kernels of mamba-ssm and causal-conv1d, each against plain torch in double precision.

`compared`, `row_of`, the limits and the references are those of templates/verify, unchanged. Each function of ALL yields lists
of rows in the format of `numbers`. It needs torch, triton, both packages, and standin/ in PYTHONPATH.
"""

import os

import torch
import torch.nn.functional as F

ROOT = os.environ.get("ROOT") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
probe = {"Check": None, "EXPECTED": {}}
for part in ("references", "numbers"):
    path = os.path.join(ROOT, "templates", "verify", part + ".py")
    with open(path, encoding="utf-8") as opened:
        exec(compile(opened.read(), path, "exec"), probe)
compared, row_of, random_inputs, LIMITS, selective_scan = (
    probe[n] for n in ("compared", "row_of", "random_inputs", "LIMITS", "ref_selective_scan"))  # fmt: skip
DTYPES = [torch.float32, torch.float16, torch.bfloat16]
# Triton's interpreter (3.6.0, create_dot) multiplies the bits of bfloat16 as integers: kernels with tl.dot give wrong numbers there.
DOT_DTYPES = DTYPES[:2]


def forward_only(have, want, dtype, what="forward"):
    name = str(dtype).split(".")[-1]
    return [row_of(what, name, have, want, LIMITS[name])]


# --- Mamba-2's chunked scan

HEADS, HEAD, GROUPS, STATE, LENGTH, CHUNK = 4, 16, 2, 16, 80, 32


def ssd_inputs(batch=2, length=LENGTH):
    inputs = random_inputs({"x": (batch, length, HEADS, HEAD), "dt": (batch, length, HEADS), "B": (batch, length, GROUPS, STATE),
                            "C": (batch, length, GROUPS, STATE), "z": (batch, length, HEADS, HEAD), "A": (HEADS,), "D": (HEADS, HEAD),
                            "dt_bias": (HEADS,), "state": (batch, HEADS, HEAD, STATE)})  # fmt: skip
    inputs["A"] = -torch.exp(inputs["A"] * 0.5)
    inputs["dt_bias"] = inputs["dt_bias"] * 0.5 - 1
    return inputs


def ssd_reference(t, gate=True):
    """Returns the result of chunk_scan by a selective scan of each group: a head's channels share A and dt."""
    out = []
    for g in range(GROUPS):
        heads = slice(g * HEADS // GROUPS, (g + 1) * HEADS // GROUPS)

        def channels(v):
            return v[:, :, heads].flatten(2).transpose(1, 2)

        def each(v):
            return v[..., heads].repeat_interleave(HEAD, -1)

        y = selective_scan(channels(t["x"]), each(t["dt"]).transpose(1, 2), each(t["A"])[:, None].expand(-1, STATE),
                           t["B"][:, :, g].transpose(1, 2), t["C"][:, :, g].transpose(1, 2), t["D"][heads].flatten(),
                           channels(t["z"]) if gate else None, each(t["dt_bias"]), softplus=True)  # fmt: skip
        out.append(y.transpose(1, 2).unflatten(2, (-1, HEAD)))
    return torch.cat(out, 2)


def chunk_scan(t, gate, **more):
    from mamba_ssm.ops.triton.ssd_combined import mamba_chunk_scan_combined

    return mamba_chunk_scan_combined(t["x"], t["dt"], t["A"], t["B"], t["C"], CHUNK, D=t["D"], z=t["z"] if gate else None,
                                     dt_bias=t["dt_bias"], dt_softplus=True, **more)  # fmt: skip


def ssd():
    """Mamba-2: forward, and every gradient."""
    names = ("x", "dt", "A", "B", "C", "D", "z", "dt_bias")
    for dtype in DOT_DTYPES:
        yield compared(ssd_inputs(), lambda t: chunk_scan(t, True), ssd_reference, dtype, names, ("A", "D", "dt_bias"))


def ssd_deterministic():
    """Sums in workspaces instead of atomics; one number of D for each head."""
    from mamba_ssm.utils.determinism import set_deterministic_mode

    set_deterministic_mode(True)
    for gate in (True, False):
        names = ("x", "dt", "A", "B", "C", "D", "dt_bias") + (("z",) if gate else ())
        yield compared(ssd_inputs(batch=1), lambda t: chunk_scan({**t, "D": t["D"][:, 0].contiguous()}, gate),
                       lambda t: ssd_reference({**t, "D": t["D"][:, :1].expand(-1, HEAD)}, gate), torch.float32, names,
                       ("A", "D", "dt_bias"))  # fmt: skip
    set_deterministic_mode(None)


def ssd_without_gate():
    names = ("x", "dt", "A", "B", "C", "D", "dt_bias")
    yield compared(ssd_inputs(), lambda t: chunk_scan(t, False), lambda t: ssd_reference(t, False), torch.float32, names,
                   ("A", "D", "dt_bias"))  # fmt: skip


def ssd_sequences():
    """Several sequences in one row (seq_idx): each is a separate scan."""
    lengths = (17, 40, 23)
    index = torch.cat([torch.full((n,), i, dtype=torch.int32) for i, n in enumerate(lengths)])[None]
    long = ("x", "dt", "B", "C", "z")

    def reference(t):
        parts, at = [], 0
        for n in lengths:
            parts.append(ssd_reference({k: v[:, at:at + n] if k in long else v for k, v in t.items()}))
            at += n
        return torch.cat(parts, 1)

    yield compared(ssd_inputs(batch=1), lambda t: chunk_scan(t, True, seq_idx=index), reference, torch.float32,
                   ("x", "dt", "A", "B", "C", "D", "z", "dt_bias"), ("A", "D", "dt_bias"))  # fmt: skip


def states_of(t, steps):
    """Returns the state after the last of `steps`: an output with one entry of C at a time, without D and z."""
    cut = {k: v[:, steps] if k in ("x", "dt", "B") else v for k, v in t.items()}
    cut["D"] = torch.zeros_like(t["D"])
    found = []
    for n in range(STATE):
        cut["C"] = torch.zeros_like(cut["B"])
        cut["C"][:, -1, :, n] = 1
        found.append(ssd_reference(cut, gate=False)[:, -1])
    return torch.stack(found, -1)


def ssd_states():
    """The last state of each sequence in a row (cu_seqlens), and of the whole."""
    ends = [0, 17, 57, 80]
    t = ssd_inputs(batch=1)
    wide = {k: v.double() for k, v in t.items()}
    index = torch.cat([torch.full((b - a,), i, dtype=torch.int32) for i, (a, b) in enumerate(zip(ends, ends[1:]))])[None]
    _, varlen = chunk_scan(t, False, seq_idx=index, cu_seqlens=torch.tensor(ends), return_varlen_states=True)
    want = torch.cat([states_of(wide, slice(a, b)) for a, b in zip(ends, ends[1:])])
    yield forward_only(varlen, want, torch.float32, "states of sequences")
    _, last = chunk_scan(t, False, return_final_states=True)
    yield forward_only(last, states_of(wide, slice(0, LENGTH)), torch.float32, "last state")


def ssd_slow_decay():
    """A state that lives longer than a chunk, and its gradient: other cases hardly depend on the state between chunks."""
    inputs = ssd_inputs(batch=1)
    inputs["dt_bias"] = inputs["dt_bias"] - 3

    def both(out, state):
        return torch.cat([out.flatten(), 20 * state.flatten()])  # a weight, so that its gradient is visible among the others

    yield compared(inputs, lambda t: both(*chunk_scan(t, False, return_final_states=True)),
                   lambda t: both(ssd_reference(t, False), states_of(t, slice(0, LENGTH))), torch.float32,
                   ("x", "dt", "A", "B", "C", "D", "dt_bias"), ("A", "D", "dt_bias"))  # fmt: skip


def ssd_initial_states():
    """A start from a state equals the continuation of a longer sequence."""
    t = ssd_inputs()
    half = {k: v[:, :48] if k in ("x", "dt", "B", "C", "z") else v for k, v in t.items()}
    rest = {k: v[:, 48:] if k in ("x", "dt", "B", "C", "z") else v for k, v in t.items()}
    wide = {k: v.double() for k, v in t.items()}
    state = states_of({k: v.double() for k, v in half.items()}, slice(0, 48)).float()
    out = chunk_scan(rest, True, initial_states=state)
    yield forward_only(out, ssd_reference(wide)[:, 48:], torch.float32)


# --- one step of the recurrence, as in generation

def state_update():
    from mamba_ssm.ops.triton.selective_state_update import selective_state_update

    inputs = random_inputs({"u": (2, 24, 12), "delta": (2, 24, 12), "z": (2, 24, 12), "B": (2, 8, 12), "C": (2, 8, 12), "A": (24, 8),
                            "D": (24,), "delta_bias": (24,)})  # fmt: skip
    inputs["A"] = -torch.exp(inputs["A"] * 0.5)
    for dtype in DTYPES:
        t = {k: v if k in ("A", "D", "delta_bias") else v.to(dtype) for k, v in inputs.items()}
        state = torch.zeros(2, 24, 8, dtype=torch.float32)
        steps = [selective_state_update(state, *(t[n][:, :, i].contiguous() for n in ("u", "delta")), t["A"],
                                        *(t[n][:, :, i].contiguous() for n in ("B", "C")), t["D"], t["z"][:, :, i].contiguous(),
                                        t["delta_bias"], dt_softplus=True) for i in range(12)]  # fmt: skip
        w = {k: v.double() for k, v in t.items()}
        want = selective_scan(w["u"], w["delta"], w["A"], w["B"], w["C"], w["D"], w["z"], w["delta_bias"], softplus=True)
        yield forward_only(torch.stack(steps, 2), want, dtype)


# --- norms and activations

def norm_of(x, weight, bias, rms, groups=1):
    x = x.unflatten(-1, (groups, -1))
    x = x if rms else x - x.mean(-1, keepdim=True)
    x = (x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5)).flatten(-2) * weight
    return x if bias is None else x + bias


def layer_norm():
    from mamba_ssm.ops.triton.layer_norm import layer_norm_fn

    inputs = random_inputs({"x": (6, 72), "weight": (72,), "bias": (72,), "residual": (6, 72), "weight1": (72,), "bias1": (72,)})
    inputs["x"] = inputs["x"] + 2  # with a mean of zero, a wrong mean would not show
    for dtype in DTYPES:
        for rms in (False, True):
            yield compared(inputs, lambda t: layer_norm_fn(t["x"], t["weight"], t["bias"], t["residual"], eps=1e-5, is_rms_norm=rms),
                           lambda t: norm_of(t["x"] + t["residual"], t["weight"], t["bias"], rms), dtype,
                           ("x", "weight", "bias", "residual"), ("weight", "bias"))  # fmt: skip
    yield compared(inputs, lambda t: sum(layer_norm_fn(t["x"], t["weight"], t["bias"], weight1=t["weight1"], bias1=t["bias1"], eps=1e-5)),
                   lambda t: norm_of(t["x"], t["weight"] + t["weight1"], t["bias"] + t["bias1"], False), torch.float32,
                   ("x", "weight", "bias", "weight1", "bias1"))  # fmt: skip


def gated_norm():
    from mamba_ssm.ops.triton.layernorm_gated import layernorm_fn

    inputs = random_inputs({"x": (6, 64), "weight": (64,), "bias": (64,), "z": (6, 64)})
    inputs["x"] = inputs["x"] + 2
    for dtype in DTYPES:
        for rms, first in ((True, False), (True, True), (False, True)):
            def reference(t):
                gate = t["z"] * torch.sigmoid(t["z"])
                if first:
                    return norm_of(t["x"], t["weight"], t["bias"], rms, 2) * gate
                return norm_of(t["x"] * gate, t["weight"], t["bias"], rms, 2)

            yield compared(inputs, lambda t: layernorm_fn(t["x"], t["weight"], t["bias"], t["z"], 1e-5, 32, first, rms), reference, dtype,
                           ("x", "weight", "bias", "z"), ("weight", "bias"))  # fmt: skip


def swiglu():
    from mamba_ssm.ops.triton.k_activations import swiglu as op

    for dtype in DTYPES:
        yield compared(random_inputs({"xy": (5, 96)}), lambda t: op(t["xy"]), lambda t: F.silu(t["xy"][:, :48]) * t["xy"][:, 48:], dtype, ("xy",))


# --- causal-conv1d's only Triton kernel

def conv_states():
    """The last inputs of each sequence, zeros before its first; there is no backward."""
    from causal_conv1d.causal_conv1d_varlen import causal_conv1d_varlen_states

    ends, width = [0, 2, 9, 31], 4
    x = random_inputs({"x": (31, 20)})["x"]
    for dtype in DTYPES:
        t = x.to(dtype)
        want = torch.stack([F.pad(t[a:b].double().T, (width, 0))[:, -width:] for a, b in zip(ends, ends[1:])])
        yield forward_only(causal_conv1d_varlen_states(t, torch.tensor(ends), width), want, dtype)


ALL = [ssd, ssd_deterministic, ssd_slow_decay, ssd_without_gate, ssd_sequences, ssd_states, ssd_initial_states, state_update,
       layer_norm, gated_norm, swiglu, conv_states]  # fmt: skip
