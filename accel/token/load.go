package token

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Tokenizer converts text to tokens and back. [Load] returns it.
type Tokenizer struct {
	ids       map[string]int
	tokens    map[int]string
	added     []addedToken
	begins    [256]bool // the first bytes of added tokens
	special   map[int]bool
	normalize func(string) string
	split     func(text string, first bool) []string
	model     func(word string) []int
	before    []int // of the template
	after     []int
	decode    func(tokens []string) string
}

// UnsupportedError reports a tokenizer file that asks for something that this package does not have.
type UnsupportedError struct {
	Path string // of the file
	What string // such as `normalizer "Precompiled"`
}

// Error names the file and what is not supported.
func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("token: %s: %s is not supported", e.Path, e.What)
}

// FileError reports a tokenizer file that cannot be read, or is damaged.
type FileError struct {
	Path string // of the file
	Err  error  // the cause
}

// Error names the file and what is wrong with it.
func (e *FileError) Error() string { return fmt.Sprintf("token: %s: %v", e.Path, e.Err) }

// Unwrap returns what is wrong.
func (e *FileError) Unwrap() error { return e.Err }

// part is a component in the file, with its type.
type part struct {
	kind string
	text json.RawMessage
}

func (p *part) UnmarshalJSON(text []byte) error {
	var t struct{ Type string }
	err := json.Unmarshal(text, &t)
	p.kind, p.text = t.Type, append(json.RawMessage{}, text...)
	return err
}

// into reads the settings of the component.
func (p *part) into(to any) error { return json.Unmarshal(p.text, to) }

// unsupported returns an error, to which Load adds the path.
func unsupported(format string, a ...any) error {
	return &UnsupportedError{What: fmt.Sprintf(format, a...)}
}

// Load reads a tokenizer.json, or that of a folder. Errors are a [*FileError] or an
// [*UnsupportedError].
func Load(path string) (*Tokenizer, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, "tokenizer.json")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, &FileError{path, err}
	}
	t, err := parse(text)
	if missing, ok := errors.AsType[*UnsupportedError](err); ok {
		missing.Path = path
		return nil, missing
	}
	if err != nil {
		return nil, &FileError{path, err}
	}
	return t, nil
}

func parse(text []byte) (*Tokenizer, error) {
	var file struct {
		Added      []addedToken    `json:"added_tokens"`
		Normalizer *part           `json:"normalizer"`
		Split      *part           `json:"pre_tokenizer"`
		Post       *part           `json:"post_processor"`
		Decoder    *part           `json:"decoder"`
		Model      *part           `json:"model"`
		Truncation json.RawMessage `json:"truncation"`
		Padding    json.RawMessage `json:"padding"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("it is not a tokenizer.json: %w", err)
	}
	if file.Model == nil {
		return nil, errors.New("it is not a tokenizer.json: it has no model")
	}
	for what, given := range map[string]json.RawMessage{"truncation": file.Truncation, "padding": file.Padding} {
		if given != nil && string(given) != "null" {
			return nil, unsupported("%s in the file", what)
		}
	}
	t := &Tokenizer{ids: map[string]int{}, tokens: map[int]string{}, special: map[int]bool{}}
	var err error
	if t.model, err = t.newModel(file.Model); err != nil {
		return nil, err
	}
	if t.normalize, err = newNormalizer(file.Normalizer); err != nil {
		return nil, err
	}
	if t.split, err = newSplit(file.Split); err != nil {
		return nil, err
	}
	if err := t.addTokens(file.Added); err != nil {
		return nil, err
	}
	if t.before, t.after, err = newTemplate(file.Post); err != nil {
		return nil, err
	}
	if t.decode, err = newDecoder(file.Decoder); err != nil {
		return nil, err
	}
	for token, id := range t.ids {
		t.tokens[id] = token
	}
	return t, nil
}

func (t *Tokenizer) newModel(p *part) (func(word string) []int, error) {
	switch p.kind {
	case "BPE":
		return t.newBPE(p)
	case "WordPiece":
		return t.newWordPiece(p)
	case "Unigram":
		return t.newUnigram(p)
	}
	return nil, unsupported("model %q", p.kind)
}

// newTemplate returns the tokens that come before and after those of a text.
func newTemplate(p *part) (before, after []int, err error) {
	if p == nil || p.kind == "ByteLevel" {
		return nil, nil, nil // it only changes offsets
	}
	if p.kind == "Sequence" {
		var o struct{ Processors []*part }
		if err := p.into(&o); err != nil {
			return nil, nil, err
		}
		parts := slices.DeleteFunc(o.Processors, func(p *part) bool { return p != nil && p.kind == "ByteLevel" })
		if len(parts) > 1 {
			return nil, nil, unsupported("a post_processor of several templates")
		}
		if len(parts) == 0 {
			return nil, nil, nil
		}
		p = parts[0]
	}
	if p.kind != "TemplateProcessing" {
		return nil, nil, unsupported("post_processor %q", p.kind)
	}
	var template struct {
		Single []struct {
			SpecialToken *struct{ ID string }
			Sequence     *struct{ ID string }
		}
		Special map[string]struct{ IDs []int } `json:"special_tokens"`
	}
	if err := p.into(&template); err != nil {
		return nil, nil, err
	}
	to, sequences := &before, 0
	for _, piece := range template.Single {
		switch {
		case piece.Sequence != nil && piece.Sequence.ID == "A":
			to, sequences = &after, sequences+1
		case piece.SpecialToken != nil:
			known, ok := template.Special[piece.SpecialToken.ID]
			if !ok {
				return nil, nil, fmt.Errorf("the template has no special token %q", piece.SpecialToken.ID)
			}
			*to = append(*to, known.IDs...)
		}
	}
	if sequences != 1 {
		return nil, nil, unsupported("a template with %d sequences", sequences)
	}
	return before, after, nil
}

// Encode returns the tokens of a text, with the special tokens that the file puts before and after
// each text.
func (t *Tokenizer) Encode(text string) []int {
	return append(append(append([]int{}, t.before...), t.EncodePlain(text)...), t.after...)
}

// EncodePlain returns the tokens of a text alone. Special tokens in the text are tokens nonetheless.
func (t *Tokenizer) EncodePlain(text string) []int {
	ids := []int{}
	first := true
	for _, raw := range t.splitAdded(strings.ToValidUTF8(text, "\ufffd"), false) {
		if raw.added {
			ids, first = append(ids, raw.id), false
			continue
		}
		for _, piece := range t.splitAdded(t.normalize(raw.text), true) {
			if piece.added {
				ids, first = append(ids, piece.id), false
				continue
			}
			for _, word := range t.split(piece.text, first) {
				ids = append(ids, t.model(word)...)
			}
			first = false
		}
	}
	return ids
}

// Size returns the number of tokens, with added ones.
func (t *Tokenizer) Size() int { return len(t.tokens) }

// ID returns the number of a token, such as "[CLS]".
func (t *Tokenizer) ID(token string) (id int, ok bool) {
	id, ok = t.ids[token]
	return id, ok
}

// Token returns the token with a number, "" if there is none.
func (t *Tokenizer) Token(id int) string { return t.tokens[id] }

// String returns the number of tokens.
func (t *Tokenizer) String() string { return fmt.Sprintf("tokenizer with %d tokens", t.Size()) }
