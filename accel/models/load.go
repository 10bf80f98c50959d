package models

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/quernlab/quern/accel/nn"
)

// ConfigError reports a config.json that cannot be read or describes a model that is not supported.
type ConfigError struct {
	Path string // of the file
	Hint string // what is wrong with it
	Err  error  // nil unless the file could not be read
}

// Error names the file and what is wrong with it.
func (e *ConfigError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("models: %s: %s: %v", e.Path, e.Hint, e.Err)
	}
	return fmt.Sprintf("models: %s: %s", e.Path, e.Hint)
}

// Unwrap returns the error of reading the file.
func (e *ConfigError) Unwrap() error { return e.Err }

// Load reads a model from a folder in Hugging Face's layout: config.json beside model.safetensors or
// model.safetensors.index.json with its shards. The result is a *GPT2Model, a *BERTModel or a
// *LlamaModel. It is in evaluation mode. Errors are a [*ConfigError] and those of nn.Load; a file
// that does not fit is never loaded in part.
func Load(folder string) (nn.Module, error) {
	if info, err := os.Stat(folder); err == nil && !info.IsDir() {
		return nil, noFolder(folder)
	}
	path := filepath.Join(folder, configFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, &ConfigError{path, "cannot be read", err}
	}
	var kind struct {
		Type          string   `json:"model_type"`
		Architectures []string `json:"architectures"`
	}
	if err := json.Unmarshal(text, &kind); err != nil {
		return nil, &ConfigError{path, "is not JSON", err}
	}
	build := map[string]func([]byte) (nn.Module, []nn.Option, error){"gpt2": gpt2FromConfig, "bert": bertFromConfig, "llama": llamaFromConfig}[kind.Type]
	if build == nil {
		return nil, &ConfigError{path, fmt.Sprintf("model_type is %q; supported are bert, gpt2 and llama", kind.Type), nil}
	}
	model, rules, err := build(text)
	if err != nil {
		return nil, &ConfigError{path, "is not supported", err}
	}
	if err := nn.Load(folder, model, rules...); err != nil {
		if other := kind.Architectures; len(other) > 0 && !slices.Contains(architectures, other[0]) {
			hint := fmt.Sprintf("it is a %s, but Load makes %s: embed the model in a struct with layers of your own, and read the weights with nn.Load; see the example of BERTModel.Encode", other[0], strings.Join(architectures, ", "))
			return nil, &ConfigError{path, hint, err}
		}
		return nil, err
	}
	nn.Train(model, false)
	return model, nil
}

// architectures are the models of transformers whose names of parameters Load knows.
var architectures = []string{"BertForMaskedLM", "GPT2LMHeadModel", "LlamaForCausalLM"}

// noFolder returns the error for a file, which says what it is if it holds no weights.
func noFolder(path string) error {
	hint := "this is a file: pass the folder that has it beside config.json, or load it into a model with nn.Load"
	f, err := nn.Open(path)
	if err != nil {
		return &ConfigError{path, hint, err}
	}
	return &ConfigError{path, hint, f.Close()}
}

// require returns an error that lists the conditions that do not hold.
func require(conditions map[string]bool) error {
	var wrong []string
	for text, holds := range conditions {
		if !holds {
			wrong = append(wrong, text)
		}
	}
	if wrong == nil {
		return nil
	}
	return fmt.Errorf("it must have %s", strings.Join(wrong, " and "))
}
