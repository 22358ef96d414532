"""Actor and critic with an optimizer each; advantages without gradients, some steps skipped."""

import paddle
from paddle import nn

paddle.seed(0)
actor, critic = nn.Linear(4, 2), nn.Linear(4, 1)
for_actor = paddle.optimizer.Adam(parameters=actor.parameters())
for_critic = paddle.optimizer.Adam(parameters=critic.parameters())
for step in range(4):
    states, returns = paddle.randn([6, 4]), paddle.randn([6, 1])
    values = critic(states)
    advantage = (returns - values).detach()
    log_probability = nn.functional.log_softmax(actor(states))
    with paddle.no_grad():
        actions = log_probability.exp().multinomial(1)
    chosen = paddle.take_along_axis(log_probability, actions, axis=1)
    nn.functional.mse_loss(values, returns).backward()
    for_critic.step()
    for_critic.clear_grad()
    if step % 2 == 0:
        ratio = (chosen - chosen.detach()).exp()
        (-(ratio * advantage).mean()).backward()
        for_actor.step()
        for_actor.clear_grad()
