package data

import (
	"bytes"
	"compress/gzip"
	_ "embed" // for the novel
	"fmt"
	"io"
	"slices"
	"sync"
)

//go:embed text/moby-dick.txt.gz
var mobyDickFile []byte

// MobyDick returns chapters 1 to 41 of Herman Melville's novel of 1851, 384 098 characters. It
// is embedded in the program and needs no file. An error means that the program file is
// damaged.
func MobyDick() (string, error) { return mobyDick() }

var mobyDick = sync.OnceValues(func() (string, error) {
	unzip, err := gzip.NewReader(bytes.NewReader(mobyDickFile))
	if err != nil {
		return "", fmt.Errorf("data: the embedded novel: %w", err)
	}
	text, err := io.ReadAll(unzip)
	if err != nil {
		return "", fmt.Errorf("data: the embedded novel: %w", err)
	}
	return string(text), nil
})

// Vocabulary numbers the characters of a text, one token per character; see [Chars].
type Vocabulary struct {
	runes []rune // sorted
	token map[rune]int
}

// Chars returns the vocabulary of the characters in a text, in Unicode order.
func Chars(text string) *Vocabulary {
	v := &Vocabulary{token: map[rune]int{}}
	for _, r := range text {
		if _, ok := v.token[r]; !ok {
			v.token[r] = 0
			v.runes = append(v.runes, r)
		}
	}
	slices.Sort(v.runes)
	for i, r := range v.runes {
		v.token[r] = i
	}
	return v
}

// Size returns the number of characters.
func (v *Vocabulary) Size() int { return len(v.runes) }

// Encode returns the tokens of a text. A character outside the vocabulary is an error.
func (v *Vocabulary) Encode(text string) ([]int, error) {
	tokens := make([]int, 0, len(text))
	for at, r := range text {
		t, ok := v.token[r]
		if !ok {
			return nil, fmt.Errorf("data: the character %q at byte %d is not in the vocabulary of %d characters", r, at, len(v.runes))
		}
		tokens = append(tokens, t)
	}
	return tokens, nil
}

// Decode returns the text of tokens. It panics if a token is not in [0, Size), like indexing a
// slice.
func (v *Vocabulary) Decode(tokens []int) string {
	text := make([]rune, len(tokens))
	for i, t := range tokens {
		text[i] = v.runes[t]
	}
	return string(text)
}

// String lists the characters.
func (v *Vocabulary) String() string {
	return fmt.Sprintf("%d characters: %q", len(v.runes), string(v.runes))
}

// Windows makes a data set of sequences from a text of tokens: example i is the length tokens
// from i·step on, and its labels, one per position, are the next tokens. With a step smaller
// than length, windows overlap. Batches have X [N, length], token numbers as float32 for
// nn.Embedding, and Y [N, length] of type int32.
func Windows(tokens []int, length, step int) (*Dataset, error) {
	if length < 1 || step < 1 {
		return nil, fmt.Errorf("data: Windows: length %d and step %d must both be at least 1", length, step)
	}
	if len(tokens) < length+1 {
		return nil, fmt.Errorf("data: Windows: %d tokens are too few for a window of %d and the token after it", len(tokens), length)
	}
	classes, err := countClasses(tokens)
	if err != nil {
		return nil, err
	}
	return &Dataset{
		name:    "text",
		shape:   []int{length},
		classes: numberedClasses(classes),
		source:  &windows{tokens: slices.Clone(tokens), length: length, step: step},
	}, nil
}

type windows struct {
	tokens       []int
	length, step int
}

func (w *windows) len() int { return (len(w.tokens)-1-w.length)/w.step + 1 }

func (w *windows) form() form { return form{sequence: w.length} }

func (w *windows) read(i int, v values) error {
	if v.x != nil {
		for k, t := range w.tokens[i*w.step:][:w.length] {
			v.x[k] = float32(t)
		}
	}
	copy(v.labels, w.tokens[i*w.step+1:][:w.length])
	return nil
}
