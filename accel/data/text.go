package data

import (
	"bytes"
	"compress/gzip"
	_ "embed" // for the novel
	"fmt"
	"io"
	"math"
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

func (w *windows) form() form { return form{sequence: w.length, memory: true} }

func (w *windows) read(i int, v values) error {
	if v.x != nil {
		for k, t := range w.tokens[i*w.step:][:w.length] {
			v.x[k] = float32(t)
		}
	}
	copy(v.labels, w.tokens[i*w.step+1:][:w.length])
	return nil
}

// TimeSeries makes a data set that predicts the future of a series from its past: values has a row
// of F features for each time, in order, and example i is the past rows from i on, of shape [past,
// F]. Its targets are the columns targets, by default the first, in the future rows that follow:
// future·len(targets) values, with those of one time beside each other. There are len(values) -
// past - future + 1 examples, which overlap.
//
// [Dataset.Split] divides a series into its earlier and its later part; a random split would
// test a model on times that it was trained with. The last past+future-1 examples of the first
// part overlap with the second: leave them out with [Dataset.First] if no value may be in both.
//
// A row of another length, a value that is NaN or infinite, and a series that is too short are
// errors.
func TimeSeries(values [][]float32, past, future int, targets ...int) (*Dataset, error) {
	s, err := newSeries("TimeSeries", values, past, future, targets)
	if err != nil {
		return nil, err
	}
	return &Dataset{name: "time series", shape: []int{past, s.width}, source: s}, nil
}

// TimeSeriesKnown is [TimeSeries] with inputs that are known in advance for the future, such as the hour,
// the day of the week and holidays: known has a row of K features for each time. An example is the past
// rows of values and then the future rows of known, past·F + future·K numbers, which a model divides
// with nn.Unpack:
//
//	in := nn.Unpack(x, []int{past, F}, []int{future, K})
//
// Errors are those of TimeSeries, also for known, and another number of times.
func TimeSeriesKnown(values, known [][]float32, past, future int, targets ...int) (*Dataset, error) {
	const call = "TimeSeriesKnown"
	s, err := newSeries(call, values, past, future, targets)
	if err != nil {
		return nil, err
	}
	if len(known) != len(values) {
		return nil, fmt.Errorf("data: %s: the known features have %d times, but the values have %d", call, len(known), len(values))
	}
	if s.known, s.knownWidth, err = timeRows(call, "known feature", known); err != nil {
		return nil, err
	}
	return &Dataset{name: "time series", shape: []int{past*s.width + future*s.knownWidth}, source: s}, nil
}

// timeRows returns finite values as rows of one width; what names them in errors.
func timeRows(call, what string, values [][]float32) (rows []float32, width int, err error) {
	if rows, width, err = flatten("time", values); err != nil {
		return nil, 0, err
	}
	for i, v := range rows {
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, 0, fmt.Errorf("data: %s: %s %d at time %d is %g: fill it in, or divide the series there", call, what, i%width, i/width, v)
		}
	}
	return rows, width, nil
}

func newSeries(call string, values [][]float32, past, future int, targets []int) (*series, error) {
	if past < 1 || future < 1 {
		return nil, fmt.Errorf("data: %s: past %d and future %d must both be at least 1", call, past, future)
	}
	if len(values) < past+future {
		return nil, fmt.Errorf("data: %s: %d times are too few for %d of the past and %d of the future", call, len(values), past, future)
	}
	rows, width, err := timeRows(call, "feature", values)
	if err != nil {
		return nil, err
	}
	if len(targets) == 0 {
		targets = []int{0}
	}
	for _, t := range targets {
		if t < 0 || t >= width {
			return nil, fmt.Errorf("data: %s: target %d is not one of the features 0 to %d", call, t, width-1)
		}
	}
	return &series{rows: rows, width: width, past: past, future: future, targets: slices.Clone(targets)}, nil
}

// series is a source of overlapping windows of the rows of a time series.
type series struct {
	rows                []float32 // [times, width]
	width, past, future int
	targets             []int
	known               []float32 // [times, knownWidth]; nil for none
	knownWidth          int
}

func (s *series) len() int { return len(s.rows)/s.width - s.past - s.future + 1 }

func (s *series) form() form { return form{targets: s.future * len(s.targets), memory: true} }

func (s *series) read(i int, v values) error {
	n := copy(v.x, s.rows[i*s.width:(i+s.past)*s.width])
	if n < len(v.x) {
		copy(v.x[n:], s.known[(i+s.past)*s.knownWidth:])
	}
	for k := range v.targets {
		time, column := k/len(s.targets), s.targets[k%len(s.targets)]
		v.targets[k] = s.rows[(i+s.past+time)*s.width+column]
	}
	return nil
}
