"""torch's fused AdamW over one tensor: the update alone, or after clip_grad_norm_, by as many threads as a turn says."""

from player import missing, play, settings, versions

try:
    import torch
except ImportError as error:
    missing(error)

given = settings()
adam = given["adam"]
parameter = torch.nn.Parameter(torch.randn(given["size"]) * 0.02)
parameter.grad = torch.randn(given["size"]) * 1e-3
optimizer = torch.optim.AdamW(
    [parameter],
    lr=adam["learningRate"],
    betas=(adam["beta1"], adam["beta2"]),
    eps=adam["epsilon"],
    weight_decay=adam["weightDecay"],
    fused=True,
)


def turn(request):
    torch.set_num_threads(request["threads"])
    if request["what"] == "clipped":
        torch.nn.utils.clip_grad_norm_([parameter], 1.0)
    optimizer.step()


play({"version": versions("torch")}, turn)
