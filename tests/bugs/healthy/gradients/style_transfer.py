"""Style transfer: an image is trained to match features of a fixed network; pixels are clipped."""

import paddle
from paddle import nn
from paddle.nn import functional as F

paddle.seed(41)
body = nn.Sequential(
    nn.Conv2D(3, 8, 3, padding=1),
    nn.ReLU(),
    nn.MaxPool2D(2),
    nn.Conv2D(8, 16, 3, padding=1),
    nn.ReLU(),
)
body.eval()
for parameter in body.parameters():
    parameter.stop_gradient = True


def features(image):
    found = []
    for layer in body:
        image = layer(image)
        if isinstance(layer, nn.ReLU):
            found.append(image)
    return found


def gram(x):
    rows = x.flatten(2).squeeze(0)
    return rows @ rows.T / rows.shape[1]


content, style = paddle.rand([1, 3, 32, 32]), paddle.rand([1, 3, 32, 32])
wanted, styles = features(content)[1], [gram(one) for one in features(style)]
image = paddle.create_parameter(
    [1, 3, 32, 32], "float32", default_initializer=nn.initializer.Assign(content)
)
optimizer = paddle.optimizer.Adam(0.02, parameters=[image])
for step in range(5):
    shown = features(image)
    loss = F.mse_loss(shown[1], wanted)
    loss = loss + sum(F.mse_loss(gram(one), kept) for one, kept in zip(shown, styles, strict=True))
    loss = loss + 1e-3 * (image[:, :, 1:] - image[:, :, :-1]).abs().mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    with paddle.no_grad():
        image.set_value(image.clip(0, 1))
