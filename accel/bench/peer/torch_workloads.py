"""The benchmarks in PyTorch, with its own modules.

Settings: "eager"; "compile", where the model and its loss go through torch.compile; "channels-last", eager with images in
the layout that oneDNN prefers and cuDNN always gets; "graph", a CUDA graph of a step. All optimizers are the fused ones.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F

DEVICE = "cpu"


def start(threads, device):
    global DEVICE
    DEVICE = device
    if on_gpu() and not torch.cuda.is_available():
        raise RuntimeError("PyTorch finds no CUDA device")
    if threads:
        torch.set_num_threads(threads)


def on_gpu():
    return DEVICE != "cpu"


BALLAST = torch.zeros(0)


def empty(size):
    """Changes memory of so many bytes, with all threads."""
    global BALLAST
    if BALLAST.numel() != size // 4:
        BALLAST = torch.zeros(size // 4)
    BALLAST.add_(1)


def free():
    if on_gpu():
        torch.cuda.empty_cache()


def versions():
    if on_gpu():
        return {"torch": torch.__version__, "cuda": str(torch.version.cuda)}
    return {"torch": torch.__version__, "mkldnn": str(torch.backends.mkldnn.is_available()), "capability": torch.backends.cpu.get_cpu_capability()}


class Work:
    def __init__(self, step):
        self.step = step

    def wait(self, last):
        if on_gpu():
            torch.cuda.synchronize()

    def value(self, last):
        return float(last)


class Residual(nn.Sequential):
    def forward(self, x):
        return x + super().forward(x)


class SelfAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.all = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.heads = heads

    def forward(self, x):
        n, t, width = x.shape
        q, k, v = self.all(x).view(n, t, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(n, t, width))


class GPT(nn.Module):
    """GPT-2: the token embedding and the output layer share their weights."""

    def __init__(self, tokens, length, width, layers, heads):
        super().__init__()
        self.tokens = nn.Embedding(tokens, width)
        self.positions = nn.Embedding(length, width)
        self.blocks = nn.Sequential(*[block(width, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)

    def forward(self, ids):
        x = self.tokens(ids) + self.positions.weight
        return (self.norm(self.blocks(x)) @ self.tokens.weight.T).view(-1, self.tokens.num_embeddings)


# Models take the shapes of their parameters, the first input, and the number of attention heads.


def mlp(shapes, x, heads):
    layers = [nn.Flatten()]
    for rows, columns in shapes[::2]:
        layers += [nn.Linear(columns, rows), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def cnn(shapes, x, heads):
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(1568, 10))


def conv(i, o):
    return [nn.Conv2d(i, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU()]


def resnet9(shapes, x, heads):
    channels = [s[0] for s in shapes if len(s) == 4]
    a, b, c, d = channels[0], channels[1], channels[4], channels[5]
    return nn.Sequential(
        *conv(x.shape[1], a),
        *conv(a, b), nn.MaxPool2d(2), Residual(*conv(b, b), *conv(b, b)),
        *conv(b, c), nn.MaxPool2d(2),
        *conv(c, d), nn.MaxPool2d(2), Residual(*conv(d, d), *conv(d, d)),
        nn.MaxPool2d(x.shape[2] // 8), nn.Flatten(), nn.Linear(d, 10))


def block(width, heads):
    return nn.Sequential(
        Residual(nn.LayerNorm(width), SelfAttention(width, heads)),
        Residual(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)))


def gpt_block(shapes, x, heads):
    return block(x.shape[2], heads)


def gpt2(shapes, x, heads):
    return GPT(*shapes[0][:1], *shapes[1], (len(shapes) - 4) // 12, heads)  # 12 parameters of a block


class LSTM(nn.LSTM):
    def forward(self, x):
        return super().forward(x)[0]


def lstm(shapes, x, heads):
    return LSTM(x.shape[2], shapes[1][1], num_layers=len(shapes) // 4, batch_first=True)


def transformer(shapes, x, heads):
    width, inner = shapes[0][1], shapes[4][0]
    layer = lambda: nn.TransformerEncoderLayer(width, heads, inner, dropout=0, batch_first=True)
    return nn.Sequential(*[layer() for _ in range(len(shapes) // 12)])


def cross_entropy(y, labels):
    return F.cross_entropy(y, labels)


MODELS = {"mlp": (mlp, cross_entropy), "cnn": (cnn, cross_entropy), "resnet9": (resnet9, cross_entropy), "gpt-block": (gpt_block, F.mse_loss),
          "lstm": (lstm, F.mse_loss), "transformer": (transformer, F.mse_loss),
          "gpt2": (gpt2, cross_entropy)}


def tensors(arrays):
    return [torch.from_numpy(a).to(DEVICE) for a in arrays]


def train(request, groups):
    make, loss = MODELS[request["model"]]
    setting = request["setting"]
    given, xs, ys = tensors(groups["parameters"]), tensors(groups["x"]), tensors(groups["y"])
    model = make([a.shape for a in given], xs[0], request.get("heads")).to(DEVICE)
    parameters = list(model.parameters())
    assert [p.shape for p in parameters] == [a.shape for a in given], "the parameters differ in number or shape"
    with torch.no_grad():
        for p, a in zip(parameters, given):
            p.copy_(a)
    if make is gpt2:
        xs = [x.long() for x in xs]
    if loss is cross_entropy:
        ys = [y.long() for y in ys]
    if setting == "channels-last" or on_gpu() and xs[0].dim() == 4:
        model = model.to(memory_format=torch.channels_last)
        xs = [x.to(memory_format=torch.channels_last) for x in xs]
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True, capturable=on_gpu())

    def objective(x, y):
        return loss(model(x), y)

    if setting == "compile":
        objective = torch.compile(objective)

    def update(x, y):
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(DEVICE.split(":")[0], dtype=torch.bfloat16, enabled=request.get("half", False)):
            value = objective(x, y)
        value.backward()
        optimizer.step()
        return value.detach()

    if setting == "graph":
        update = captured(update, parameters, optimizer, xs[0], ys[0])
    at = 0

    def step():
        nonlocal at
        i = at % len(xs)
        at += 1
        return update(xs[i], ys[i])

    return Work(step)


def captured(update, parameters, optimizer, x, y):
    """A CUDA graph of update. Capturing needs some steps before it, whose effect is undone."""
    x, y, before = x.clone(), y.clone(), [p.detach().clone() for p in parameters]
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            update(x, y)
    torch.cuda.current_stream().wait_stream(stream)
    with torch.no_grad():
        for p, b in zip(parameters, before):
            p.copy_(b)
        for state in optimizer.state.values():
            for t in state.values():
                t.zero_()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        value = update(x, y)

    def replay(new_x, new_y):
        x.copy_(new_x)
        y.copy_(new_y)
        graph.replay()
        return value

    return replay


def gemm(request, groups):
    a, b = (x.to(torch.bfloat16 if request.get("half") else torch.float32) for x in tensors(groups["x"]))
    out = torch.empty(a.shape[0], b.shape[1], dtype=a.dtype, device=DEVICE)

    def step():
        torch.mm(a, b, out=out)
        return out

    w = Work(step)
    w.value = lambda y: float(y[0, 0])
    return w


def attention(request, groups):
    q, k, v = (torch.from_numpy(x).requires_grad_() for x in groups["x"])
    target = torch.from_numpy(groups["y"][0])

    def objective(q, k, v):
        return (F.scaled_dot_product_attention(q, k, v, is_causal=True) * target).sum()

    if request["setting"] == "compile":
        objective = torch.compile(objective)

    def step():
        q.grad = k.grad = v.grad = None
        value = objective(q, k, v)
        value.backward()
        return value.detach() + q.grad[0, 0, -1, 0] + k.grad[0, 0, 0, 0] + v.grad[0, 0, 0, 0]

    return Work(step)


def set_parameters(model, groups):
    parameters, given = list(model.parameters()), tensors(groups["parameters"])
    assert [p.shape for p in parameters] == [a.shape for a in given], "the parameters differ in number or shape"
    with torch.no_grad():
        for p, a in zip(parameters, given):
            p.copy_(a)
    return model.eval()


def resnet18(request, groups):
    x = torch.from_numpy(groups["x"][0])
    if request["setting"] == "onnxruntime":
        step = onnx_session(request["case"] + ".onnx", groups["x"][0])
    else:
        import torchvision

        model = set_parameters(torchvision.models.resnet18(), groups)
        if request["setting"] == "channels-last":
            model, x = model.to(memory_format=torch.channels_last), x.to(memory_format=torch.channels_last)
        if request["setting"] == "compile":
            model = torch.compile(model)

        @torch.inference_mode()
        def step():
            return model(x)

    w = Work(step)
    w.value = lambda y: float(y[0].max())
    return w


def onnx_session(path, x):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, {"input": x})[0]


def gpt2_generate(request, groups):
    import transformers

    config = transformers.GPT2Config()
    model = set_parameters(transformers.GPT2LMHeadModel(config), groups)
    prompt = torch.from_numpy(groups["x"][0]).long()[None]

    @torch.inference_mode()
    def step():
        return model.generate(prompt, max_new_tokens=32, min_new_tokens=32, do_sample=False, use_cache=True, pad_token_id=0, eos_token_id=None)

    w = Work(step)
    w.value = lambda tokens: float(tokens.sum())
    return w


def loader(request, groups):
    """Batches of 256 byte images in a shuffled order, as floats in [0, 1]."""
    images = torch.from_numpy(groups["x"][0]).to(torch.uint8)
    order = torch.from_numpy(groups["x"][1]).long()

    def step():
        for at in range(0, len(order), 256):
            x = images[order[at:at + 256]].float().div_(255)
        return x

    w = Work(step)
    w.value = lambda x: 1.0
    return w


def bandwidth(request, groups):
    a = torch.ones(64 << 20)
    b = torch.zeros(64 << 20)

    def step():
        b.copy_(a)
        return b

    w = Work(step)
    w.value = lambda y: 1.0
    return w


def csv(request, groups):
    """Reads the file with pyarrow, on one thread or all."""
    import pyarrow.csv

    path = request["case"] + ".csv"
    options = pyarrow.csv.ReadOptions(use_threads=torch.get_num_threads() > 1)
    w = Work(lambda: pyarrow.csv.read_csv(path, read_options=options))
    w.value = lambda table: table.num_rows + table.column("score").to_numpy().sum()
    return w


def tokens(request, groups):
    """Encodes the lines of a text with Hugging Face's tokenizers, on RAYON_NUM_THREADS threads."""
    import tokenizers

    tokenizer = tokenizers.Tokenizer.from_file(request["case"] + ".tokenizer")
    with open(request["case"] + ".txt", encoding="utf-8", newline="") as f:
        lines = f.read().split("\n")
    w = Work(lambda: tokenizer.encode_batch_fast(lines))
    w.value = lambda encodings: sum(sum(e.ids) + len(e.ids) for e in encodings)
    return w


def prepare(request, groups):
    if request["model"] in MODELS:
        return train(request, groups)
    return {"attention": attention, "loader": loader, "bandwidth": bandwidth, "gemm": gemm, "resnet18": resnet18, "gpt2-generate": gpt2_generate, "csv": csv, "tokens": tokens}[request["model"]](request, groups)
