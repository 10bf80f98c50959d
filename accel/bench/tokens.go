package main

import (
	"bytes"
	"compress/gzip"
	"embed"
	"io"
	"os"
	"strings"

	"github.com/quernlab/quern/accel/data"
	"github.com/quernlab/quern/accel/token"
)

// tokenizerFiles are files of Hugging Face's tokenizers, which make.py trained on the novel.
//
//go:embed tokenizers/*.json.gz
var tokenizerFiles embed.FS

// writeTokenizer returns what writes a tokenizer and the novel.
func writeTokenizer(name string) func(path string) error {
	return func(path string) error {
		zipped, err := tokenizerFiles.ReadFile("tokenizers/" + name + ".json.gz")
		if err != nil {
			return err
		}
		r, err := gzip.NewReader(bytes.NewReader(zipped))
		if err != nil {
			return err
		}
		file, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		if err := os.WriteFile(path+".tokenizer", file, 0o600); err != nil {
			return err
		}
		novel, err := data.MobyDick()
		if err != nil {
			return err
		}
		return os.WriteFile(path+".txt", []byte(novel), 0o600)
	}
}

// startTokenizer measures the encoding of the lines of a text.
func startTokenizer(path string) (workload, error) {
	tokenizer, err := token.Load(path + ".tokenizer")
	if err != nil {
		return workload{}, err
	}
	text, err := os.ReadFile(path + ".txt")
	if err != nil {
		return workload{}, err
	}
	lines := strings.Split(string(text), "\n")
	last := make([][]int, len(lines))
	return workload{
		step: func() error {
			for i, line := range lines {
				last[i] = tokenizer.Encode(line)
			}
			return nil
		},
		value: func() float64 { // the number of tokens plus the sum of their numbers
			sum := 0
			for _, ids := range last {
				sum += len(ids) + sumOf(ids)
			}
			return float64(sum)
		},
	}, nil
}
