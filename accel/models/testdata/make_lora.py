#!/usr/bin/env python3
"""Trains adapters of the tiny models with PEFT, and writes them as PEFT does, with what they compute.

usage: pip install torch==2.15.0 transformers==5.24.0 peft==0.21.2 && python3 make_lora.py
"""
import json
import pathlib
import shutil

import peft
import torch
import transformers

HERE = pathlib.Path(__file__).parent
IDS = torch.tensor([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]])
golden = {"peft": peft.__version__, "torch": torch.__version__, "transformers": transformers.__version__}


def flat(t):
    return [float(f"{v:.8g}") for v in t.detach().double().reshape(-1).tolist()]


for name, modules in {"gpt2": ["c_attn", "c_fc"], "llama": ["q_proj", "v_proj", "down_proj"]}.items():
    torch.manual_seed(20261126)
    model = transformers.AutoModelForCausalLM.from_pretrained(HERE / name, dtype=torch.float32)
    model = peft.get_peft_model(model, peft.LoraConfig(
        r=2, lora_alpha=6, target_modules=modules, lora_dropout=0.0, fan_in_fan_out=name == "gpt2", task_type="CAUSAL_LM"))
    model.eval()
    with torch.no_grad():
        for n, p in model.named_parameters():
            if "lora_B" in n:
                p.copy_(torch.randn_like(p) * 0.1)  # zero at first, so that A would get no gradient
    folder = HERE / "lora" / name
    model.save_pretrained(folder)
    for file in folder.iterdir():
        if file.name != "adapter_model.safetensors":
            file.unlink()
    before = model(IDS).logits
    losses = []
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=0.02, weight_decay=0.1)
    for _ in range(4):
        loss = torch.nn.functional.cross_entropy(model(IDS).logits[:, :-1].reshape(-1, 19), IDS[:, 1:].reshape(-1))
        losses.append(float(f"{loss.item():.8g}"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    trained = model(IDS).logits
    merged = model.merge_and_unload()(IDS).logits
    assert (merged - trained).abs().max() < 1e-4
    golden[name] = {"modules": modules, "before": flat(before), "losses": losses, "trained": flat(trained)}
(HERE / "lora" / "golden.json").write_text(json.dumps(golden) + "\n")
