"""States, outputs and graphs that outlive an op, but only as long as intended."""

import paddle

paddle.seed(2)
cell = paddle.nn.GRUCell(4, 8)
head = paddle.nn.Linear(8, 1)
optimizer = paddle.optimizer.SGD(0.01, parameters=[*cell.parameters(), *head.parameters()])
state = paddle.zeros([2, 8])
total, outputs = 0.0, []
for _ in range(4):
    loss = paddle.zeros([])
    hidden_states = []
    for t in range(3):
        _, state = cell(paddle.randn([2, 4]), state)
        hidden_states.append(state)
        loss = loss + head(state).square().mean()
    loss = loss + paddle.stack(hidden_states).abs().mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    state = state.detach()
    total += float(loss)
    with paddle.no_grad():
        outputs.append(head(state))
mean = paddle.concat(outputs).mean()

generator, critic = paddle.nn.Linear(2, 4), paddle.nn.Linear(4, 1)
critic_steps = paddle.optimizer.Adam(0.01, parameters=critic.parameters())
generator_steps = paddle.optimizer.Adam(0.01, parameters=generator.parameters())
for _ in range(4):
    fake = generator(paddle.randn([8, 2]))
    for _ in range(2):
        critic_loss = critic(fake.detach()).mean() - critic(paddle.randn([8, 4])).mean()
        critic_loss.backward()
        critic_steps.step()
        critic_steps.clear_grad()
    (-critic(fake).mean()).backward()
    generator_steps.step()
    generator_steps.clear_grad()
    critic_steps.clear_grad()
