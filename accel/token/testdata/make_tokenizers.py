#!/usr/bin/env python3
"""Trains small tokenizers with Hugging Face's tokenizers, and writes what they do with multilingual texts.

usage: pip install tokenizers==0.23.3 sentencepiece==0.2.3 protobuf && python3 make_tokenizers.py
"""
import json
import pathlib
import tempfile
import unicodedata

import sentencepiece
import tokenizers
from sentencepiece import sentencepiece_model_pb2
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
    "I'M 'Tis they'RE we'ſ 'ſ '", "a\r\n\r\n  b\n \t\nc !?\n\n--\r\nd", "12345678 ²³ 1٣٤2", " ?! !word \u3000word\u3000\u3000x \n", "tail   ", "tail \n ", "<|endoftext|>a<|begin_of_text|> b",
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

# The components of T5's file, in the versions of the hub and of newer conversions: a SentencePiece model and its
# precompiled map of characters. The rules are those of NFKC for some characters, and some of several characters.
# SentencePiece adds the shortest rule that a cluster begins with, as in nmt_nfkc.
characters = set("".join(TEXTS)) | {chr(c) for c in [*range(0xA0, 0x180), *range(0x2000, 0x2070), *range(0xFF01, 0xFF60), *range(0x2160, 0x2180), *range(0x1E00, 0x1E40), *range(0xAC00, 0xAC40)]}
rules = {c: unicodedata.normalize("NFKC", c) for c in characters if unicodedata.normalize("NFKC", c) != c}
rules |= {unicodedata.normalize("NFD", c): c for c in characters if unicodedata.normalize("NFD", c) != c and unicodedata.normalize("NFKC", c) == c}
rules |= {c: " " for c in "\t\n\r\u3000\u2028\u0085"} | {"\u200b": "", "\u0301": "'", "e\u0301\u0302": "ế"}
with tempfile.TemporaryDirectory() as folder:
    table, corpus = pathlib.Path(folder, "rules.tsv"), pathlib.Path(folder, "corpus.txt")
    table.write_text("".join(f"{' '.join(f'{ord(c):X}' for c in k)}\t{' '.join(f'{ord(c):X}' for c in v)}\n" for k, v in sorted(rules.items())))
    corpus.write_text("\n".join(TRAINING))
    sentencepiece.SentencePieceTrainer.train(
        input=str(corpus), model_prefix=str(pathlib.Path(folder, "m")), vocab_size=300, model_type="unigram", hard_vocab_limit=False,
        normalization_rule_tsv=str(table), character_coverage=1.0, pad_id=0, eos_id=1, unk_id=2, bos_id=-1, minloglevel=2)
    proto = sentencepiece_model_pb2.ModelProto.FromString(pathlib.Path(folder, "m.model").read_bytes())
pieces = [(p.piece, p.score) for p in proto.pieces]
charsmap = proto.normalizer_spec.precompiled_charsmap
for name in ("t5", "t5-new"):
    t5 = Tokenizer(models.Unigram(pieces, 2))
    t5.normalizer = normalizers.Precompiled(charsmap)
    t5.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    if name == "t5-new":
        t5.normalizer = normalizers.Sequence([normalizers.Precompiled(charsmap), normalizers.Strip(left=False, right=True), normalizers.Replace(tokenizers.Regex(" {2,}"), "▁")])
        t5.pre_tokenizer = pre_tokenizers.Metaspace()
    t5.decoder = decoders.Metaspace()
    t5.add_special_tokens(["</s>", "<pad>", "<unk>"])
    t5.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    golden[name] = save(name, t5)

# The components of Llama 2's file.
llama2 = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
llama2.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
llama2.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
llama2.train_from_iterator(TRAINING[:4], trainers.BpeTrainer(
    vocab_size=420, special_tokens=["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)], show_progress=False))
state = json.loads(llama2.to_str())  # in the real file, tokens of bytes are no special tokens
state["added_tokens"] = [t for t in state["added_tokens"] if not t["content"].startswith("<0x")]
llama2 = Tokenizer.from_str(json.dumps(state))
llama2.post_processor = processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s>:1 $B:1", special_tokens=[("<s>", 1)])
golden["llama2"] = save("llama2", llama2)

# Those of Llama 3's and Qwen's.
for name, digits, normalizer, special in [
    ("llama3", r"\p{N}{1,3}", None, "<|begin_of_text|>"),
    ("qwen", r"\p{N}", normalizers.NFC(), "<|endoftext|>"),
]:
    t = Tokenizer(models.BPE(ignore_merges=name == "llama3"))
    pattern = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|" + digits + r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    if normalizer:
        t.normalizer = normalizer
    t.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(tokenizers.Regex(pattern), behavior="isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=False, use_regex=False),
    ])
    t.decoder = decoders.ByteLevel()
    t.train_from_iterator(TRAINING, trainers.BpeTrainer(
        vocab_size=400, special_tokens=[special], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    level = processors.ByteLevel(trim_offsets=False)
    t.post_processor = level if name == "qwen" else processors.Sequence([
        level, processors.TemplateProcessing(single=f"{special} $A", pair=f"{special} $A {special}:1 $B:1", special_tokens=[(special, 0)])])
    golden[name] = save(name, t)

(HERE / "golden.json").write_text(json.dumps({"tokenizers": tokenizers.__version__, "cases": golden}, ensure_ascii=False, separators=(",", ":")) + "\n")
