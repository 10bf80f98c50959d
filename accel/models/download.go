package models

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/quernlab/quern/accel/download"
	"github.com/quernlab/quern/accel/internal/training/interrupt"
)

// The files of Hugging Face's layout.
const (
	configFile    = "config.json"
	weightsFile   = "model.safetensors"
	indexFile     = weightsFile + ".index.json"
	tokenizerFile = "tokenizer.json"
)

// Download downloads a model in Hugging Face's layout to a folder, for [Load]: config.json, the
// safetensors file or its index and shards, and tokenizer.json, for token.Load, if there is one.
// sums has the hexadecimal SHA-256 of files by name, and may be nil:
//
//	const gpt2 = "https://huggingface.co/openai-community/gpt2/resolve/607a30d783dfa663caf39e06633721c8d4cfcd7e"
//	err := models.Download(ctx, gpt2, "gpt2", nil)
//
// The name of a commit instead of "main" makes sure that all files are of one version. Complete files
// are not downloaded again, interrupted ones are continued, and config.json comes last, so that Load
// does not see half a model. Errors are those of [download.Get], and a [*ConfigError] for an index
// that cannot be read.
func Download(ctx context.Context, address, folder string, sums map[string]string, options ...download.Option) error {
	if err := interrupt.RequireContext(ctx, "models: Download"); err != nil {
		return err
	}
	get := func(optional bool, names ...string) error {
		var files []download.File
		for _, name := range names {
			files = append(files, download.File{Name: name, SHA256: sums[name], Optional: optional})
		}
		return download.Files(ctx, address, folder, files, options...)
	}
	if err := get(true, indexFile, tokenizerFile); err != nil {
		return err
	}
	weights, err := shards(filepath.Join(folder, indexFile))
	if err != nil {
		return err
	}
	return get(false, append(weights, configFile)...)
}

// shards returns the files that an index lists, or the single file if there is no index.
func shards(path string) ([]string, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return []string{weightsFile}, nil
	}
	if err != nil {
		return nil, &ConfigError{path, "cannot be read", err}
	}
	var index struct {
		Files map[string]string `json:"weight_map"`
	}
	if err := json.Unmarshal(text, &index); err != nil {
		return nil, &ConfigError{path, "is not an index of weights", err}
	}
	var names []string
	for tensor, name := range index.Files {
		if name == "" || strings.ContainsAny(name, `/\`) || !strings.HasSuffix(name, ".safetensors") {
			return nil, &ConfigError{path, fmt.Sprintf("%s is in %q, which is not the name of a safetensors file", tensor, name), nil}
		}
		names = append(names, name)
	}
	if names == nil {
		return nil, &ConfigError{path, "lists no files", nil}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
