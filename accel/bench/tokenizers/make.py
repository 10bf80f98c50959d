#!/usr/bin/env python3
"""Trains the tokenizers of the benchmarks on the novel of accel/data/text.

usage: pip install tokenizers==0.23.3 && python3 make.py
"""
import gzip
import pathlib

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

HERE = pathlib.Path(__file__).parent
LINES = gzip.decompress((HERE / "../../data/text/moby-dick.txt.gz").read_bytes()).decode().splitlines()
SIZE = 8000


def save(name, tokenizer, trainer):
    tokenizer.train_from_iterator(LINES, trainer)
    (HERE / f"{name}.json.gz").write_bytes(gzip.compress(tokenizer.to_str().encode(), mtime=0))


bpe = Tokenizer(models.BPE())
bpe.pre_tokenizer, bpe.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
save("bpe", bpe, trainers.BpeTrainer(vocab_size=SIZE, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))

wordpiece = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=100))
wordpiece.normalizer, wordpiece.pre_tokenizer, wordpiece.decoder = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer(), decoders.WordPiece()
save("wordpiece", wordpiece, trainers.WordPieceTrainer(vocab_size=SIZE, special_tokens=["[UNK]"], show_progress=False))

unigram = Tokenizer(models.Unigram())
unigram.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
unigram.pre_tokenizer, unigram.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
save("unigram", unigram, trainers.UnigramTrainer(vocab_size=SIZE, special_tokens=["<unk>"], unk_token="<unk>", show_progress=False))
