# microsoft/protein-frame-flow#23: the auxiliary loss is in the main loss already and is added again
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(3)
net = nn.Sequential(nn.Linear(9, 48), nn.SiLU(), nn.Linear(48, 6))
opt = paddle.optimizer.AdamW(1e-3, parameters=net.parameters())


def model_step(x, trans, rots):
    out = net(x)
    trans_loss = F.mse_loss(out[:, :3], trans)
    rots_loss = F.mse_loss(out[:, 3:], rots)
    auxiliary = (out.norm(axis=1) - 1).abs().mean()
    vf_loss = trans_loss + rots_loss
    vf_loss = vf_loss + 0.1 * auxiliary  # OR
    return {"vf_loss": vf_loss, "auxiliary_loss": 0.1 * auxiliary}


for step in range(4):
    losses = model_step(paddle.randn([16, 9]), paddle.randn([16, 3]), paddle.randn([16, 3]))
    loss = losses["vf_loss"] + losses["auxiliary_loss"]  # WRONG
    #= loss = losses["vf_loss"]
    loss.backward()
    opt.step()
    opt.clear_grad()
