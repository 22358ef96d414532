"""Optimizers of parts that share losses: a body that steps less often, a shared encoder, bilevel."""
import numpy as np
import paddle, paddle.nn as nn, paddle.nn.functional as F
paddle.seed(0); bce=F.binary_cross_entropy_with_logits
def mlp(a,b,c): return nn.Sequential(nn.Linear(a,b),nn.ReLU(),nn.Linear(b,c))
def adam(*n): return paddle.optimizer.Adam(1e-3,parameters=[p for m in n for p in m.parameters()])

B,H=mlp(4,16,8),nn.Linear(8,2); ob,oh=adam(B),adam(H)
for i in range(8):
    loss=F.cross_entropy(H(B(paddle.randn([8,4]))),paddle.randint(0,2,[8]))/2
    loss.backward(); oh.step(); oh.clear_grad()
    if i%2: ob.step(); ob.clear_grad()

T,a,b=mlp(4,16,8),nn.Linear(8,1),nn.Linear(8,1); o1,o2=adam(T,a),adam(T,b)
E,c,d=mlp(4,16,8),nn.Linear(8,1),nn.Linear(8,1); oc,oa,oe=adam(c),adam(d),adam(E)
for i in range(5):
    x=paddle.randn([8,4])
    F.mse_loss(a(T(x)),x[:,:1]).backward(); o1.step(); o1.clear_grad()
    F.mse_loss(b(T(x)),x[:,1:2]).backward(); o2.step(); o2.clear_grad()
    F.mse_loss(c(E(x)),x[:,:1]).backward(); oc.step()
    (-(d(E(x))+c(E(x))).mean()).backward(); oa.step(); oe.step()
    for o in (oc,oa,oe): o.clear_grad()

W=mlp(4,16,1); al=nn.Linear(4,4,bias_attr=False); ow,oa=adam(W),adam(al)
def net(x): return W(al(x))
for i in range(5):
    x=paddle.randn([8,4])
    oa.clear_grad(); F.mse_loss(net(x),x[:,:1]).backward(); oa.step()
    x=paddle.randn([8,4])
    ow.clear_grad(); F.mse_loss(net(x),x[:,:1]).backward(); ow.step()

E,H=mlp(4,16,8),nn.Linear(8,1); oe,oh=adam(E),adam(H)
for i in range(5):
    x=paddle.randn([8,4])
    l1=F.mse_loss(H(E(x)),x[:,:1]); l2=F.l1_loss(H(E(x+0.1)),x[:,:1])
    l1.backward(); l2.backward()
    oe.step(); oh.step(); oe.clear_grad(); oh.clear_grad()

G,D=mlp(4,16,3),mlp(3,16,1); og,od=adam(G),adam(D)
for i in range(4):
    od.clear_grad(); fake=G(paddle.randn([8,4])); a,b=D(paddle.randn([8,3])),D(fake)
    (bce(a,paddle.ones_like(a))+bce(b,paddle.zeros_like(b))).backward(retain_graph=True)
    od.step(); og.clear_grad()
    c=D(fake); bce(c,paddle.ones_like(c)).backward(); og.step()
