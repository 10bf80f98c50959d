package active

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/quernlab/quern/display"
)

// Prompt asks a person at a terminal: it shows each example and reads the name or the number of
// its class from a line, or its targets, with spaces or commas between them. An empty line skips the
// example, and "q" stops unless it is the name of a class. In a cell, pass
// bufio.NewReader(os.Stdin).
func Prompt(r io.Reader) Asker { return &prompt{lines: bufio.NewReader(r)} }

type prompt struct{ lines *bufio.Reader }

func (p *prompt) Ask(ctx context.Context, q *Question) (class int, err error) {
	err = p.ask(ctx, q, choices(q.Classes), func(answer string) (err error) {
		class, err = parse(answer, q.Classes)
		return err
	})
	return class, err
}

func (p *prompt) AskTargets(ctx context.Context, q *Question) (targets []float32, err error) {
	text := "Which numbers? " + strings.Join(q.Targets, ", ") + " (empty: skip, q: end)"
	if len(q.Targets) == 1 {
		text = "Which number? " + q.Targets[0] + " (empty: skip, q: end)"
	}
	err = p.ask(ctx, q, text, func(answer string) (err error) {
		targets, err = parseNumbers(answer, len(q.Targets))
		return err
	})
	return targets, err
}

// ask shows a question and reads lines until parse accepts one.
func (p *prompt) ask(ctx context.Context, q *Question, text string, parse func(answer string) error) error {
	display.Show(q.Show())
	for {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		display.Show(display.Text(text))
		line, err := p.lines.ReadString('\n')
		if err != nil && (!errors.Is(err, io.EOF) || line == "") {
			if errors.Is(err, io.EOF) {
				err = fmt.Errorf("standard input cannot be read here; use Oracle: %w", io.ErrUnexpectedEOF)
			}
			return err
		}
		err = parse(strings.TrimSpace(line))
		if err == nil || errors.Is(err, ErrSkip) || errors.Is(err, ErrStop) {
			return err
		}
		display.Show(display.Text(err.Error()))
	}
}

// parseNumbers returns the numbers of an answer.
func parseNumbers(answer string, n int) ([]float32, error) {
	switch answer {
	case "":
		return nil, ErrSkip
	case "q":
		return nil, ErrStop
	}
	words := strings.FieldsFunc(answer, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	if len(words) != n {
		return nil, fmt.Errorf("%q has %d numbers, but %d are needed", answer, len(words), n)
	}
	var numbers []float32
	for _, word := range words {
		v, err := strconv.ParseFloat(word, 32)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%q is not a number", word)
		}
		numbers = append(numbers, float32(v))
	}
	return numbers, nil
}

// choices describes the possible answers.
func choices(classes []string) string {
	names := make([]string, len(classes))
	for k, name := range classes {
		names[k] = name
		if name != strconv.Itoa(k) {
			names[k] = fmt.Sprintf("%d %s", k, name)
		}
	}
	return "Which class? " + strings.Join(names, ", ") + " (empty: skip, q: end)"
}

// parse returns the class of an answer.
func parse(answer string, classes []string) (int, error) {
	for k, name := range classes {
		if answer == name && name != "" {
			return k, nil
		}
	}
	switch answer {
	case "":
		return 0, ErrSkip
	case "q":
		return 0, ErrStop
	}
	for k, name := range classes {
		if strings.EqualFold(answer, name) {
			return k, nil
		}
	}
	if k, err := strconv.Atoi(answer); err == nil && k >= 0 && k < len(classes) {
		return k, nil
	}
	return 0, fmt.Errorf("%q is not a class", answer)
}
