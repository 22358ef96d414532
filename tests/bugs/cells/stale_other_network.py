"""The discriminator's gradients are cleared, but the generator's never are."""

import paddle

paddle.seed(23)
generator = paddle.nn.Linear(2, 3)
critic = paddle.nn.Linear(3, 1)
critic_steps = paddle.optimizer.SGD(0.01, parameters=critic.parameters())
generator_steps = paddle.optimizer.SGD(0.01, parameters=generator.parameters())
for _ in range(3):
    fake = generator(paddle.randn([4, 2]))
    critic_steps.clear_grad()
    (critic(fake.detach()).mean() - critic(paddle.randn([4, 3])).mean()).backward()
    critic_steps.step()
    (-critic(fake).mean()).backward()
    generator_steps.step()  # BUG: gradient-not-cleared
