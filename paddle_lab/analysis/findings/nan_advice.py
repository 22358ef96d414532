"""What helps against NaN and Inf, by how they came about."""

from __future__ import annotations

from paddle_lab.analysis.findings.text import Text

LOG_ADVICE = Text(
    en="Keep the argument away from 0, as in `paddle.log(x + 1e-8)` or `x.clip(min=1e-8)`; for the "
    "logarithm of a softmax use `F.log_softmax` or a loss that takes logits.",
    zh="让自变量远离 0,例如 `paddle.log(x + 1e-8)` 或 `x.clip(min=1e-8)`;"
    "对 softmax 取对数请改用 `F.log_softmax` 或直接接受 logits 的损失函数。",
)
DIVIDE_ADVICE = Text(
    en="Add a small number to the divisor, or divide only where it is not 0: "
    "`paddle.where(b != 0, b, paddle.ones_like(b))` before the division.",
    zh="给除数加一个很小的数,或者先用 `paddle.where(b != 0, b, paddle.ones_like(b))` "
    "把除数中的 0 换掉再做除法。",
)
ROOT_ADVICE = Text(
    en="Add a small number under the root, as in `paddle.sqrt(x + 1e-8)`: its derivative at 0 is "
    "infinite, also where the value is multiplied by 0 afterwards.",
    zh="在根号内加一个很小的数,例如 `paddle.sqrt(x + 1e-8)`:它在 0 处的导数是无穷大,"
    "即使之后结果再乘以 0 也会得到 NaN。",
)
DOMAIN_ADVICE = Text(
    en="Clip the argument into the function's domain first, with `paddle.clip`.",
    zh="先用 `paddle.clip` 把自变量限制在函数的定义域内。",
)
OVERFLOW_ADVICE = Text(
    en="Make what goes in smaller: subtract the maximum before `exp`, normalise the inputs, lower "
    "the learning rate, or clip gradients with `paddle.nn.ClipGradByGlobalNorm`.",
    zh="让输入变小:在 `exp` 之前减去最大值、对输入做归一化、调低学习率,"
    "或用 `paddle.nn.ClipGradByGlobalNorm` 裁剪梯度。",
)
HALF_ADVICE = Text(
    en="float16 ends at 65504: compute this part in float32 or bfloat16, and train with "
    "`paddle.amp.GradScaler` so that gradients stay within range.",
    zh="float16 最大只到 65504:这一部分请用 float32 或 bfloat16 计算,"
    "训练时配合 `paddle.amp.GradScaler` 使梯度保持在可表示的范围内。",
)
SOFTMAX_ADVICE = Text(
    en="Give every row at least one place that is not masked, or mask with a large finite number "
    "(`-1e4` for float16, `-1e9` for float32) instead of -inf.",
    zh="保证每一行至少有一个未被屏蔽的位置,或者用很大的有限数"
    "(float16 用 `-1e4`,float32 用 `-1e9`)代替 -inf 作为掩码。",
)
EMPTY_ADVICE = Text(
    en="Leave the step out where nothing was selected, or divide a sum by `max(count, 1)`.",
    zh="没有选中任何元素时跳过这一步,或者用总和除以 `max(数量, 1)`。",
)
