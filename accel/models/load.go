package models

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
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
		Type string `json:"model_type"`
	}
	if err := json.Unmarshal(text, &kind); err != nil {
		return nil, &ConfigError{path, "is not JSON", err}
	}
	build := map[string]func([]byte) (nn.Module, []nn.LoadOption, error){"gpt2": gpt2FromConfig, "bert": bertFromConfig, "llama": llamaFromConfig}[kind.Type]
	if build == nil {
		return nil, &ConfigError{path, fmt.Sprintf("model_type is %q; supported are bert, gpt2 and llama", kind.Type), nil}
	}
	model, rules, err := build(text)
	if err != nil {
		return nil, &ConfigError{path, "is not supported", err}
	}
	if err := nn.Load(folder, model, rules...); err != nil {
		return nil, err
	}
	nn.Train(model, false)
	return model, nil
}

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
