"""Computes the functions of the extensions in plain torch: slow, in double precision, and readable.

Each function is differentiable, so that autograd gives the backward pass to compare with.
"""


def ref_causal_conv1d(x, weight, bias=None, silu=False):
    """x [B, D, L], weight [D, W]: out[l] = bias + sum over k of weight[k] x[l - W + 1 + k]."""
    import torch
    width, length = weight.shape[1], x.shape[2]
    padded = torch.nn.functional.pad(x, (width - 1, 0))
    out = sum(weight[:, k, None] * padded[:, :, k:k + length] for k in range(width))
    if bias is not None:
        out = out + bias[:, None]
    return out * torch.sigmoid(out) if silu else out


def ref_selective_scan(u, delta, A, B, C, D=None, z=None, delta_bias=None, softplus=False):
    """u, delta, z [B, D, L], A [D, N], B, C [B, N, L], D [D]: the recurrence, step by step.

    h[l] = exp(delta[l] A) h[l - 1] + delta[l] B[l] u[l];  out[l] = C[l] h[l] + D u[l], times silu(z).
    """
    import torch
    if delta_bias is not None:
        delta = delta + delta_bias[:, None]
    if softplus:
        delta = torch.nn.functional.softplus(delta)
    h = torch.zeros(u.shape[0], u.shape[1], A.shape[1], dtype=u.dtype, device=u.device)
    out = []
    for step in range(u.shape[2]):
        d = delta[:, :, step, None]
        h = torch.exp(d * A) * h + d * B[:, None, :, step] * u[:, :, step, None]
        out.append((h * C[:, None, :, step]).sum(-1))
    y = torch.stack(out, 2)
    if D is not None:
        y = y + u * D[:, None]
    return y * z * torch.sigmoid(z) if z is not None else y


def ref_mamba(weights, x):
    """The block of Mamba: x [B, L, M], weights as the module names them."""
    import torch
    w = weights
    inner, width = w["conv1d.weight"].shape[0], w["conv1d.weight"].shape[2]
    state = w["A_log"].shape[1]
    rank = w["dt_proj.weight"].shape[1]
    xz = torch.einsum("blm,em->bel", x, w["in_proj.weight"])
    if "in_proj.bias" in w:
        xz = xz + w["in_proj.bias"][:, None]
    u, z = xz[:, :inner], xz[:, inner:]
    u = ref_causal_conv1d(u, w["conv1d.weight"].reshape(inner, width), w.get("conv1d.bias"), silu=True)
    dbl = torch.einsum("bel,re->brl", u, w["x_proj.weight"])
    delta = torch.einsum("brl,er->bel", dbl[:, :rank], w["dt_proj.weight"])
    y = ref_selective_scan(u, delta, -torch.exp(w["A_log"]), dbl[:, rank:rank + state], dbl[:, rank + state:],
                           w["D"], z, w["dt_proj.bias"], softplus=True)
    out = torch.einsum("bel,me->blm", y, w["out_proj.weight"])
    return out + w["out_proj.bias"] if "out_proj.bias" in w else out


def ref_attention(q, k, v, causal=False):
    """q, k, v [B, S, H, D]: softmax(q k / sqrt(D)) v, a head at a time."""
    import torch
    scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / q.shape[3] ** 0.5
    if causal:
        after = torch.ones(q.shape[1], k.shape[1], dtype=torch.bool, device=q.device).triu(1 + k.shape[1] - q.shape[1])
        scores = scores.masked_fill(after, float("-inf"))
    return torch.einsum("bhqk,bkhd->bqhd", torch.softmax(scores, -1), v)
