#!/usr/bin/env python3
"""Trains small tokenizers with Hugging Face's tokenizers, and writes what they do with multilingual texts.

usage: pip install tokenizers==0.23.3 && python3 make_tokenizers.py
"""
import json
import pathlib

import tokenizers
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

HERE = pathlib.Path(__file__).parent
TRAINING = [
    "The quick brown fox jumps over the lazy dog. It's what they'd said: we'll see, I'm sure you've been there!",
    "Größe und Straße sind schöne Wörter, die über Äpfel und Öl erzählen.", "Le garçon a mangé une crêpe à Noël près de l'hôtel.",
    "Привет, мир! Как дела сегодня?", "今日は天気がいいですね。東京に行きます。", "你好，世界。我们去北京吧。", "안녕하세요 세계 여러분",
    "मुझे हिन्दी पसंद है।", "مرحبا بالعالم كيف حالك اليوم", "Ελληνικά γράμματα και Σίσυφος.", "In 2024, 3.14159 was approx. 22/7 = 3.142857…",
    "func main() {\n\tfmt.Println(\"hello\")\n}\n", "🙂 emoji 👩‍👩‍👧 and 🇩🇪 flags",
]
TEXTS = TRAINING + [
    "", " ", "   ", "\n\n", "a  b   c \t d\n\n  e ", "I'LL don't 'tis ''s 'S", "naïve façade — “quotes” … ½ ² Ⅷ", "İstanbul ıspanak ǅ ﬁn ΑΣ",
    "e\u0301 vs \u00e9, A\u030a", "zero\u200bwidth\u00a0space\u3000wide\u2028line\u0085next", "x" * 120, "<s>special</s> [MASK] tokens [SEP]  <mask> [MASK]",
    "ab\ufffdcd\x00ef\x07", "𝕳𝖊𝖑𝖑𝖔 𐍈 🤦🏼‍♂️", "ไทยไม่มีช่องว่าง", "१२३ ٣٤٥ 123", "don’t—stop", "CamelCaseWords snake_case_words", "   leading and trailing   ",
]


def save(name, t):
    t.save(str(HERE / f"{name}.json"), pretty=False)
    return [{"text": s, "ids": t.encode(s).ids, "plain": t.encode(s, add_special_tokens=False).ids,
             "decoded": t.decode(t.encode(s).ids), "all": t.decode(t.encode(s).ids, skip_special_tokens=False)} for s in TEXTS]


golden = {}
bpe = Tokenizer(models.BPE())
bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
bpe.post_processor, bpe.decoder = processors.ByteLevel(trim_offsets=False), decoders.ByteLevel()
bpe.train_from_iterator(TRAINING, trainers.BpeTrainer(vocab_size=500, special_tokens=["<s>", "</s>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
golden["bpe"] = save("bpe", bpe)

for name, options in {"wordpiece": {}, "wordpiece-cased": {"lowercase": False, "strip_accents": False}}.items():
    wp = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=100))
    wp.normalizer, wp.pre_tokenizer, wp.decoder = normalizers.BertNormalizer(**options), pre_tokenizers.BertPreTokenizer(), decoders.WordPiece()
    wp.train_from_iterator(TRAINING, trainers.WordPieceTrainer(vocab_size=420, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], show_progress=False))
    wp.add_special_tokens([tokenizers.AddedToken("[MASK]", lstrip=True)])
    wp.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    golden[name] = save(name, wp)

uni = Tokenizer(models.Unigram())
uni.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
uni.pre_tokenizer, uni.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
uni.train_from_iterator(TRAINING, trainers.UnigramTrainer(vocab_size=300, special_tokens=["<unk>", "<s>", "</s>", "<mask>"], unk_token="<unk>", show_progress=False))
uni.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 1), ("</s>", 2)])
golden["unigram"] = save("unigram", uni)
(HERE / "golden.json").write_text(json.dumps({"tokenizers": tokenizers.__version__, "cases": golden}) + "\n")
