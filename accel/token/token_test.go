package token_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/token"
)

// TestEqualsTokenizers compares with the Python package; testdata/make_tokenizers.py writes the
// files.
func TestEqualsTokenizers(t *testing.T) {
	text, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var g struct {
		Cases map[string][]struct {
			Text, Decoded, All string
			IDs, Plain         []int
		}
	}
	if err := json.Unmarshal(text, &g); err != nil {
		t.Fatal(err)
	}
	if len(g.Cases) != 9 {
		t.Fatalf("%d tokenizers", len(g.Cases))
	}
	for name, cases := range g.Cases {
		t.Run(name, func(t *testing.T) {
			tokenizer, err := token.Load(filepath.Join("testdata", name+".json"))
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range cases {
				if got := tokenizer.Encode(c.Text); !slices.Equal(got, c.IDs) {
					t.Errorf("%q\n got  %v\n want %v", c.Text, got, c.IDs)
				}
				if got := tokenizer.EncodePlain(c.Text); !slices.Equal(got, c.Plain) {
					t.Errorf("plain %q\n got  %v\n want %v", c.Text, got, c.Plain)
				}
				if got, err := tokenizer.Decode(c.IDs); err != nil || got != c.Decoded {
					t.Errorf("decoded\n got  %q\n want %q, %v", got, c.Decoded, err)
				}
				if got, err := tokenizer.DecodeAll(c.IDs); err != nil || got != c.All {
					t.Errorf("decoded with special tokens\n got  %q\n want %q, %v", got, c.All, err)
				}
			}
			if _, err := tokenizer.Decode([]int{1 << 20}); err == nil {
				t.Error("an unknown number is no error")
			}
		})
	}
}

func TestLoadRejects(t *testing.T) {
	const model = `"model": {"type": "WordPiece", "unk_token": "u", "vocab": {"u": 0}}`
	for text, want := range map[string]string{
		`{"model": {"type": "WordLevel"}}`:                                 `model "WordLevel"`,
		`{` + model + `, "normalizer": {"type": "Nmt"}}`:                   `normalizer "Nmt"`,
		`{` + model + `, "pre_tokenizer": {"type": "Digits"}}`:             `pre_tokenizer "Digits"`,
		`{` + model + `, "post_processor": {"type": "RobertaProcessing"}}`: `post_processor "RobertaProcessing"`,
		`{` + model + `, "decoder": {"type": "CTC"}}`:                      `decoder "CTC"`,
		`{` + model + `, "truncation": {"max_length": 8}}`:                 "truncation",
		`{` + model + `, "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Split", "pattern": {"Regex": "\\w+"}, "behavior": "Isolated"}, {"type": "ByteLevel", "add_prefix_space": false, "use_regex": false}]}}`: `regular expression "\\w+"`,
		`{` + model + `, "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Split", "pattern": {"String": " "}, "behavior": "Removed"}, {"type": "ByteLevel"}]}}`:                                                   "behavior Isolated",
		`{` + model + `, "decoder": {"type": "Sequence", "decoders": [{"type": "CTC"}]}}`:                                                                                                                                          `decoder "CTC" in a sequence`,
		`{"model": {"type": "BPE", "byte_fallback": true, "vocab": {}, "merges": []}}`:                                                                                                                                             "byte_fallback",
	} {
		path := filepath.Join(t.TempDir(), "tokenizer.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var unsupported *token.UnsupportedError
		if _, err := token.Load(filepath.Dir(path)); !errors.As(err, &unsupported) || unsupported.Path != path || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an UnsupportedError with %q", text, err, want)
		}
	}
	for _, text := range []string{"", "{", "{}", `{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["a b"]}}`, `{"model": {"type": "WordPiece", "vocab": {}}}`,
		`{` + model + `, "normalizer": {"type": "Precompiled", "precompiled_charsmap": "?"}}`, `{` + model + `, "normalizer": {"type": "Precompiled", "precompiled_charsmap": ""}}`} {
		path := filepath.Join(t.TempDir(), "tokenizer.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var file *token.FileError
		if _, err := token.Load(path); !errors.As(err, &file) {
			t.Errorf("%q: %v, want a FileError", text, err)
		}
	}
}

// BenchmarkEncode encodes a novel on one thread, in MB of text a second.
func BenchmarkEncode(b *testing.B) {
	novel, err := data.MobyDick()
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range []string{"llama2", "llama3", "qwen", "bpe", "wordpiece", "unigram"} {
		b.Run(name, func(b *testing.B) {
			tokenizer, err := token.Load(filepath.Join("testdata", name+".json"))
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(novel)))
			for b.Loop() {
				tokenizer.EncodePlain(novel)
			}
		})
	}
}
