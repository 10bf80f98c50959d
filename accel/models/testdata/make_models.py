#!/usr/bin/env python3
"""Writes tiny pretrained models with the files of transformers and torchvision, and what they compute.

usage: pip install torch==2.15.0 torchvision==0.29.2 transformers==5.24.0 && python3 make_models.py

The weights of ResNets, which cannot be tiny, are a formula that the tests compute as well.
"""
import json
import math
import pathlib

import numpy
import safetensors.torch
import torch
import torchvision
import transformers

HERE = pathlib.Path(__file__).parent
torch.manual_seed(20261124)
golden = {"torch": torch.__version__, "transformers": transformers.__version__, "torchvision": torchvision.__version__}


def flat(t):
    return [float(f"{v:.8g}") for v in t.detach().double().reshape(-1).tolist()]


def randomize(model):
    with torch.no_grad():
        for name, p in model.named_parameters():
            p.copy_(torch.randn_like(p) * (1.0 if ".wpe" in name or ".wte" in name else 0.4) + (1.0 if "norm" in name.lower() or ".ln" in name and name.endswith("weight") else 0.0))


def language_model(name, model, **save):
    model.eval()
    randomize(model)
    model.generation_config.eos_token_id = None
    model.generation_config.pad_token_id = 0
    model.save_pretrained(HERE / name, **save)
    (HERE / name / "generation_config.json").unlink(missing_ok=True)
    ids = torch.tensor([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]])
    generated = model.generate(torch.tensor([[3, 1, 4]]), max_new_tokens=40, do_sample=False, use_cache=True)
    golden[name] = {"ids": ids.tolist(), "logits": flat(model(ids).logits), "generated": generated[0].tolist()}


language_model("gpt2", transformers.GPT2LMHeadModel(transformers.GPT2Config(
    vocab_size=19, n_positions=64, n_embd=8, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0)))
llama = dict(vocab_size=19, hidden_size=8, intermediate_size=12, num_hidden_layers=2, num_attention_heads=4,
             num_key_value_heads=2, max_position_embeddings=64, bos_token_id=0, eos_token_id=0)
language_model("llama", transformers.LlamaForCausalLM(transformers.LlamaConfig(**llama)), max_shard_size="2KB")
language_model("llama-tied", transformers.LlamaForCausalLM(transformers.LlamaConfig(
    **llama | {"num_key_value_heads": 4}, head_dim=4, tie_word_embeddings=True, attention_bias=True, rope_theta=500.0)))

bert = transformers.BertForMaskedLM(transformers.BertConfig(
    vocab_size=19, hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=12, max_position_embeddings=16)).eval()
randomize(bert)
bert.save_pretrained(HERE / "bert")
(HERE / "bert" / "generation_config.json").unlink(missing_ok=True)
ids, lengths = torch.tensor([[3, 1, 4, 1, 5], [9, 2, 6, 0, 0]]), torch.tensor([5, 3])
types = torch.tensor([[0, 0, 1, 1, 1], [0, 1, 1, 0, 0]])
mask = (torch.arange(5)[None, :] < lengths[:, None]).long()
golden["bert"] = {
    "ids": ids.tolist(), "types": types.tolist(), "lengths": lengths.tolist(),
    "logits": flat(bert(ids, attention_mask=mask, token_type_ids=types).logits), "plain": flat(bert(ids).logits),
}

vit = torchvision.models.VisionTransformer(image_size=32, patch_size=16, num_layers=2, num_heads=2, hidden_dim=8, mlp_dim=12, num_classes=5).eval()
randomize(vit)
safetensors.torch.save_file(vit.state_dict(), HERE / "vit.safetensors")
image = torch.randn(2, 3, 32, 32).mul(100).round().div(100)
golden["vit"] = {"image": flat(image), "logits": flat(vit(image))}


def formula(model):
    state = model.state_dict()
    for k, name in enumerate(sorted(n for n in state if not n.endswith("num_batches_tracked"))):
        t = state[name]
        i = numpy.arange(t.numel(), dtype=numpy.int64)
        v = ((i * 7919 + k * 104729) % 1009) / 1009 - 0.5
        if t.ndim > 1:
            v = v * 2 / math.sqrt(t.numel() / t.shape[0])
        elif name.endswith(("running_var", "weight")):
            v = 1 + v / 5
        else:
            v = v / 5
        state[name] = torch.from_numpy(v.astype(numpy.float32)).reshape(t.shape)
    model.load_state_dict(state)
    return model.eval()


small = image[:1]
golden["resnet18"] = {"logits": flat(formula(torchvision.models.resnet18())(small)[0, :20])}
golden["resnet50"] = {"logits": flat(formula(torchvision.models.resnet50())(small)[0, :20])}
(HERE / "golden.json").write_text(json.dumps(golden) + "\n")
