"""Replaces causal-conv1d's CUDA code, in plain torch and single precision: `numbers` compares it with its references."""

import torch
from gpu_standin import fault, launch


def before_silu(x, weight, bias):
    width, length = weight.shape[1], x.shape[2]
    if fault("conv-shifted"):
        x = torch.roll(x, 1, 2)
    padded = torch.cat([x.new_zeros(*x.shape[:2], width - 1), x], 2)
    out = torch.einsum("bdlk,dk->bdl", padded.unfold(2, width, 1)[:, :, :length], weight)
    return out if bias is None or fault("conv-bias-lost") else out + bias[:, None]


def causal_conv1d_fwd(x, weight, bias, seq_idx, initial_states, out, final_states_out, silu):
    launch("cpu_fallback" if fault("fallback") else "void causal_conv1d_fwd_kernel<128, 4>")
    y = before_silu(x.float(), weight.float(), bias.float() if bias is not None else None)
    if fault("conv-truncated"):
        y = (y * 64).floor() / 64
    out.copy_(torch.nn.functional.silu(y) if silu else y)
    if fault("conv-nan"):
        out.view(-1)[5] = float("nan")


def causal_conv1d_bwd(x, weight, bias, dout, seq_idx, initial_states, dfinal_states, dx, dweight, dbias, dinitial_states, silu):
    launch("cpu_fallback" if fault("fallback") else "void causal_conv1d_bwd_kernel<128, 4>")
    width, length = weight.shape[1], x.shape[2]
    wide, w = x.float(), weight.float()
    d = dout.float()
    if silu:
        y = before_silu(wide, w, bias.float() if bias is not None else None)
        s = torch.sigmoid(y)
        d = d * (s if fault("conv-silu-slope") else s * (1 + y * (1 - s)))
    after = torch.cat([d, d.new_zeros(*d.shape[:2], width - 1)], 2)
    dx.copy_(torch.einsum("bdlk,dk->bdl", after.unfold(2, width, 1)[:, :, :length], w.flip(1)))
    padded = torch.cat([wide.new_zeros(*x.shape[:2], width - 1), wide], 2)
    dweight.copy_(torch.einsum("bdlk,bdl->dk", padded.unfold(2, width, 1)[:, :, :length], d))
    if fault("conv-dweight-batch"):
        dweight.div_(x.shape[0])
    if dbias is not None:
        dbias.copy_(d.sum((0, 2)))
