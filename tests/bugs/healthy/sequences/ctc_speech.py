"""Speech: spectra by FFT, a mask over time, CTC with lengths."""

import paddle
from paddle import nn
from paddle.nn import functional as F

paddle.seed(49)
convolution = nn.Conv1D(17, 32, 3, padding=1)
rnn, out = nn.GRU(32, 32, direction="bidirect"), nn.Linear(64, 6)
layers = nn.LayerList([convolution, rnn, out])
optimizer = paddle.optimizer.Adam(1e-3, parameters=layers.parameters())
criterion = nn.CTCLoss(blank=0)
for _ in range(3):
    sound = paddle.randn([4, 320])
    spectrum = paddle.signal.stft(sound, 32, 16).abs()
    spectrum = paddle.log1p(spectrum) * (paddle.rand([4, 17, 1]) > 0.1).astype("float32")
    hidden, _ = rnn(F.relu(convolution(spectrum)).transpose([0, 2, 1]))
    logits = out(hidden).transpose([1, 0, 2])
    lengths = paddle.full([4], logits.shape[0], dtype="int64")
    words, word_lengths = (
        paddle.randint(1, 6, [4, 5], dtype="int32"),
        paddle.full([4], 5, dtype="int64"),
    )
    loss = criterion(logits, words, lengths, word_lengths)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    with paddle.no_grad():
        print(F.softmax(logits, -1).argmax(-1).T[0].numpy())
