"""Replaces mamba's CUDA code, in plain torch and single precision: `numbers` compares it with its references."""

import torch
from gpu_standin import fault, launch


def scan(u, delta, A, B, C, D, z, delta_bias, softplus):
    """Returns the output before and after the gate, and the last state; B, C: [B, 1, N, L]."""
    if delta_bias is not None:
        delta = delta + delta_bias[:, None]
    if softplus and not fault("scan-softplus-lost"):
        delta = torch.nn.functional.softplus(delta)
    decay = torch.exp(torch.einsum("bdl,dn->bdln", delta, A))
    into = torch.einsum("bdl,bnl->bdln", delta * u, B[:, 0])
    state, states = torch.zeros_like(into[:, :, 0]), []
    for step in range(u.shape[2]):
        if fault("scan-chunk-lost") and step == 64:
            state = torch.zeros_like(state)
        state = decay[:, :, step] * state + into[:, :, step]
        states.append(state)
    y = torch.einsum("bdln,bnl->bdl", torch.stack(states, 2), C[:, 0])
    y = y + u * D[:, None] if D is not None else y
    return y, y * torch.nn.functional.silu(z) if z is not None else y, state


def wide(*tensors):
    return [t if t is None else t.float() for t in tensors]


def fwd(u, delta, A, B, C, D, z, delta_bias, softplus):
    launch("void selective_scan_fwd_kernel<Traits>")
    y, gated, state = scan(*wide(u, delta, A, B, C, D, z, delta_bias), softplus)
    x = torch.zeros(*u.shape[:2], 1, 2 * A.shape[1])
    x[:, :, 0, 1::2] = state
    return [y.to(u.dtype), x] + ([gated.to(u.dtype)] if z is not None else [])


def bwd(u, delta, A, B, C, D, z, delta_bias, dout, x, out, dz, softplus, again):
    launch("void selective_scan_bwd_kernel<Traits>")
    given = [u, delta, A, B, C, D, z, delta_bias]
    with torch.enable_grad():
        leaves = [t if t is None else t.detach().float().requires_grad_() for t in given]
        gated = scan(*leaves, softplus)[1]
        kept = [t for t in leaves if t is not None]
        found = iter(torch.autograd.grad(gated, kept, dout.float()))
    du, ddelta, dA, dB, dC, dD, dgate, dbias = [None if t is None else next(found) for t in leaves]
    if fault("scan-da-scaled"):
        dA = dA * 1.02
    if fault("scan-ddelta-step"):
        ddelta = torch.cat([ddelta[:, :, :1] * 2, ddelta[:, :, 1:]], 2)
    rest = []
    if z is not None:
        dz = torch.empty_like(z) if dz is None else dz
        dz.copy_(dgate)
        rest = [dz] + ([gated.detach().to(u.dtype)] if again else [])
    return [du.to(u.dtype), ddelta.to(delta.dtype), dA, dB.to(B.dtype), dC.to(C.dtype), dD, dbias] + rest
