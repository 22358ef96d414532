"""Complex numbers and Fourier transforms."""

from __future__ import annotations

import paddle
from paddle import Tensor, nn

from tests.models.step import Build, Step, seed, training_step


class SpectralConvolution(nn.Layer):
    """A Fourier neural operator's layer: learned complex weights on the lowest frequencies."""

    def __init__(self, channels: int, modes: int) -> None:
        super().__init__()
        self.modes = modes
        shape = [channels, channels, modes]
        initial = nn.initializer.Normal(std=0.1)
        self.real = self.create_parameter(shape, default_initializer=initial)
        self.imaginary = self.create_parameter(shape, default_initializer=initial)

    def forward(self, signal: Tensor) -> Tensor:
        """Filter ``signal`` of shape ``[batch, channels, points]``."""
        spectrum = paddle.fft.rfft(signal)
        weight = paddle.complex(self.real, self.imaginary)
        low = paddle.einsum("bix,iox->box", spectrum[:, :, : self.modes], weight)
        padding = paddle.zeros([*low.shape[:2], spectrum.shape[-1] - self.modes], dtype=low.dtype)
        return paddle.fft.irfft(paddle.concat([low, padding], axis=-1), n=signal.shape[-1])


def neural_operator() -> Step:
    """Two spectral convolutions with a pointwise path beside each."""
    seed()
    network = nn.LayerList(
        [SpectralConvolution(4, 5), nn.Conv1D(4, 4, 1), SpectralConvolution(4, 5)]
    )
    signal = paddle.randn([2, 4, 16])

    def forward() -> Tensor:
        spectral, pointwise, last = network
        hidden = nn.functional.gelu(spectral(signal) + pointwise(signal))
        return (last(hidden) - signal).square().mean()

    return training_step(network, forward)


def two_dimensional() -> Step:
    """A learned complex mask on a 2-D spectrum: magnitude, angle, conjugate, shift."""
    seed()
    network = nn.Linear(8, 8)
    image = paddle.randn([8, 8])

    def forward() -> Tensor:
        spectrum = paddle.fft.fftshift(paddle.fft.fft2(network(image)))
        turned = spectrum * (0.5 + 0.5j) + spectrum.conj()
        energy = (turned * turned.conj()).real().mean()
        return energy + paddle.fft.ifft2(spectrum).abs().mean() + paddle.angle(turned).cos().mean()

    return training_step(network, forward)


MODELS: dict[str, Build] = {
    "fourier_operator": neural_operator,
    "complex_spectrum": two_dimensional,
}
