"""A generative adversarial step: two networks, two optimizers, a detached sample, two backwards."""

from __future__ import annotations

import paddle
from paddle import nn
from paddle.nn import functional as F

from tests.models.step import BeforeBackward, Build, Result, Step, gradients_of, look_away, seed


def adversarial() -> Step:
    """Train the discriminator on a detached sample, then the generator through it."""
    seed()
    generator = nn.Sequential(nn.Linear(4, 16), nn.LeakyReLU(0.2), nn.Linear(16, 8), nn.Tanh())
    discriminator = nn.Sequential(nn.Linear(8, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
    generator_optimizer = paddle.optimizer.Adam(parameters=generator.parameters())
    discriminator_optimizer = paddle.optimizer.SGD(parameters=discriminator.parameters())
    real = paddle.randn([4, 8])

    def step(before_backward: BeforeBackward = look_away) -> Result:
        fake = generator(paddle.randn([4, 4]))

        discriminator_optimizer.clear_grad()
        scores = discriminator(paddle.concat([real, fake.detach()]))
        truth = paddle.concat([paddle.ones([4, 1]), paddle.zeros([4, 1])])
        discriminator_loss = F.binary_cross_entropy_with_logits(scores, truth)
        before_backward([discriminator_loss])
        discriminator_loss.backward()
        discriminator_optimizer.step()

        generator_optimizer.clear_grad()
        generator_loss = -F.log_sigmoid(discriminator(fake)).mean()
        before_backward([generator_loss])
        generator_loss.backward()
        generator_optimizer.step()
        return generator_loss, {
            **{f"generator.{name}": g for name, g in gradients_of(generator).items()},
            **{f"discriminator.{name}": g for name, g in gradients_of(discriminator).items()},
        }

    return step


MODELS: dict[str, Build] = {"gan": adversarial}
