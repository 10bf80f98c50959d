"""The benchmarks in JAX: each training step is one function under jax.jit whose parameters are donated."""

from functools import partial

import jax
import jax.numpy as jnp
from jax import lax


def start(threads, device):
    jax.config.update("jax_platforms", device)  # only the CPU has cases


BALLAST = jnp.zeros(0)


def free():
    pass


def empty(size):
    """Changes memory of so many bytes, with all threads."""
    global BALLAST
    if BALLAST.size != size // 4:
        BALLAST = jnp.zeros(size // 4)
    BALLAST = plus_one(BALLAST).block_until_ready()


@partial(jax.jit, donate_argnums=0)
def plus_one(x):
    return x + 1


def versions():
    return {"jax": jax.__version__}


class Work:
    def __init__(self, step):
        self.step = step

    def wait(self, last):
        jax.block_until_ready(last)

    def value(self, last):
        return float(last)


def dense(x, w, b):
    return x @ w.T + b


def convolve(x, w):
    return lax.conv_general_dilated(x, w, (1, 1), ((1, 1), (1, 1)), dimension_numbers=("NCHW", "OIHW", "NCHW"))


def pool(x, n=2):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, n, n), (1, 1, n, n), "VALID")


def mlp(p, x):
    x = x.reshape(x.shape[0], -1)
    x = jax.nn.relu(dense(x, p[0], p[1]))
    x = jax.nn.relu(dense(x, p[2], p[3]))
    return dense(x, p[4], p[5])


def cnn(p, x):
    x = pool(jax.nn.relu(convolve(x, p[0]) + p[1][:, None, None]))
    x = pool(jax.nn.relu(convolve(x, p[2]) + p[3][:, None, None]))
    return dense(x.reshape(x.shape[0], -1), p[4], p[5])


def resnet9(p, x):
    at = iter(p)

    def conv(x):
        w, scale, shift = next(at), next(at), next(at)
        x = convolve(x, w)
        mean = x.mean((0, 2, 3), keepdims=True)
        variance = x.var((0, 2, 3), keepdims=True)
        x = (x - mean) * lax.rsqrt(variance + 1e-5)
        return jax.nn.relu(x * scale[:, None, None] + shift[:, None, None])

    x = conv(x)
    x = pool(conv(x))
    x = x + conv(conv(x))
    x = pool(conv(x))
    x = pool(conv(x))
    x = x + conv(conv(x))
    x = pool(x, 3)
    return dense(x.reshape(x.shape[0], -1), next(at), next(at))


def attend(q, k, v):
    t = q.shape[2]
    scores = jnp.einsum("bhtd,bhsd->bhts", q, k) / q.shape[3] ** 0.5
    scores = jnp.where(jnp.tril(jnp.ones((t, t), bool)), scores, -jnp.inf)
    return jnp.einsum("bhts,bhsd->bhtd", jax.nn.softmax(scores), v)


def layer_norm(x, w, b):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * w + b


def gpt_block(p, x):
    n, t, width = x.shape
    y = layer_norm(x, p[0], p[1])
    q, k, v = dense(y, p[2], p[3]).reshape(n, t, 3, 4, width // 4).transpose(2, 0, 3, 1, 4)
    x = x + dense(attend(q, k, v).transpose(0, 2, 1, 3).reshape(n, t, width), p[4], p[5])
    y = layer_norm(x, p[6], p[7])
    return x + dense(jax.nn.gelu(dense(y, p[8], p[9]), approximate=False), p[10], p[11])


def cross_entropy(y, labels):
    return -jnp.take_along_axis(jax.nn.log_softmax(y), labels[:, None], 1).mean()


def mse(y, target):
    return ((y - target) ** 2).mean()


MODELS = {"mlp": (mlp, cross_entropy), "cnn": (cnn, cross_entropy), "resnet9": (resnet9, cross_entropy), "gpt-block": (gpt_block, mse)}


def train(bench, groups):
    model, loss = MODELS[bench]
    parameters = [jnp.asarray(a) for a in groups["parameters"]]
    xs = [jnp.asarray(a) for a in groups["x"]]
    ys = [jnp.asarray(a) for a in groups["y"]]
    if loss is cross_entropy:
        ys = [y.astype(jnp.int32) for y in ys]

    def update(p, first, second, t, x, y):
        value, slopes = jax.value_and_grad(lambda p: loss(model(p, x), y))(p)
        t = t + 1
        first = [0.9 * m + 0.1 * g for m, g in zip(first, slopes)]
        second = [0.999 * v + 0.001 * g * g for v, g in zip(second, slopes)]
        a, b = 1 / (1 - 0.9 ** t), 1 / (1 - 0.999 ** t)
        p = [w - 1e-3 * (m * a) / (jnp.sqrt(v * b) + 1e-8) for w, m, v in zip(p, first, second)]
        return p, first, second, t, value

    update = jax.jit(update, donate_argnums=(0, 1, 2, 3))
    state = (parameters, [jnp.zeros_like(p) for p in parameters], [jnp.zeros_like(p) for p in parameters], jnp.float32(0))
    at = 0

    def step():
        nonlocal state, at
        i = at % len(xs)
        at += 1
        *state, value = update(*state, xs[i], ys[i])
        return value

    w = Work(step)
    w.wait = lambda last: jax.block_until_ready((state, last))
    return w


def attention(groups):
    q, k, v = (jnp.asarray(x) for x in groups["x"])
    target = jnp.asarray(groups["y"][0])

    @jax.jit
    def update(q, k, v):
        value, (dq, dk, dv) = jax.value_and_grad(lambda q, k, v: (attend(q, k, v) * target).sum(), (0, 1, 2))(q, k, v)
        return value + dq[0, 0, -1, 0] + dk[0, 0, 0, 0] + dv[0, 0, 0, 0], dq, dk, dv

    w = Work(lambda: update(q, k, v))
    w.value = lambda last: float(last[0])
    return w


def gemm(groups):
    a, b = (jnp.asarray(x) for x in groups["x"])
    product = jax.jit(jnp.matmul)
    w = Work(lambda: product(a, b))
    w.value = lambda y: float(y[0, 0])
    return w


def prepare(request, groups):
    model = request["model"]
    if model in MODELS:
        return train(model, groups)
    return {"attention": attention, "gemm": gemm}[model](groups)
