"""An LSTM takes the time first, and gets the batch first."""
import paddle
import paddle.nn as nn


class SentimentRNN(nn.Layer):
    def __init__(self, vocab=100, dim=16, hidden=24):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.rnn = nn.LSTM(dim, hidden, num_layers=1, time_major=True)  # WRONG
        #= self.rnn = nn.LSTM(dim, hidden, num_layers=1)
        self.fc = nn.Linear(hidden, 2)

    def forward(self, words):
        x = self.emb(words)
        y, _ = self.rnn(x)  # OR
        return self.fc(y[:, -1])  # OR


class Reviews(paddle.io.Dataset):
    def __len__(self):
        return 48

    def __getitem__(self, i):
        g = paddle.randint(0, 100, [20])
        return g, paddle.to_tensor(i % 2)


model = SentimentRNN()
opt = paddle.optimizer.Adam(learning_rate=1e-3, parameters=model.parameters())
loader = paddle.io.DataLoader(Reviews(), batch_size=16, shuffle=True)
ce = nn.CrossEntropyLoss()
for words, label in loader:
    loss = ce(model(words), label)
    loss.backward()
    opt.step()
    opt.clear_grad()
