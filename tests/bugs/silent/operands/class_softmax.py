"""A class whose forward ends in a softmax, before a loss that takes logits."""
import paddle
from paddle import nn
from paddle.io import DataLoader, Dataset
import numpy as np
paddle.seed(0)
class Data(Dataset):
    def __init__(self): self.x=np.random.RandomState(0).randn(64,8).astype('float32'); self.y=(self.x[:,0]>0).astype('int64')
    def __getitem__(self,i): return self.x[i], self.y[i]
    def __len__(self): return 64
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 2)
        self.softmax = nn.Softmax()
    def forward(self, x):
        return self.softmax(self.fc(x))  # WRONG
        #= return self.fc(x)
class Trainer:
    def __init__(self, net):
        self.net = net
        self.loss = nn.CrossEntropyLoss()
        self.opt = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
    def fit(self, loader):
        for x, y in loader:
            loss = self.loss(self.net(x), y)
            loss.backward()
            self.opt.step()
            self.opt.clear_grad()
Trainer(Net()).fit(DataLoader(Data(), batch_size=16, shuffle=True))
